//! Where figures come from, and how they grow: what every result table says about itself.

use std::path::Path;
use std::process::Command;

/// `commit 1a2b3c4, 2026-01-31`.
pub fn commit_and_date(root: &Path) -> String {
    format!("commit {}, {}", commit(root), date(root))
}

/// `1a2b3c4`, or `1a2b3c4 with changes`.
pub fn commit(root: &Path) -> String {
    let commit = output_of(root, &["git", "rev-parse", "--short", "HEAD"]);
    let changed = output_of(root, &["git", "status", "--porcelain", "--untracked-files=no"]);
    format!("{commit}{}", if changed.lines().all(is_measurement) { "" } else { " with changes" })
}

/// Whether a changed file is one that measurements write: tables change while they are measured,
/// and the list of what was drawn while an interrupted draw goes on.
fn is_measurement(status: &str) -> bool {
    ["bench/results/", "bench/draws/"].iter().any(|folder| status.contains(folder))
}

pub fn date(root: &Path) -> String {
    output_of(root, &["date", "-u", "+%Y-%m-%d"])
}

fn output_of(root: &Path, command: &[&str]) -> String {
    let output = Command::new(command[0]).args(&command[1..]).current_dir(root).output();
    output.map_or("unknown".to_owned(), |o| String::from_utf8_lossy(&o.stdout).trim().to_owned())
}

/// How a cost grows with a size, as the exponent of a power law: 1 is linear, 2 quadratic.
pub fn growth(size_and_cost: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<(f64, f64)> = size_and_cost
        .filter(|(size, cost)| *size > 0.0 && *cost > 0.0)
        .map(|(size, cost)| (size.ln(), cost.ln()))
        .collect();
    slope(&points).map_or("-".to_owned(), |slope| format!("{slope:.2}"))
}

/// The slope of the line fitted by least squares.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let n = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let variance: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    (points.len() > 1 && variance > 0.0).then(|| covariance / variance)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_measurements_write_does_not_change_the_commit() {
        assert!(super::is_measurement(" M bench/draws/drawn.txt"));
        assert!(super::is_measurement(" M bench/results/ledger.toml"));
        assert!(!super::is_measurement(" M crates/detect/src/lib.rs"));
    }

    #[test]
    fn the_exponent_of_a_line_is_one() {
        let points = [(0.0, 3.0), (1.0, 4.0), (2.0, 5.0)];
        assert!((super::slope(&points).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(super::slope(&points[..1]), None);
    }
}
