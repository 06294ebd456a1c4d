//! A program under comparison, line by line, so that lines can be taken away.

use fixture::idioms::{Idiom, Program, Spec};

/// A program, and what each of its lines is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub lines: Vec<Line>,
    /// The idioms the program was made of, also those whose lines are gone.
    pub parts: Vec<PartInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    /// The index in [`Case::parts`]; `None` around them.
    pub part: Option<usize>,
    /// Only in the wrong variant of its part.
    pub is_wrong: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    pub idiom: String,
    /// Its wrong variant and the rules that violates; right by construction where there is none.
    pub variant: Option<(String, Vec<String>)>,
}

impl Case {
    pub fn new(idioms: &[Idiom], spec: &Spec) -> Self {
        let program = Program::new(idioms, spec);
        let numbered = (1..).zip(program.text.lines());
        let lines = numbered.map(|(number, text)| Line {
            text: text.to_owned(),
            part: program.part_at(number),
            is_wrong: program.is_wrong(number),
        });
        let parts = spec.parts.iter().map(|part| {
            let idiom = &idioms[part.idiom];
            let variant = part.variant.map(|variant| &idiom.variants[variant]);
            let variant = variant.map(|variant| (variant.name.clone(), variant.rules.clone()));
            PartInfo { idiom: idiom.name.clone(), variant }
        });
        Self { lines: lines.collect(), parts: parts.collect() }
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    fn line(&self, number: u32) -> Option<&Line> {
        self.lines.get((number as usize).checked_sub(1)?)
    }

    /// The part a line belongs to.
    pub fn part_at(&self, number: u32) -> Option<usize> {
        self.line(number)?.part
    }

    /// Whether a line, counted from 1, is only in a wrong variant.
    pub fn is_wrong(&self, number: u32) -> bool {
        self.line(number).is_some_and(|line| line.is_wrong)
    }

    /// The rules that are violated on purpose in a part.
    pub fn rules(&self, part: Option<usize>) -> &[String] {
        let variant = part.and_then(|part| self.parts.get(part)?.variant.as_ref());
        variant.map_or(&[], |(_, rules)| rules)
    }

    /// The idiom, with its variant: `ring/does-not-wrap`, `main`.
    pub fn name(&self, part: Option<usize>) -> String {
        match part.and_then(|part| self.parts.get(part)) {
            None => "main".to_owned(),
            Some(PartInfo { idiom, variant: None }) => format!("{idiom} (right)"),
            Some(PartInfo { idiom, variant: Some((variant, _)) }) => format!("{idiom}/{variant}"),
        }
    }
}
