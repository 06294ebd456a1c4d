//! Generated C-like text full of macros.

/// A small deterministic generator (xorshift), so that a failure repeats.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const OBJECTS: [&str; 6] = ["OA", "OB", "OC", "OD", "OE", "OF"];
const FUNCTIONS: [&str; 6] = ["fa", "fb", "fc", "fd", "fe", "ff"];
const PARAMS: [&str; 2] = ["x", "y"];
const WORDS: [&str; 10] =
    ["a", "b2", "1", "2.5e+3", "\"s\\\"t\"", "'c'", "+", "->", "__LINE__", ";"];

/// Definitions that refer to each other at random, redefinitions, and lines that use them.
pub fn generate(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut text = String::new();
    for name in OBJECTS {
        text += &format!("#define {name} {}\n", sequence(&mut random, 3, true, false));
    }
    for name in FUNCTIONS {
        define_function(&mut random, name, &mut text);
    }
    for _ in 0..60 {
        match random.below(12) {
            0 => {
                let name = random.pick(&FUNCTIONS);
                text += &format!("#undef {name}\n");
                define_function(&mut random, name, &mut text);
            }
            1 => text += "#if 0\ndon't read /* this */ OA fa(\n#endif\n",
            2 => text += "/* a comment\n over lines */ after;\n",
            _ => {
                text += &sequence(&mut random, 6, true, false);
                text += " end;\n";
            }
        }
    }
    text
}

/// Every macro takes any number of arguments, so that no invocation is an error.
fn define_function(random: &mut Random, name: &str, text: &mut String) {
    let params = random.pick(&["x, ...", "x, y...", "x...", "..."]);
    let mut body = sequence(random, 4, true, true);
    if params == "..." {
        body = body.replace('x', "__VA_ARGS__");
    }
    if params.ends_with(", ...") || params == "..." {
        body += random.pick(&[
            " , ##__VA_ARGS__",
            " __VA_ARGS__",
            " __VA_OPT__(vo v ## 2) #__VA_ARGS__",
            " q __VA_OPT__(,) __VA_ARGS__",
        ]);
    }
    *text += &format!("#define {name}({params}) {body}\n");
}

fn sequence(random: &mut Random, length: usize, nests: bool, in_body: bool) -> String {
    let n_items = 1 + random.below(length);
    let items: Vec<String> = (0..n_items).map(|_| item(random, nests, in_body)).collect();
    items.join(random.pick(&[" ", " ", "  ", " /* c */ "]))
}

fn item(random: &mut Random, nests: bool, in_body: bool) -> String {
    match random.below(if in_body { 10 } else { 6 }) {
        0 => random.pick(&OBJECTS).to_owned(),
        1 => random.pick(&FUNCTIONS).to_owned(),
        2 if nests => {
            let name = random.pick(&FUNCTIONS);
            let first = sequence(random, 3, false, in_body);
            let second = sequence(random, 2, false, in_body);
            let gap = if in_body { " " } else { random.pick(&["", " ", "\n  "]) };
            format!("{name}({first},{gap}{second})")
        }
        3 if nests => format!("({})", sequence(random, 2, false, in_body)),
        6 => "#x".to_owned(),
        7 => random.pick(&["f ## a", "O ## B", "a ## 1 ## b", "f ## O", "+ ## +"]).to_owned(),
        8 | 9 => random.pick(&PARAMS).to_owned(),
        _ => random.pick(&WORDS).to_owned(),
    }
}
