//! Runs a C program twice: as machine code, and as the program imported from it.
#![allow(dead_code)]

use std::path::Path;
use std::process::Command;

use capture::provenance;
use interpret::{Machine, Point, Stop};
use program::Program;

/// Enough for every program here, few enough to end soon where one hangs.
pub const STEPS: u64 = 5_000_000;

const OUTPUTS: &str = "
#include <stdio.h>
#include <string.h>
int in_int(void) { return 0; }
void out_int(long long value) { printf(\"%lld\\n\", value); }
void out_float(double value)
{
    unsigned long long bits;
    memcpy(&bits, &value, sizeof bits);
    printf(\"%016llx\\n\", bits);
}
";

/// What the machine code of `text` prints, or why there is none. The program is compiled so
/// that it ends at undefined behaviour.
pub fn native(text: &str, name: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path(name), text).expect("a file can be written");
    std::fs::write(path("outputs.c"), OUTPUTS).expect("a file can be written");
    let compiled = Command::new("clang-19")
        .args(["-w", "-Wno-error=implicit-int", "-O1", "-fcommon"])
        .args(["-fsanitize=undefined", "-fsanitize-trap=all"])
        .args([name, "outputs.c", "-o", "program", "-lm"])
        .current_dir(&folder)
        .output()
        .expect("clang-19 starts");
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let run = Command::new("timeout").arg("10").arg(path("program")).output().expect("it starts");
    if run.status.code() != Some(0) {
        return Err(format!("ended with {}", run.status));
    }
    Ok(String::from_utf8_lossy(&run.stdout).lines().map(str::to_owned).collect())
}

pub fn import(text: &str, name: &str) -> Program {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join(name), text).expect("a file can be written");
    let preprocessed = Command::new("clang-19")
        .args(["-E", "-dD", "-w", "-fcommon", name])
        .current_dir(&folder)
        .output()
        .expect("clang-19 starts");
    let read = &mut |path: &Path| std::fs::read(folder.path().join(path)).ok();
    let prepared = provenance::prepare(&preprocessed.stdout, provenance::Extent::Needed, read);
    let (limits, cancel) = (base::child::Limits::default(), base::Cancel::new());
    let bitcode = llvm::compile(&prepared.text, &["-fcommon"], &prepared.map, &limits, &cancel)
        .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let unit = llvm::import(&bitcode, &prepared.map, name)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let program = program::link::link(vec![unit]).program;
    assert_eq!(program::check::check(&program), Vec::<String>::new(), "{name}");
    program
}

/// What the imported program writes.
pub fn interpreted(program: &Program) -> Result<Vec<String>, (Stop, Vec<String>)> {
    let mut machine = Machine::new(program, STEPS).map_err(|stop| (stop, Vec::new()))?;
    match machine.run("main", &[]) {
        Ok(_) | Err(Stop::Exit(0)) => Ok(machine.output),
        Err(stop) => {
            if let Some((function, point)) = machine.stopped_at {
                let function = &program.functions[function];
                let body = function.body.as_ref().expect("code that runs has a body");
                let loc = match point {
                    Point::Inst(inst) => body.insts[inst].loc,
                    Point::End(block) => body.blocks[block].loc,
                };
                let loc = program.locs[loc];
                println!("{stop:?} in {} near {}:{}", function.name, loc.line, loc.column);
            }
            Err((stop, machine.output))
        }
    }
}
