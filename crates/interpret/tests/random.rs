//! Random programs mean the same after import as they mean to the machine.

mod common;

use fixture::random_c::{Options, program};

/// How many programs are compared; `FIRSTFAULT_PROGRAMS` asks for more.
const N_PROGRAMS: u64 = 12;

#[test]
fn random_programs_agree_with_machine_code() {
    let options = Options { n_functions: 5, n_statements: 10, risk: 0 };
    let wanted = std::env::var("FIRSTFAULT_PROGRAMS").ok().and_then(|text| text.parse().ok());
    let n_programs = wanted.unwrap_or(N_PROGRAMS);
    let (mut n_compared, mut complaints) = (0, Vec::new());
    for seed in 0..n_programs {
        let text = program(seed, &options);
        // A program that overflows after all has no meaning to compare.
        let Ok(expected) = common::native(&text, "random.c") else { continue };
        n_compared += 1;
        match common::interpreted(&common::import(&text, "random.c")) {
            Ok(found) if found == expected => {}
            Ok(found) => {
                let at = found.iter().zip(&expected).position(|(found, right)| found != right);
                complaints.push(format!("seed {seed}: line {at:?} of the output differs"));
            }
            Err((stop, output)) => {
                complaints.push(format!("seed {seed}: {stop:?} after {} lines", output.len()));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(n_compared * 4 > n_programs * 3, "only {n_compared} programs are defined");
}
