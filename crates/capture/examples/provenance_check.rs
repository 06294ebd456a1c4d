//! Compares the source map of C files with clang's own idea of their tokens, and times
//! the making of it: `provenance_check [CFLAGS...] FILES...`. A file that ends in `.i` is taken
//! for the output of `clang -E -dD` and only timed.

#[path = "../tests/provenance/clang.rs"]
mod clang;

use std::path::Path;
use std::time::Instant;

use capture::provenance::{Extent, prepare};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (flags, files): (Vec<&str>, Vec<&str>) =
        args.iter().map(String::as_str).partition(|arg| arg.starts_with('-'));
    let scratch = std::env::temp_dir();
    let (mut compared, mut agree) = (0, 0);
    for file in files {
        let all = [&flags[..], &[file]].concat();
        let is_preprocessed = file.ends_with(".i");
        let preprocessed = match is_preprocessed {
            true => std::fs::read(file).expect("the file can be read"),
            false => clang::preprocess(&all, Path::new(".")),
        };
        let start = Instant::now();
        let mut read = |path: &Path| std::fs::read(path).ok();
        let prepared = prepare(&preprocessed, Extent::Whole, &mut read);
        let seconds = start.elapsed().as_secs_f64();
        if is_preprocessed {
            println!("{file}: {} entries, {seconds:.3} s", prepared.map.entries.len());
            continue;
        }
        let comparison = clang::compare(&flags, file, Path::new("."), &scratch);
        println!(
            "{file}: {} tokens, {} compared, {} from macros, {} agree ({:.4} %), {} nested; \
             {} entries; {:.1} MB in {:.3} s",
            comparison.tokens,
            comparison.compared,
            comparison.from_macros,
            comparison.agree,
            100.0 * comparison.agree as f64 / comparison.compared.max(1) as f64,
            comparison.nested,
            prepared.map.entries.len(),
            preprocessed.len() as f64 / 1e6,
            seconds,
        );
        for disagreement in comparison.disagreements.iter().rev().take(5) {
            println!("    {disagreement}");
        }
        compared += comparison.compared;
        agree += comparison.agree;
    }
    println!("{agree} of {compared}: {:.4} %", 100.0 * agree as f64 / compared.max(1) as f64);
}
