//! Bringing back what a draw measured: where the scratch folder was cleared, or the draw goes on
//! on another machine, its packages are built and checked again before other tools are asked.

use anyhow::{Context, Result, bail};

use super::Draw;
use super::apt::Apt;
use super::package::{self, Outcome, Place, Prepared};
use super::sources::Source;
use super::verdicts::Package;
use crate::bench::tool::Tool;

/// Builds and checks a package of this draw again, unless all of it is there. The counts of the
/// draw stay; what differs from them is told.
pub fn bring_back(
    apt: &Apt,
    sources: &[Source],
    drawn: &Package,
    place: &Place,
    tool: &Tool,
    options: &Draw,
) -> Result<()> {
    let is_own = |name: &&String| OWN.contains(&name.as_str());
    let mut reports = drawn.reports.keys().filter(is_own);
    if place.is_built() && reports.all(|name| place.report(name).exists()) {
        return Ok(());
    }
    eprintln!("{} is not in the scratch folder; it is built and checked again", drawn.name);
    let source = find(sources, drawn)?;
    match package::prepare(apt, source, place)? {
        Prepared::Wanted => {}
        Prepared::Unwanted => bail!("its sources are no longer of the size that is drawn"),
        Prepared::Unavailable => bail!("the mirror does not have it any more"),
        Prepared::Broken(reason) => bail!("{reason}"),
    }
    match package::take(apt, source, place, tool, options)? {
        Outcome::Failed { stage, reason } => bail!("{stage}: {reason}"),
        Outcome::Done(again) => {
            for told in differences(drawn, &again) {
                eprintln!("{}: {told}", drawn.name);
            }
        }
    }
    Ok(())
}

/// What is checked again; other tools are asked later.
const OWN: [&str; 2] = ["firstfault", "beliefs"];

/// The source of the version that was drawn.
fn find<'a>(sources: &'a [Source], drawn: &Package) -> Result<&'a Source> {
    let is_drawn = |source: &&Source| source.name == drawn.name && source.version == drawn.version;
    sources.iter().find(is_drawn).with_context(|| {
        let other = sources.iter().find(|source| source.name == drawn.name);
        let other = other.map_or("nothing of that name".to_owned(), |s| s.version.clone());
        format!("the index does not have version {}, but {other}", drawn.version)
    })
}

/// What is not as it was when the package was drawn.
fn differences(drawn: &Package, again: &Package) -> Vec<String> {
    let mut told = Vec::new();
    if (drawn.units, drawn.lines) != (again.units, again.lines) {
        told.push(format!(
            "{} units of {} lines were built, {} of {} when it was drawn",
            again.units, again.lines, drawn.units, drawn.lines
        ));
    }
    for name in OWN {
        let (before, now) = (drawn.reports.get(name), again.reports.get(name));
        if before != now {
            let shown = |n: Option<&usize>| n.map_or("no".to_owned(), usize::to_string);
            told.push(format!(
                "{name} has {} reports, {} when it was drawn",
                shown(now),
                shown(before)
            ));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::verdicts::tests::draw;
    use super::*;

    fn source(name: &str, version: &str) -> Source {
        let text = format!("Package: {name}\nVersion: {version}\nDirectory: pool\n");
        super::super::sources::parse(&text).remove(0)
    }

    #[test]
    fn only_the_version_that_was_drawn_is_taken() {
        let drawn = &draw(Vec::new()).packages[0];
        let sources = [source("ant", "2-1"), source("bee", "1-1"), source("ant", "1-1")];
        assert_eq!(find(&sources, drawn).unwrap().version, "1-1");
        let error = find(&sources[..1], drawn).err().unwrap().to_string();
        assert_eq!(error, "the index does not have version 1-1, but 2-1");
        let error = find(&sources[1..2], drawn).err().unwrap().to_string();
        assert!(error.ends_with("but nothing of that name"), "{error}");
    }

    #[test]
    fn what_differs_is_told_and_other_tools_do_not_count() {
        let drawn = draw(Vec::new()).packages.remove(0);
        let mut again = drawn.clone();
        again.reports.remove("clang");
        assert!(differences(&drawn, &again).is_empty());
        again.units = 2;
        again.reports.insert("firstfault".to_owned(), 9);
        let told = differences(&drawn, &again);
        assert_eq!(told[0], "2 units of 4000 lines were built, 3 of 4000 when it was drawn");
        assert_eq!(told[1], "firstfault has 9 reports, 8 when it was drawn");
        again.reports.remove("firstfault");
        assert!(differences(&drawn, &again)[1].starts_with("firstfault has no reports"));
    }
}
