//! What inputs of a program are made of: the strings it compares with, the characters and
//! numbers it decides by, the sizes of its arrays, what its formats read and its options are.

use std::collections::BTreeSet;

use program::{BinaryOp, Callee, Const, ConstId, GlobalId, Op, Operand, Program, Terminator};

/// Strings longer than this are texts for people.
const LONGEST_WORD: usize = 40;
/// Sizes and counts beyond this are not reached by repeating input.
const LARGEST_COUNT: u64 = 5000;

/// Functions that only write what they are given, of which the strings are no input.
const WRITERS: [&str; 12] = [
    "printf", "fprintf", "puts", "fputs", "perror", "snprintf", "sprintf", "vprintf", "dprintf",
    "fwrite", "err", "errx",
];

/// Words, characters and numbers of a program.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    /// Words that inputs may hold: compared strings, entries of tables, options, what a format
    /// reads.
    pub words: Vec<Vec<u8>>,
    /// Words that are arguments by their form.
    pub options: Vec<Vec<u8>>,
    /// Characters that decide.
    pub characters: Vec<u8>,
    /// Numbers that decide, their neighbours, and boundaries of types.
    pub numbers: Vec<i128>,
    /// How often something may have to be repeated: sizes of objects, limits of loops.
    pub counts: Vec<usize>,
}

impl Dictionary {
    pub fn of(program: &Program) -> Self {
        let mut maker = Maker::new(program);
        for function in &program.functions {
            if let Some(body) = &function.body {
                maker.function(body);
            }
        }
        maker.globals();
        maker.finish()
    }

    /// Whether a word is part of what inputs are compared with.
    pub fn knows(&self, word: &[u8]) -> bool {
        let all = self.words.iter().chain(&self.options);
        let mut parts = all
            .flat_map(|known| known.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_'));
        parts.any(|part| part == word)
    }
}

struct Maker<'a> {
    program: &'a Program,
    words: BTreeSet<Vec<u8>>,
    options: BTreeSet<Vec<u8>>,
    characters: BTreeSet<u8>,
    numbers: BTreeSet<i128>,
    sizes: BTreeSet<u64>,
    /// Literals that were seen as what is written, or as formats.
    written: BTreeSet<GlobalId>,
}

impl<'a> Maker<'a> {
    fn new(program: &'a Program) -> Self {
        Self {
            program,
            words: BTreeSet::new(),
            options: BTreeSet::new(),
            characters: BTreeSet::new(),
            numbers: BTreeSet::new(),
            sizes: BTreeSet::new(),
            written: BTreeSet::new(),
        }
    }

    fn function(&mut self, body: &program::Body) {
        for inst in &body.insts {
            match &inst.op {
                Op::Alloca { size, count: None, .. } => self.size(*size),
                Op::Compare { lhs, rhs, .. } => {
                    self.operand(*lhs);
                    self.operand(*rhs);
                }
                Op::Binary {
                    op:
                        BinaryOp::UnsignedRem
                        | BinaryOp::SignedRem
                        | BinaryOp::UnsignedDiv
                        | BinaryOp::SignedDiv
                        | BinaryOp::Sub
                        | BinaryOp::Mul,
                    rhs,
                    ..
                } => self.operand(*rhs),
                Op::Call(call) => self.call(call),
                _ => {}
            }
            if let Op::Address(_) = &inst.op
                && let program::CType::Array { count: Some(count), .. } =
                    self.program.resolved_type(self.program.pointee(inst.ctype))
            {
                self.size(*count);
            }
        }
        for block in &body.blocks {
            if let Terminator::Switch { cases, .. } = &block.terminator {
                cases.iter().for_each(|(case, _)| self.constant(*case));
            }
        }
    }

    fn size(&mut self, size: u64) {
        if (2..=LARGEST_COUNT).contains(&size) {
            self.sizes.insert(size);
        }
    }

    fn operand(&mut self, operand: Operand) {
        if let Operand::Const(id) = operand {
            self.constant(id);
        }
    }

    fn constant(&mut self, id: ConstId) {
        let Const::Int { bits, value } = &self.program.constants[id] else { return };
        if *bits == 1 {
            return;
        }
        self.numbers.insert(*value);
        if let Ok(character) = u8::try_from(*value) {
            self.characters.insert(character);
        }
        // Single characters come as negative numbers where they have a sign.
        if *bits == 8 {
            self.characters.insert(*value as u8);
        }
        if let Ok(count) = u64::try_from(*value) {
            self.size(count);
        }
    }

    fn call(&mut self, call: &program::Call) {
        let Callee::Function(callee) = &call.callee else { return };
        let callee = &self.program.functions[*callee];
        let name = &*callee.name;
        let texts: Vec<Option<(GlobalId, Vec<u8>)>> =
            call.args.iter().map(|argument| self.literal(*argument)).collect();
        let known = texts.iter().flatten();
        if callee.body.is_some() {
            return;
        }
        if WRITERS.contains(&name) {
            self.written.extend(known.map(|(global, _)| *global));
        } else if name.ends_with("scanf") {
            for (global, text) in known {
                self.written.insert(*global);
                self.words.insert(example(text));
            }
        } else if name.starts_with("getopt") {
            for (global, text) in known {
                self.written.insert(*global);
                let letters = text.iter().filter(|c| c.is_ascii_alphanumeric());
                self.options.extend(letters.map(|letter| vec![b'-', *letter]));
            }
        } else if matches!(name, "strcmp" | "strncmp" | "strcasecmp" | "strncasecmp" | "memcmp") {
            let known: Vec<_> = known.map(|(_, text)| text.clone()).collect();
            known.into_iter().for_each(|text| self.word(text));
        } else if matches!(
            name,
            "strtok" | "strtok_r" | "strpbrk" | "strspn" | "strcspn" | "strsep"
        ) {
            let sets = known.flat_map(|(_, text)| text.iter().copied()).collect::<Vec<_>>();
            self.characters.extend(sets);
        } else if matches!(name, "strchr" | "strrchr" | "memchr" | "index") {
            call.args.iter().for_each(|argument| self.operand(*argument));
            let sets = known.flat_map(|(_, text)| text.iter().copied()).collect::<Vec<_>>();
            self.characters.extend(sets);
        } else {
            // Sizes that are asked for: of allocations, of reads and copies.
            call.args.iter().for_each(|argument| self.operand(*argument));
        }
    }

