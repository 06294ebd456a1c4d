//! Contradictions made small: idioms, lines and bytes of the input are taken away while the
//! contradiction stays.

use anyhow::Result;
use fixture::idioms::{Idiom, Input, Spec, inputs};

use crate::case::Case;
use crate::examine::{failed, on_witness, unshown};
use crate::judge::{self, Confirmed, Contradiction, Kind, Shown};
use crate::native::{self, Native, Sanitizer};
use crate::tool::{Engine, Tool};

/// A contradiction in a small program.
pub struct Shrunk {
    pub case: Case,
    pub contradiction: Contradiction,
    /// Questions to the tool that it took.
    pub n_asked: u32,
}

/// Native runs that show that reported code is right.
const N_INPUTS: usize = 60;

struct Shrinker<'a> {
    tool: &'a Tool,
    /// Questions to the tool that are left.
    left: u32,
    /// The text of the line it is about, which stays.
    line: String,
    /// The part it is about, by its idiom and variant.
    about: String,
}

/// Makes a contradiction small with at most `n_asked` questions to the tool.
pub fn shrink(
    tool: &Tool,
    idioms: &[Idiom],
    spec: &Spec,
    contradiction: &Contradiction,
    n_asked: u32,
) -> Result<Shrunk> {
    let case = Case::new(idioms, spec);
    let line = (contradiction.line as usize).checked_sub(1).and_then(|at| case.lines.get(at));
    let mut shrinker = Shrinker {
        tool,
        left: n_asked,
        line: line.map(|line| line.text.clone()).unwrap_or_default(),
        about: case.name(contradiction.part),
    };
    let mut best = (case, contradiction.clone());
    let mut spec = spec.clone();
    let mut index = spec.parts.len();
    while index > 0 {
        index -= 1;
        if spec.parts.len() == 1 {
            break;
        }
        let mut fewer = spec.clone();
        fewer.parts.remove(index);
        let given = inputs(idioms, &fewer, 0, 1);
        let case = Case::new(idioms, &fewer);
        let about = (0..case.parts.len()).find(|part| case.name(Some(*part)) == shrinker.about);
        let expected = Contradiction { part: about, ..best.1.clone() };
        if let Some(still) = shrinker.again(&case, &expected, &given)? {
            (best, spec) = ((case, still), fewer);
        }
    }
    // Without some of its lines a right form is no longer right, nor a wrong variant the same:
    // what is said of them needs the idiom whole.
    if contradiction.kind.is_defect() {
        let given = inputs(idioms, &spec, 0, 1);
        shrinker.lines(&mut best, &given)?;
    }
    shrinker.input(&mut best)?;
    let (case, contradiction) = best;
    Ok(Shrunk { case, contradiction, n_asked: n_asked - shrinker.left })
}

