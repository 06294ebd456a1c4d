//! How much of the repair program's solutions is looked for. There are exponentially many: every
//! evaluation of a statement may choose for itself in the basic configuration.

use super::Settings;

/// Of one branch with one number of changes, this share of the solutions.
const SHARE: usize = 8;

/// Branches with a question the solver gave up on before no more is asked.
const MAX_GIVEN_UP: usize = 6;

/// Optimising asks z3 many questions in one, and gets the resources of as many.
pub const MAXSAT_QUESTIONS: u64 = 10;

/// Counts work, so that what is found does not depend on the machine; remembers what ran out.
pub struct Budget {
    settings: Settings,
    n_questions: u64,
    /// z3's resource units.
    spent: u64,
    n_given_up: usize,
    why_given_up: String,
    is_out_of_solutions: bool,
    is_out_of_questions: bool,
    is_out_of_resources: bool,
    is_out_here: bool,
}

impl Budget {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            n_questions: 0,
            spent: 0,
            n_given_up: 0,
            why_given_up: String::new(),
            is_out_of_solutions: false,
            is_out_of_questions: false,
            is_out_of_resources: false,
            is_out_here: false,
        }
    }

    /// A question was asked; all so far took so many of z3's resource units.
    pub fn asked(&mut self, spent: u64) {
        self.n_questions += if self.settings.maxsat { MAXSAT_QUESTIONS } else { 1 };
        self.spent = spent;
    }

    pub fn gave_up(&mut self, why: String) {
        self.n_given_up += 1;
        self.why_given_up = why;
    }

    /// Whether to ask any more.
    pub fn is_left(&mut self, n_found: usize) -> bool {
        self.is_out_of_solutions |= n_found >= self.settings.max_solutions;
        self.is_out_of_questions |= self.n_questions >= self.settings.max_questions;
        self.is_out_of_resources |= self.spent >= self.settings.max_resources;
        let is_out =
            self.is_out_of_solutions || self.is_out_of_questions || self.is_out_of_resources;
        !is_out && self.n_given_up < MAX_GIVEN_UP
    }

    /// Whether to ask any more of one branch with one number of changes.
    pub fn is_left_here(&mut self, n_here: usize) -> bool {
        let is_left = n_here < self.settings.max_solutions.div_ceil(SHARE);
        self.is_out_here |= !is_left;
        is_left
    }

    /// What ran out, for people.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let Settings { max_solutions, max_questions, .. } = self.settings;
        if self.n_given_up > 0 {
            let (n, why) = (self.n_given_up, &self.why_given_up);
            notes.push(format!("the solver gave up on {n} branches of the repair program ({why})"));
        }
        if self.n_given_up >= MAX_GIVEN_UP {
            notes.push("no more of the repair program was tried after that".to_owned());
        }
        if self.is_out_of_questions {
            notes.push(format!(
                "the repair program may have more solutions: {max_questions} questions to the \
                 solver are used up"
            ));
        }
        if self.is_out_of_resources {
            notes.push(
                "the repair program may have more solutions: the solver's resources for one trace \
                 are used up"
                    .to_owned(),
            );
        }
        if self.is_out_of_solutions {
            notes.push(format!(
                "the repair program may have more solutions than the first {max_solutions}"
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
        Budget::new(Settings {
            config: Config::Basic,
            maxsat: false,
            max_changes: 2,
            max_solutions: 16,
            max_questions: 3,
            max_resources: 1000,
        })
    }

    #[test]
    fn what_did_not_run_out_is_not_mentioned() {
        let mut budget = budget();
        budget.asked(10);
        assert!(budget.is_left(15) && budget.is_left_here(1));
        assert_eq!(budget.notes(), Vec::<String>::new());
    }

    #[test]
    fn what_runs_out_ends_the_search_and_is_said() {
        let mut questions = budget();
        (0..3).for_each(|_| questions.asked(10));
        assert!(!questions.is_left(0));
        assert!(questions.notes()[0].contains("3 questions to the solver are used up"));
        let mut resources = budget();
        resources.asked(1000);
        assert!(!resources.is_left(0));
        assert!(resources.notes()[0].contains("resources for one trace are used up"));
        let mut solutions = budget();
        assert!(!solutions.is_left(16));
        assert!(solutions.notes()[0].contains("more solutions than the first 16"));
        let mut branch = budget();
        assert!(branch.is_left(2) && !branch.is_left_here(2));
        assert!(branch.notes()[0].contains("2 were looked for on each branch"));
    }

    #[test]
    fn a_solver_that_keeps_giving_up_is_left_alone() {
        let mut budget = budget();
        (0..MAX_GIVEN_UP).for_each(|_| budget.gave_up("resources".to_owned()));
        assert!(!budget.is_left(0));
        assert!(budget.notes()[0].contains("gave up on 6 branches"));
    }
}
