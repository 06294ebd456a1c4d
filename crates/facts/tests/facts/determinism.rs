//! The same facts at any number of threads.

use std::fmt::Write;

use facts::{Facts, Options};
use program::{Operand, Program};

/// Everything there is to know about a program, as text.
fn dump(program: &Program, facts: &Facts) -> String {
    let mut text = String::new();
    let pointers = &facts.pointers;
    writeln!(text, "{:?}\n{:?}\n{:?}", pointers.objects, pointers.cells, pointers.sites).unwrap();
    for cell in pointers.cells.ids() {
        writeln!(text, "{cell:?} holds {:?}", pointers.contents(cell)).unwrap();
    }
    for (id, function) in program.functions.iter_enumerated() {
        let at = id.0 as usize;
        writeln!(text, "{} {:?} {:?}", function.name, facts.cfgs[at], facts.loops[at]).unwrap();
        writeln!(text, "{:?} {:?}", facts.memory[at], facts.ranges.of_function(id)).unwrap();
        writeln!(text, "{:?} {:?}", facts.summaries.of(id), facts.no_return.function(id)).unwrap();
        writeln!(text, "{:?}", facts.effects.of_function(id)).unwrap();
        writeln!(text, "{:?}", facts.effects.through_params(id)).unwrap();
        for call in facts.calls.calls(id) {
            writeln!(text, "{call:?} {:?}", facts.calls.targets(call)).unwrap();
        }
        for inst in function.body.iter().flat_map(|body| body.insts.ids()) {
            let cells = pointers.of(id, Operand::Inst(inst));
            if !cells.is_empty() {
                writeln!(text, "{inst:?} {cells:?} {:?}", pointers.touched(cells, Some(8)))
                    .unwrap();
            }
        }
    }
    writeln!(text, "{:?} {:?}", facts.calls.entries(), facts.calls.bottom_up()).unwrap();
    text
}

#[test]
fn one_thread_and_two_find_the_same() {
    let silent = "static void know(const char *n, const void *p, size_t s) {}
        static void watch(const char *l) {} static void changed(const char *l) {}
        static void entered(const char *f) {} void out_keep(void *); void *out_fetch(int);
        void out_link(int, int);";
    let pointers = crate::made_up::pointers(99);
    let numbers = crate::made_up::numbers(99).replace("int main", "int numbers");
    let text = format!("{silent}{pointers}\n{numbers}");
    let program = crate::common::import(&text);
    let at = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let facts =
            pool.expect("threads").install(|| Facts::compute(&program, &Options::default()));
        dump(&program, &facts)
    };
    let one = at(1);
    assert!(one.len() > 100_000, "a program worth comparing: {}", one.len());
    assert!(one == at(2), "facts differ");
    assert!(one == at(2), "facts differ from run to run");
}