impl Shrinker<'_> {
    /// Takes away runs of lines, long ones first.
    fn lines(&mut self, best: &mut (Case, Contradiction), given: &[Input]) -> Result<()> {
        let mut size = 32.min(best.0.lines.len() / 2);
        while size > 0 {
            let mut at = best.0.lines.len().saturating_sub(size);
            loop {
                let mut fewer = best.0.clone();
                fewer.lines.drain(at..(at + size).min(fewer.lines.len()));
                if self.left == 0 {
                    return Ok(());
                }
                if is_balanced(&best.0, at, size) && native::compiles(&fewer)? {
                    let moved = Contradiction { line: 0, ..best.1.clone() };
                    if let Some(still) = self.again(&fewer, &moved, given)? {
                        *best = (fewer, still);
                    }
                }
                if at == 0 {
                    break;
                }
                at = at.saturating_sub(size.div_ceil(2));
            }
            size /= 2;
        }
        Ok(())
    }

    /// Takes away bytes of the native input.
    fn input(&mut self, best: &mut (Case, Contradiction)) -> Result<()> {
        let (case, contradiction) = best;
        let Some(input) = contradiction.input.clone() else { return Ok(()) };
        let native = Native::new(case)?;
        let mut best = input;
        for stream in 0..2 + best.arguments.len() {
            let length = stream_of(&mut best.clone(), stream).map_or(0, |text| text.len());
            let mut size = length.div_ceil(2);
            while size > 0 {
                let mut at = 0;
                loop {
                    let mut fewer = best.clone();
                    let Some(text) = stream_of(&mut fewer, stream) else { break };
                    if at >= text.len() {
                        break;
                    }
                    text.drain(at..(at + size).min(text.len()));
                    if shows(&native, case, contradiction, &fewer)? {
                        best = fewer;
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        contradiction.input = Some(best);
        Ok(())
    }

    /// The contradiction in another program, if it is still there.
    fn again(
        &mut self,
        case: &Case,
        expected: &Contradiction,
        given: &[Input],
    ) -> Result<Option<Contradiction>> {
        if self.left == 0 {
            return Ok(None);
        }
        match expected.kind {
            Kind::Failed => self.fails(case, expected),
            Kind::Unshown => self.is_unshown(case, expected),
            Kind::False => self.is_false(case, expected, given),
            Kind::Settled => self.is_wrongly_settled(case, expected),
            Kind::Missed => self.is_missed(case, expected),
        }
    }

    fn ask(&mut self, engine: Engine, case: &Case) -> Result<crate::Answer> {
        self.left = self.left.saturating_sub(1);
        self.tool.ask(engine, &case.text())
    }

    fn fails(&mut self, case: &Case, expected: &Contradiction) -> Result<Option<Contradiction>> {
        let engine = expected.engine.unwrap_or(Engine::Static);
        let how = |told: &str| told.split(':').next().unwrap_or_default().to_owned();
        let answer = self.ask(engine, case)?;
        let same = answer.failed.filter(|why| how(why) == how(&expected.told));
        Ok(same.map(|why| failed(engine, &why)))
    }

    fn is_unshown(
        &mut self,
        case: &Case,
        expected: &Contradiction,
    ) -> Result<Option<Contradiction>> {
        let Some(findings) = self.ask(Engine::Explore, case)?.findings else { return Ok(None) };
        let native = Native::new(case)?;
        for fault in findings.faults.iter().filter(|fault| fault.rule == expected.rule) {
            let Some(witness) = &fault.witness else { continue };
            let verdict = on_witness(&native, case, fault, witness)?;
            if verdict == Some(Confirmed::Nothing) && self.is_line(case, fault.place.line) {
                return Ok(Some(unshown(case, fault)));
            }
        }
        Ok(None)
    }

    fn is_line(&self, case: &Case, line: u32) -> bool {
        let line = (line as usize).checked_sub(1).and_then(|at| case.lines.get(at));
        line.is_some_and(|line| line.text == self.line)
    }

    /// A smaller program may be wrong where the larger one was right: it has to show nothing.
    fn is_false(
        &mut self,
        case: &Case,
        expected: &Contradiction,
        given: &[Input],
    ) -> Result<Option<Contradiction>> {
        let Some(findings) = self.ask(Engine::Static, case)?.findings else { return Ok(None) };
        let (found, _) = judge::falsely(case, &[], &findings);
        let same = found
            .into_iter()
            .find(|found| found.rule == expected.rule && self.is_line(case, found.line));
        let Some(same) = same else { return Ok(None) };
        let native = Native::new(case)?;
        for input in given.iter().take(N_INPUTS) {
            for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
                let seen = native.run(sanitizer, input)?.seen;
                let mut shown = seen.into_iter().map(|seen| Shown::new(case, seen, input));
                if shown.any(|shown| shown.part == same.part && shown.counts(case)) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(same))
    }

    fn is_wrongly_settled(
        &mut self,
        case: &Case,
        expected: &Contradiction,
    ) -> Result<Option<Contradiction>> {
        let Some(input) = &expected.input else { return Ok(None) };
        let shown = shown(&Native::new(case)?, case, input)?;
        self.left = self.left.saturating_sub(1);
        let points = self.tool.settled(&case.text())?.unwrap_or_default();
        let mut found = judge::wrongly_settled(case, &shown, &points).into_iter();
        Ok(found.find(|found| found.rule == expected.rule && self.is_line(case, found.line)))
    }

    fn is_missed(
        &mut self,
        case: &Case,
        expected: &Contradiction,
    ) -> Result<Option<Contradiction>> {
        let Some(input) = &expected.input else { return Ok(None) };
        let native = Native::new(case)?;
        let shown = shown(&native, case, input)?;
        if !shown.iter().any(|shown| is_expected(case, expected, shown)) {
            return Ok(None);
        }
        let statically = self.ask(Engine::Static, case)?.findings;
        let explored = self.ask(Engine::Explore, case)?.findings;
        let seeded = judge::seeded(case, &shown, statically.as_ref(), explored.as_ref());
        let missed = judge::missed(case, &seeded, &shown);
        Ok(missed.into_iter().find(|missed| missed.part == expected.part))
    }
}

fn stream_of(input: &mut Input, index: usize) -> Option<&mut Vec<u8>> {
    match index {
        0 => Some(&mut input.stdin),
        1 => input.file.as_mut(),
        _ => input.arguments.get_mut(index - 2),
    }
}

fn shown(native: &Native, case: &Case, input: &Input) -> Result<Vec<Shown>> {
    let mut all = Vec::new();
    for sanitizer in [Sanitizer::Address, Sanitizer::Memory] {
        let seen = native.run(sanitizer, input)?.seen;
        all.extend(seen.into_iter().map(|seen| Shown::new(case, seen, input)));
    }
    Ok(all)
}

fn shows(native: &Native, case: &Case, expected: &Contradiction, input: &Input) -> Result<bool> {
    Ok(shown(native, case, input)?.iter().any(|shown| is_expected(case, expected, shown)))
}

fn is_expected(case: &Case, expected: &Contradiction, shown: &Shown) -> bool {
    if expected.kind == Kind::Settled {
        return shown.line() == expected.line
            && judge::family(shown.seen.rule) == judge::family(&expected.rule)
            && shown.counts(case);
    }
    let mut rules = case.rules(expected.part).iter();
    let is_meant = rules.any(|rule| judge::family(rule) == judge::family(shown.seen.rule));
    is_meant && shown.part == expected.part && shown.counts(case)
}

/// Whether some lines have as many closing braces as opening ones: others never compile.
fn is_balanced(case: &Case, at: usize, size: usize) -> bool {
    let lines = case.lines.iter().skip(at).take(size);
    let count = |text: &str, c: char| text.matches(c).count() as i64;
    let depth = lines.map(|line| count(&line.text, '{') - count(&line.text, '}'));
    depth.sum::<i64>() == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Line;

    #[test]
    fn only_balanced_lines_are_taken_away() {
        let line = |text: &str| Line { text: text.to_owned(), part: None, is_wrong: false };
        let lines = ["int f(void) {", "if (x) {", "}", "}"].map(line).to_vec();
        let case = Case { lines, parts: Vec::new() };
        assert!(is_balanced(&case, 0, 4));
        assert!(is_balanced(&case, 1, 2));
        assert!(!is_balanced(&case, 0, 2));
        assert!(!is_balanced(&case, 2, 9));
    }

    #[test]
    fn streams_of_an_input_are_numbered() {
        let mut input = Input { arguments: vec![b"x".to_vec()], ..Input::default() };
        assert!(stream_of(&mut input, 0).is_some());
        assert_eq!(stream_of(&mut input, 1), None);
        assert_eq!(stream_of(&mut input, 2), Some(&mut b"x".to_vec()));
        assert_eq!(stream_of(&mut input, 3), None);
    }
}