    fn word(&mut self, text: Vec<u8>) {
        if text.is_empty() || text.len() > LONGEST_WORD {
            return;
        }
        if text[0] == b'-' && text.len() > 1 {
            self.options.insert(text.clone());
        }
        self.words.insert(text);
    }

    /// The text an operand points to the start of.
    fn literal(&self, operand: Operand) -> Option<(GlobalId, Vec<u8>)> {
        let Operand::Const(id) = operand else { return None };
        let Const::Global { global, offset: 0 } = &self.program.constants[id] else { return None };
        Some((*global, self.text(*global)?))
    }

    fn text(&self, global: GlobalId) -> Option<Vec<u8>> {
        let global = &self.program.globals[global];
        let [piece] = &global.init.as_ref().filter(|_| global.is_constant)?[..] else {
            return None;
        };
        let Const::Bytes(bytes) = &self.program.constants[piece.value] else { return None };
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(bytes[..end].to_vec())
    }

    /// Strings that tables hold, and those that are passed on.
    fn globals(&mut self) {
        for (id, global) in self.program.globals.iter_enumerated() {
            if !global.is_string_literal {
                self.size(global.size);
                if let program::CType::Array { count: Some(count), .. } =
                    self.program.resolved_type(global.ctype)
                {
                    self.size(*count);
                }
            }
            if global.is_string_literal
                && !self.written.contains(&id)
                && let Some(text) = self.text(id).filter(|text| !text.contains(&b'%'))
            {
                self.word(text.clone());
                if !text.is_empty() && text.len() <= LONGEST_WORD && !text.contains(&b' ') {
                    // The names of long options stand in tables.
                    let calls_options = self.program.functions.iter();
                    let has = calls_options.into_iter().any(|f| &*f.name == "getopt_long");
                    if has {
                        let long = [b"--".as_slice(), &text].concat();
                        self.options.insert(long);
                    }
                }
            }
        }
        for record in self.program.records.iter() {
            for member in &record.members {
                if let program::CType::Array { count: Some(count), .. } =
                    self.program.resolved_type(member.ctype)
                {
                    self.size(*count);
                }
            }
        }
    }

    fn finish(self) -> Dictionary {
        let mut numbers: BTreeSet<i128> = BTreeSet::new();
        let sizes = self.sizes.iter().map(|size| i128::from(*size));
        for number in self.numbers.iter().copied().chain(sizes) {
            numbers.extend([number - 1, number, number + 1]);
        }
        for bits in [7, 8, 15, 16, 31, 32, 63] {
            let power = 1i128 << bits;
            numbers.extend([power - 1, power]);
        }
        numbers.extend([-1, 0, 1, -(1 << 31), 10, 100, 1000]);
        let mut counts: BTreeSet<usize> = BTreeSet::new();
        for size in &self.sizes {
            let size = *size as usize;
            counts.extend([size - 1, size, size + 1]);
        }
        let characters = self.characters.into_iter().chain([b'\n', b' ']);
        let characters: BTreeSet<u8> = characters.collect();
        Dictionary {
            words: self.words.into_iter().collect(),
            options: self.options.into_iter().collect(),
            characters: characters.into_iter().collect(),
            numbers: numbers.into_iter().collect(),
            counts: counts.into_iter().collect(),
        }
    }
}

/// A text that a format of `scanf` reads.
fn example(format: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&byte) = format.get(at) {
        at += 1;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        let flags = format[at..].iter().take_while(|b| b"*0123456789hlLqjzt".contains(b)).count();
        at += flags;
        let conversion = format.get(at).copied().unwrap_or(b'%');
        at += 1;
        match conversion {
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'f' | b'g' | b'e' => text.push(b'7'),
            b's' => text.extend(b"ab"),
            b'c' => text.push(b'x'),
            b'[' => {
                // The first set character, or a letter where the set says what must not come.
                let set = format.get(at..).unwrap_or_default();
                let first = set.first().copied().unwrap_or(b'a');
                text.extend(if first == b'^' { *b"ab" } else { [first, first] });
                let skip = usize::from(first == b'^') + 1;
                let end = set.iter().skip(skip).position(|byte| *byte == b']');
                at += end.map_or(set.len(), |end| end + skip + 1);
            }
            b'n' => {}
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::example;

    #[test]
    fn formats_give_a_text_they_read() {
        assert_eq!(example(b"%d,%15s"), b"7,ab");
        assert_eq!(example(b"%31[^:]: %lx"), b"ab: 7");
        assert_eq!(example(b"%c%n%%"), b"x%");
        assert_eq!(example(b"%[a-z"), b"aa");
        assert_eq!(example(b"%"), b"%");
    }
}
