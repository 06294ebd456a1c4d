//! `assume-alloc-succeeds`: for programs that end when there is no memory, or whose authors do
//! not want to hear of it, allocators never return null.

use super::Rules;
use crate::ast::{Command, ExprKind};

impl Rules {
    /// Takes the choice to fail away from every transition whose success allocates: where
    /// `may FAIL else SUCCEED` makes an object `allocated` on success, only that happens.
    pub fn assume_alloc_succeeds(&mut self) {
        self.allocations_succeed = true;
        for contributing in &mut self.contributing {
            contributing.commands = succeed(std::mem::take(&mut contributing.commands));
        }
    }
}

fn succeed(commands: Vec<Command>) -> Vec<Command> {
    let mut kept = Vec::new();
    for command in commands {
        match command {
            Command::May { otherwise, .. } if otherwise.iter().any(allocates) => {
                kept.extend(succeed(otherwise));
            }
            Command::When { condition, then, otherwise } => kept.push(Command::When {
                condition,
                then: succeed(then),
                otherwise: succeed(otherwise),
            }),
            other => kept.push(other),
        }
    }
    kept
}

fn allocates(command: &Command) -> bool {
    match command {
        Command::Assign { target, value } => {
            let of_state = |kind: &ExprKind| matches!(kind, ExprKind::Attr { attribute, .. } if attribute.name() == "State");
            of_state(&target.kind)
                && matches!(&value.kind, ExprKind::Name(name) if name == "allocated")
        }
        Command::When { then, otherwise, .. } => then.iter().chain(otherwise).any(allocates),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover;

    fn choices(rules: &Rules) -> usize {
        let commands = rules.contributing.iter().flat_map(|c| &c.commands);
        commands.filter(|command| matches!(command, Command::May { .. })).count()
    }

    #[test]
    fn allocators_succeed_and_files_still_fail_to_open() {
        let mut rules = discover::rules(&[]).unwrap();
        let before = choices(&rules);
        rules.assume_alloc_succeeds();
        let left = choices(&rules);
        assert!(left < before);
        let opens_a_file = rules.contributing.iter().any(|contributing| {
            contributing.commands.iter().any(|command| match command {
                Command::May { otherwise, .. } => format!("{otherwise:?}").contains("open"),
                _ => false,
            })
        });
        assert!(opens_a_file && left > 0);
        let allocating = rules.contributing.iter().flat_map(|c| &c.commands).any(|command| {
            matches!(command, Command::May { otherwise, .. } if otherwise.iter().any(allocates))
        });
        assert!(!allocating);
    }
}
