//! Rules about the repository that no compiler checks. Each returns complaints, one line
//! each, that say what to do; the tidy test fails if there are any.

mod edges;
mod faults;
mod files;
mod sources;

use std::path::Path;

use anyhow::{Result, bail};

pub fn run(root: &Path) -> Result<()> {
    let complaints = complaints(root)?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => Ok(()),
        1 => bail!("1 thing to tidy up"),
        n => bail!("{n} things to tidy up"),
    }
}

fn complaints(root: &Path) -> Result<Vec<String>> {
    let files = files::text_files(root)?;
    let mut complaints = edges::check(root)?;
    complaints.extend(sources::check(&files));
    complaints.extend(faults::check(&files));
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        let complaints = super::complaints(&crate::repository()).expect("tidy could not run");
        assert!(complaints.is_empty(), "to tidy up:\n{}", complaints.join("\n"));
    }
}
