//! The paper's Table 1: fixes, those that touch the faulty line, seconds, of each configuration.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::measure::{Repair, Tool, report, touches};
use super::subjects::Subject;
use super::{rank, within};
use crate::bench::table::Table;

const NAMES: [&str; 4] = ["basic", "constraints", "projection", "trusted"];

/// One program with one configuration.
struct Cell {
    fixes: usize,
    useful: usize,
    /// The rank of the first useful one, 0 where there is none.
    first: usize,
    seconds: f64,
}

/// Each program, and all of them together.
pub fn measure(tool: &Tool, subjects: &[Subject]) -> Result<(Table, Table)> {
    let mut header = vec!["program".to_owned()];
    header.extend(NAMES.iter().map(|name| format!("{name}: fixes / useful / first / CPU s")));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = Table::new(&header);
    let mut columns: [Vec<Option<Cell>>; 4] = Default::default();
    for subject in subjects {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("program.c"), &subject.faulty)?;
        let mut row = vec![subject.name.clone()];
        for (name, column) in NAMES.iter().zip(&mut columns) {
            let cell = cell(tool, folder.path(), subject, name)?;
            row.push(cell.as_ref().map_or("-".to_owned(), |cell| {
                let Cell { fixes, useful, first, seconds } = cell;
                format!("{fixes} / {useful} / {} / {seconds:.2}", rank(*first))
            }));
            column.push(cell);
        }
        eprintln!("{}", row.join("  "));
        table.row(row);
    }
    Ok((table, summed(&columns)))
}

fn cell(tool: &Tool, folder: &Path, subject: &Subject, name: &str) -> Result<Option<Cell>> {
    let more = ["--config", name, "--top", "250"];
    let Some((report, seconds)) = report(tool, folder, &more)? else { return Ok(None) };
    let is_useful = |repair: &&Repair| touches(repair, subject.line);
    Ok(Some(Cell {
        fixes: report.repairs.len(),
        useful: report.repairs.iter().filter(is_useful).count(),
        first: report.repairs.iter().position(|r| is_useful(&r)).map_or(0, |at| at + 1),
        seconds,
    }))
}

fn summed(columns: &[Vec<Option<Cell>>; 4]) -> Table {
    let mut table = Table::new(&["measured", NAMES[0], NAMES[1], NAMES[2], NAMES[3]]);
    let mut row = |name: &str, value: &dyn Fn(&[&Cell], usize) -> String| {
        let mut cells = vec![name.to_owned()];
        for column in columns {
            let ended: Vec<&Cell> = column.iter().flatten().collect();
            cells.push(value(&ended, column.len()));
        }
        table.row(cells);
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    row("programs that ended", &|ended, all| format!("{} of {all}", ended.len()));
    row("fixes, mean", &|ended, _| {
        format!("{:.1}", mean(ended.iter().map(|c| c.fixes as f64).collect()))
    });
    row("useful fixes, mean", &|ended, _| {
        format!("{:.1}", mean(ended.iter().map(|c| c.useful as f64).collect()))
    });
    row("programs with a useful fix", &|ended, _| {
        ended.iter().filter(|c| c.useful > 0).count().to_string()
    });
    row("useful fix in the first 5", &|ended, _| {
        ended.iter().filter(|c| within(c.first, 5)).count().to_string()
    });
    row("CPU s, mean", &|ended, _| {
        format!("{:.2}", mean(ended.iter().map(|c| c.seconds).collect()))
    });
    row("CPU s, slowest", &|ended, _| {
        format!("{:.2}", ended.iter().map(|c| c.seconds).fold(0.0, f64::max))
    });
    table
}
