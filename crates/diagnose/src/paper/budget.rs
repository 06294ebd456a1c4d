//! How much of the repair program's solutions is looked for. There are exponentially many: every
//! evaluation of a statement may choose for itself in the basic configuration.

use super::Settings;

/// Of one branch with one number of changes, this share of the solutions.
const SHARE: usize = 8;

/// Counts work, so that what is found does not depend on the machine; remembers what ran out.
pub struct Budget {
    settings: Settings,
    n_given_up: usize,
    why_given_up: String,
    is_out_of_solutions: bool,
    is_out_of_work: bool,
    is_out_here: bool,
    /// Which sets were not tried.
    left_out: String,
}

impl Budget {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            n_given_up: 0,
            why_given_up: String::new(),
            is_out_of_solutions: false,
            is_out_of_work: false,
            is_out_here: false,
            left_out: String::new(),
        }
    }

    pub fn gave_up(&mut self, why: String) {
        self.n_given_up += 1;
        self.why_given_up = why;
    }

    /// Whether to go on after so much work.
    pub fn is_left(&mut self, n_found: usize, work: u64) -> bool {
        self.is_out_of_solutions |= n_found >= self.settings.max_solutions;
        self.is_out_of_work |= work >= self.settings.max_work;
        !self.is_out_of_solutions && !self.is_out_of_work
    }

    /// Whether to ask any more of one branch with one number of changes.
    pub fn is_left_here(&mut self, n_here: usize) -> bool {
        let is_left = n_here < self.settings.max_solutions.div_ceil(SHARE);
        self.is_out_here |= !is_left;
        is_left
    }

    /// So many sets of so many changes are not tried, and none of more changes.
    pub fn left_out(&mut self, n_changes: usize, n_sets: u64, has_more: bool) {
        let plural = if n_changes == 1 { "" } else { "s" };
        let more = if has_more { " and all of more" } else { "" };
        self.left_out =
            format!("; {n_sets} sets of {n_changes} change{plural}{more} were not tried");
    }

    /// What ran out, for people.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let max_solutions = self.settings.max_solutions;
        if self.n_given_up > 0 {
            let (n, why) = (self.n_given_up, &self.why_given_up);
            notes.push(format!("the solver gave up on {n} branches of the repair program ({why})"));
        }
        let left_out = &self.left_out;
        if self.is_out_of_work {
            notes.push(format!(
                "the repair program may have more solutions: the work for one trace is used \
                 up{left_out}"
            ));
        }
        if self.is_out_of_solutions {
            notes.push(format!(
                "the repair program may have more solutions than the first \
                 {max_solutions}{left_out}"
            ));
        } else if self.is_out_here {
            let share = max_solutions.div_ceil(SHARE);
            notes.push(format!(
                "the repair program may have more solutions: {share} were looked for on each \
                 branch with each number of changes"
            ));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Config;

    fn budget() -> Budget {
        let settings = Settings::new(Config::Basic, false, 2);
        Budget::new(Settings { max_solutions: 16, max_work: 1000, ..settings })
    }

    #[test]
    fn what_did_not_run_out_is_not_mentioned() {
        let mut budget = budget();
        assert!(budget.is_left(15, 999) && budget.is_left_here(1));
        assert_eq!(budget.notes(), Vec::<String>::new());
    }

    #[test]
    fn what_runs_out_ends_the_search_and_is_said() {
        let mut work = budget();
        assert!(!work.is_left(0, 1000));
        work.left_out(2, 7, true);
        assert!(work.notes()[0].contains("the work for one trace is used up"));
        assert!(work.notes()[0].ends_with("; 7 sets of 2 changes and all of more were not tried"));
        let mut solutions = budget();
        assert!(!solutions.is_left(16, 0));
        assert!(solutions.notes()[0].contains("more solutions than the first 16"));
        let mut branch = budget();
        assert!(branch.is_left(2, 0) && !branch.is_left_here(2));
        assert!(branch.notes()[0].contains("2 were looked for on each branch"));
    }

    #[test]
    fn what_the_solver_gave_up_on_is_said() {
        let mut budget = budget();
        (0..6).for_each(|_| budget.gave_up("resources".to_owned()));
        assert!(budget.notes()[0].contains("gave up on 6 branches"));
    }
}
