//! Debian's tools with a configuration of their own: lists, downloads and logs lie in the
//! scratch folder, so the machine's stay as they are.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use base::Cancel;
use base::child::{self, Finished, Limits};

use super::sources::{self, File, Source};

pub struct Apt {
    config: PathBuf,
    mirror: String,
}

/// What came of bringing a package's sources.
pub enum Brought {
    /// The tree they were unpacked to.
    Unpacked(PathBuf),
    /// The mirror does not have all files.
    Unavailable,
}

/// What the build dependencies of a package would bring.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    pub n_new: usize,
    /// Packages there already that would be replaced by a newer version.
    pub n_replaced: usize,
    pub n_removed: usize,
    pub megabytes: u64,
}

impl Apt {
    /// Writes the configuration and brings the lists, unless they are there.
    pub fn open(folder: &Path, mirror: &str, suite: &str) -> Result<Self> {
        for part in ["lists/partial", "cache/archives/partial", "log"] {
            std::fs::create_dir_all(folder.join(part))
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let folder = folder.canonicalize()?;
        let place = folder.display();
        let entries = format!(
            "deb {mirror} {suite} main\ndeb-src {mirror} {suite} main\n\
             deb {mirror} {suite}-updates main\ndeb {mirror}-security {suite}-security main\n"
        );
        std::fs::write(folder.join("sources.list"), &entries)?;
        let settings = format!(
            "Dir::Etc::SourceList \"{place}/sources.list\";\nDir::Etc::SourceParts \"-\";\n\
             Dir::State::Lists \"{place}/lists\";\nDir::Cache \"{place}/cache\";\n\
             Dir::Log \"{place}/log\";\nAPT::Sandbox::User \"root\";\n\
             APT::Install-Recommends \"false\";\nDPkg::Lock::Timeout \"600\";\n"
        );
        let config = folder.join("apt.conf");
        std::fs::write(&config, settings)?;
        let apt = Self { config, mirror: mirror.to_owned() };
        let marker = folder.join("updated");
        if std::fs::read_to_string(&marker).ok().as_deref() != Some(&entries) {
            eprintln!("bringing the package lists of {suite}");
            apt.run(&["apt-get", "update", "-qq"], &folder)?;
            std::fs::write(&marker, &entries)?;
        }
        Ok(apt)
    }

    /// The index of source packages.
    pub fn sources(&self) -> Result<Vec<Source>> {
        let here = Path::new(".");
        let files = self.run(
            &["apt-get", "indextargets", "--format", "$(FILENAME)", "Created-By: Sources"],
            here,
        )?;
        let mut all = String::new();
        for file in files.lines() {
            let helper = "/usr/lib/apt/apt-helper";
            all += &self.run(&[helper, "cat-file", file], here)?;
            all += "\n\n";
        }
        let sources = sources::parse(&all);
        if sources.is_empty() {
            bail!("the index of source packages is empty");
        }
        Ok(sources)
    }

    /// Downloads and unpacks a package into an empty folder.
    pub fn unpack(&self, source: &Source, folder: &Path) -> Result<Brought> {
        if folder.exists() {
            std::fs::remove_dir_all(folder)?;
        }
        std::fs::create_dir_all(folder)?;
        // Not every mirror has all files; the small ones are asked for first.
        let mut files: Vec<&File> = source.files.iter().collect();
        files.sort_by_key(|file| file.bytes);
        for File { name, sha256, .. } in &files {
            let address = format!("{}/{}/{name}", self.mirror, source.directory);
            let hash = format!("SHA256:{sha256}");
            let helper = ["/usr/lib/apt/apt-helper", "download-file", &address, name, &hash];
            if let Err(error) = self.run(&helper, folder) {
                let is_missing = format!("{error:#}").contains("404");
                return if is_missing { Ok(Brought::Unavailable) } else { Err(error) };
            }
        }
        let description = files.iter().find(|file| file.name.ends_with(".dsc"));
        let description = description.context("the index names no description")?;
        let unpack = ["dpkg-source", "--no-copy", "--extract", &description.name, "tree"];
        self.run(&unpack, folder)?;
        Ok(Brought::Unpacked(folder.join("tree").canonicalize()?))
    }

    /// What installing the build dependencies would do; nothing is installed.
    pub fn build_dependencies(&self, source: &Source) -> Result<Dependencies> {
        let wanted = format!("{}={}", source.name, source.version);
        let mut command = self.build_dep(&wanted);
        command.arg("--simulate");
        let steps = self.finish(command, "apt-get build-dep --simulate")?;
        let mut command = self.build_dep(&wanted);
        command.arg("--assume-no");
        // It ends with an error where the answer is no; only its summary is of interest.
        let asked = child::run(command, b"", &limits(), &Cancel::new())?;
        Ok(dependencies(&steps, &String::from_utf8_lossy(&asked.stdout)))
    }

    pub fn install_build_dependencies(&self, source: &Source) -> Result<()> {
        let mut command = self.build_dep(&format!("{}={}", source.name, source.version));
        command.args(["--yes", "-qq", "--no-remove"]);
        self.finish(command, "apt-get build-dep").map(drop)
    }

    fn build_dep(&self, wanted: &str) -> Command {
        let mut command = self.command("apt-get");
        command.args(["build-dep", "--only-source", "--arch-only", "--build-profiles", "nocheck"]);
        command.arg(wanted);
        command
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env("APT_CONFIG", &self.config)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C");
        command
    }

    /// What it printed.
    fn run(&self, words: &[&str], folder: &Path) -> Result<String> {
        let (program, args) = words.split_first().context("an empty command")?;
        let mut command = self.command(program);
        command.args(args).current_dir(folder);
        self.finish(command, &words.join(" "))
    }

    fn finish(&self, command: Command, name: &str) -> Result<String> {
        let Finished { ending, stdout, stderr, .. } =
            child::run(command, b"", &limits(), &Cancel::new())
                .with_context(|| format!("cannot run {name}; this needs Debian's apt"))?;
        if !ending.success() {
            let log = String::from_utf8_lossy(&stderr);
            let first = log.lines().find(|line| line.starts_with("E:"));
            let first = first.or(log.lines().next_back()).unwrap_or("it printed nothing");
            bail!("{name} {ending}: {}", first.trim());
        }
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    }
}

fn limits() -> Limits {
    Limits { deadline: Duration::from_secs(1200), ..Limits::default() }
}

/// Reads `Inst name (...)`, `Inst name [old] (...)` and `Remv name`, and the summary
/// `After this operation, 12.3 MB of additional disk space will be used.`
fn dependencies(steps: &str, summary: &str) -> Dependencies {
    let mut found = Dependencies::default();
    for line in steps.lines() {
        let mut words = line.split_whitespace();
        match (words.next(), words.nth(1)) {
            (Some("Inst"), Some(word)) if word.starts_with('[') => found.n_replaced += 1,
            (Some("Inst"), _) => found.n_new += 1,
            (Some("Remv"), _) => found.n_removed += 1,
            _ => {}
        }
    }
    for line in summary.lines().filter(|line| line.starts_with("After this operation")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [_, _, _, number, unit, "of", "additional", ..] = words.as_slice() {
            let number: f64 = number.replace(',', "").parse().unwrap_or(0.0);
            let per_unit = match *unit {
                "GB" => 1000.0,
                "MB" => 1.0,
                _ => 0.001,
            };
            found.megabytes = (number * per_unit).ceil() as u64;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_installed_is_counted() {
        let steps = "Reading package lists...\nInst libx-dev (1.2 Debian:12 [amd64])\n\
                     Inst libx1 [1.1] (1.2 Debian:12 [amd64])\nRemv old [1]\nConf libx-dev (1.2)\n";
        let summary = "Need to get 1 kB.\n\
                       After this operation, 1,302 MB of additional disk space will be used.\n";
        let expected = Dependencies { n_new: 1, n_replaced: 1, n_removed: 1, megabytes: 1302 };
        assert_eq!(dependencies(steps, summary), expected);
        let freed = "After this operation, 12 MB disk space will be freed.\n";
        assert_eq!(dependencies("", freed), Dependencies::default());
        let little = "After this operation, 12.5 kB of additional disk space will be used.\n";
        assert_eq!(dependencies("", little).megabytes, 1);
    }
}
