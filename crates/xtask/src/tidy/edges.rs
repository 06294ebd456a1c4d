//! Crates use only what `crates/edges.toml` allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// `crates/edges.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    /// Which crates a crate may use, besides what those may use themselves.
    uses: BTreeMap<String, Vec<String>>,
    /// Crates that tests of any crate may use.
    in_tests: Vec<String>,
    /// What tests of single crates may use in addition.
    tests_use: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None`, "dev" or "build".
    kind: Option<String>,
    /// Present for crates of this workspace.
    path: Option<String>,
}

pub fn check(root: &Path) -> Result<Vec<String>> {
    let path = root.join("crates/edges.toml");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let allowed: Allowed = toml::from_str(&text).context("crates/edges.toml")?;
    Ok(complaints(&allowed, &metadata(root)?.packages))
}

fn metadata(root: &Path) -> Result<Metadata> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .context("cannot run cargo")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn complaints(allowed: &Allowed, packages: &[Package]) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages {
        let from = short(&package.name);
        if !allowed.uses.contains_key(from) {
            complaints.push(format!("crates/edges.toml: crate {from} is not listed"));
            continue;
        }
        let reachable = closure(&allowed.uses, from);
        for dependency in package.dependencies.iter().filter(|d| d.path.is_some()) {
            let to = short(&dependency.name);
            let in_tests = dependency.kind.as_deref() == Some("dev")
                && (allowed.in_tests.iter().any(|name| name == to)
                    || allowed.tests_use.get(from).is_some_and(|l| l.iter().any(|n| n == to)));
            if !reachable.contains(to) && !in_tests {
                let kind = dependency.kind.as_deref().unwrap_or("normal");
                complaints.push(format!(
                    "crates/{from}/Cargo.toml: may not use {to} ({kind}); crates/edges.toml says what may"
                ));
            }
        }
    }
    complaints
}

/// Everything a crate may use: what it lists and what those list.
fn closure<'a>(uses: &'a BTreeMap<String, Vec<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut reachable = BTreeSet::new();
    let mut open: Vec<&str> = uses.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(name) = open.pop() {
        if reachable.insert(name) {
            open.extend(uses.get(name).into_iter().flatten().map(String::as_str));
        }
    }
    reachable
}

fn short(package: &str) -> &str {
    package.strip_prefix("firstfault-").unwrap_or(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints_for(from: &str, to: &str, kind: Option<&str>) -> Vec<String> {
        let allowed: Allowed = toml::from_str(
            "in_tests = ['fixture']\n\
             [uses]\nbase = []\nprogram = ['base']\nfacts = ['program']\nfixture = []\n\
             [tests_use]\nfacts = ['llvm']\n",
        )
        .unwrap();
        let dependency = Dependency {
            name: format!("firstfault-{to}"),
            kind: kind.map(str::to_owned),
            path: Some("crates/x".to_owned()),
        };
        let package =
            Package { name: format!("firstfault-{from}"), dependencies: vec![dependency] };
        complaints(&allowed, &[package])
    }

    #[test]
    fn listed_edges_and_what_lies_below_them_are_allowed() {
        assert!(complaints_for("facts", "program", None).is_empty());
        assert!(complaints_for("facts", "base", None).is_empty());
        assert!(complaints_for("program", "fixture", Some("dev")).is_empty());
        assert!(complaints_for("facts", "llvm", Some("dev")).is_empty());
    }

    #[test]
    fn every_other_edge_is_not() {
        for (from, to, kind) in [
            ("program", "facts", None),
            ("facts", "llvm", None),
            ("facts", "fixture", None),
            ("facts", "fixture", Some("build")),
            ("program", "llvm", Some("dev")),
            ("unheard-of", "base", None),
        ] {
            assert_eq!(complaints_for(from, to, kind).len(), 1, "{from} -> {to}");
        }
    }
}
