//! The statistics: how plausible a belief is, from how often it holds.

/// The z statistic for proportions: how many standard errors the share of examples lies
/// above the share `p0` that is expected.
pub fn z(n: u64, examples: u64, p0: f64) -> f64 {
    weighted_z(n as f64, examples as f64, p0)
}

/// As [`z`], where places count for more or less than one.
pub fn weighted_z(n: f64, examples: f64, p0: f64) -> f64 {
    if n <= 0.0 {
        return 0.0;
    }
    (examples / n - p0) / (p0 * (1.0 - p0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::z;

    #[test]
    fn more_examples_and_fewer_counterexamples_rank_higher() {
        assert!(z(1000, 999, 0.9) > z(100, 99, 0.9));
        assert!(z(100, 99, 0.9) > z(100, 98, 0.9));
        assert!(z(2, 1, 0.9) < 0.0);
        assert!((z(100, 100, 0.9) - 10.0 / 3.0).abs() < 1e-9);
    }
}
