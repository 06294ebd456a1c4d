//! Programs made up at random, but always without faults: every pointer is valid, every
//! index in bounds, and arithmetic is unsigned.

use std::fmt::Write;

/// A small generator of numbers, the same for a seed everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit
    }

    fn pick<'a>(&mut self, among: &[&'a str]) -> &'a str {
        among[self.below(among.len() as u64) as usize]
    }
}

const NODE: &str = "struct leaf { int v; int *q; };
struct node { struct node *next; char tag[4]; int n; int *pi; struct node **slot; struct leaf leaf;
    int arr[3]; int *tab[2]; };
static int i0, i1, i2, i3; static int *p0 = &i0, *p1 = &i1, *p2 = &i2;
static struct node n0, n1, n2, n3, n4; static struct node *r0 = &n0, *r1 = &n1, *r2 = &n2;
static struct node *hp0, *hp1; static int *(*fp)(struct node *, int *);
static void fill(struct node *n, int *p, struct node *m, struct node **s) {
    n->pi = p; n->next = m; n->slot = s; n->leaf.q = p; n->tab[0] = n->tab[1] = p; }
";

struct Pointers {
    random: Random,
    text: String,
    n_labels: u32,
    /// Functions that may be called, and whether parameters are in scope.
    n_functions: u64,
    in_helper: bool,
}

/// A program about pointers: records, arrays, the heap, copies, casts, calls through
/// pointers, and code outside that keeps and changes what it is given.
pub fn pointers(seed: u64) -> String {
    let random = Random(seed.wrapping_mul(0x9e3779b97f4a7c15) + 1);
    let text = NODE.to_owned();
    let mut made = Pointers { random, text, n_labels: 0, n_functions: 0, in_helper: true };
    for index in 0..3 {
        writeln!(
            made.text,
            "static int *h{index}(struct node *a, int *b) {{ entered(\"h{index}\");"
        )
        .unwrap();
        made.statements(5);
        let result = made.int_pointer(2);
        writeln!(made.text, "return {result}; }}").unwrap();
        made.n_functions += 1;
    }
    made.in_helper = false;
    made.text += "int main(void) { hp0 = malloc(sizeof *hp0); hp1 = malloc(sizeof *hp1); fp = h0;
        memset(hp0, 0, sizeof *hp0); memset(hp1, 0, sizeof *hp1);\n";
    for name in ["i0", "i1", "i2", "i3", "p0", "p1", "p2", "n0", "n1", "n2", "n3", "n4", "r0"] {
        writeln!(made.text, "know(\"{name}\", &{name}, sizeof {name});").unwrap();
    }
    made.text += "know(\"r1\", &r1, sizeof r1); know(\"r2\", &r2, sizeof r2);
        know(\"hp0\", hp0, sizeof *hp0); know(\"hp1\", hp1, sizeof *hp1);
        fill(&n0, &i0, &n1, &r0); fill(&n1, &i1, &n2, &r1); fill(&n2, &i2, &n0, &r2);
        fill(&n3, &i3, &n3, &r0); fill(&n4, &i0, &n4, &r1); fill(hp0, &i1, &n0, &hp0->next);
        fill(hp1, &i2, hp0, &r0); out_keep(&n0); out_keep(&n3);\n";
    made.statements(40);
    made.text += "return 0; }\n";
    made.text
}

impl Pointers {
    fn label(&mut self) -> String {
        self.n_labels += 1;
        format!("l{}", self.n_labels)
    }

    fn int_pointer(&mut self, depth: u32) -> String {
        let top = if depth == 0 { 4 } else { 13 };
        match self.random.below(top) {
            0 => format!("&i{}", self.random.below(4)),
            1 | 2 => format!("p{}", self.random.below(3)),
            3 if self.in_helper => "b".to_owned(),
            3 => "p0".to_owned(),
            4 => format!("({})->pi", self.node(depth - 1)),
            5 => format!("({})->leaf.q", self.node(depth - 1)),
            6 => format!("({})->tab[{}]", self.node(depth - 1), self.random.below(2)),
            7 => format!("&({})->n", self.node(depth - 1)),
            8 => format!("&({})->arr[{}]", self.node(depth - 1), self.random.below(3)),
            9 => format!("&({})->leaf.v", self.node(depth - 1)),
            10 => {
                let member = self.random.pick(&["pi", "leaf.q", "tab[1]"]);
                let node = self.node(depth - 1);
                format!("*(int **)((char *)({node}) + offsetof(struct node, {member}))")
            }
            11 if self.n_functions > 0 => {
                let function = self.random.below(self.n_functions);
                format!("h{function}({}, {})", self.node(depth - 1), self.int_pointer(depth - 1))
            }
            12 if self.n_functions > 2 => {
                format!("fp({}, {})", self.node(depth - 1), self.int_pointer(depth - 1))
            }
            _ => format!("(int *)(intptr_t){}", self.int_pointer(depth - 1)),
        }
    }

    fn node(&mut self, depth: u32) -> String {
        let top = if depth == 0 { 5 } else { 10 };
        match self.random.below(top) {
            0 | 1 => format!("&n{}", self.random.below(5)),
            2 => format!("r{}", self.random.below(3)),
            3 if self.in_helper => "a".to_owned(),
            3 | 4 => format!("hp{}", self.random.below(2)),
            5 => format!("({})->next", self.node(depth - 1)),
            6 => format!("*({})", self.slot(depth - 1)),
            7 => format!("container_of(&({})->leaf, struct node, leaf)", self.node(depth - 1)),
            8 => format!("(struct node *)(void *)({}).next", self.deref(depth - 1)),
            _ => format!("(struct node *)out_fetch({})", self.random.below(2)),
        }
    }

    fn deref(&mut self, depth: u32) -> String {
        format!("*({})", self.node(depth))
    }

    fn slot(&mut self, depth: u32) -> String {
        match self.random.below(if depth == 0 { 1 } else { 3 }) {
            0 => format!("&r{}", self.random.below(3)),
            1 => format!("&({})->next", self.node(depth - 1)),
            _ => format!("({})->slot", self.node(depth - 1)),
        }
    }

    fn statements(&mut self, n: u32) {
        for _ in 0..n {
            let statement = self.statement();
            // In functions that are called before all is set up nothing is dereferenced
            // twice at random: fp is set before any of them runs.
            writeln!(self.text, "{statement}").unwrap();
            if !self.in_helper {
                let (label, kind) = (self.label(), self.random.below(3));
                let value = match kind {
                    0 => self.int_pointer(2),
                    1 => self.node(2),
                    _ => self.slot(2),
                };
                writeln!(self.text, "see(\"{label}\", {value});").unwrap();
            }
        }
    }

    fn statement(&mut self) -> String {
        let statement = match self.random.below(13) {
            0 => format!("p{} = {};", self.random.below(3), self.int_pointer(2)),
            1 => format!("({})->pi = {};", self.node(2), self.int_pointer(2)),
            2 => format!("({})->leaf.q = {};", self.node(2), self.int_pointer(1)),
            3 => format!(
                "({})->tab[{}] = {};",
                self.node(1),
                self.random.below(2),
                self.int_pointer(2)
            ),
            4 => format!("r{} = {};", self.random.below(3), self.node(2)),
            5 => format!("({})->next = {};", self.node(2), self.node(2)),
            6 => format!("*({}) = {};", self.slot(2), self.node(2)),
            7 => format!("({})->slot = {};", self.node(1), self.slot(1)),
            8 => format!("{{ struct node t = {}; {} = t; }}", self.deref(1), self.deref(1)),
            9 => format!("memmove({}, {}, sizeof(struct node));", self.node(1), self.node(1)),
            10 => {
                let (to, from) = (self.node(1), self.node(1));
                format!(
                    "{{ char *to = (char *)({to}), *from = (char *)({from});
                     for (unsigned k = 0; k < sizeof(struct node); k++) to[k] = from[k]; }}"
                )
            }
            11 if self.n_functions > 2 => format!("fp = h{};", self.random.below(3)),
            11 => format!("({})->leaf = ({})->leaf;", self.node(1), self.node(1)),
            _ => format!("*({}) = {};", self.int_pointer(2), self.random.below(9)),
        };
        if self.in_helper || self.random.below(3) > 0 {
            return statement;
        }
        match self.random.below(3) {
            0 => {
                let label = self.label();
                let (node, pointer) = (self.node(1), self.int_pointer(1));
                let (to, value) =
                    (self.random.below(3), self.random.pick(&["fp", "h0", "h1", "h2"]));
                format!(
                    "{{ struct node *x = {node}; int *y = {pointer}, *z; watch(\"{label}\");
                     z = {value}(x, y); changed(\"{label}\"); p{to} = z; }}"
                )
            }
            1 => {
                let label = self.label();
                let (to, from) = (self.random.below(2), self.random.below(2));
                format!("watch(\"{label}\"); out_link({to}, {from}); changed(\"{label}\");")
            }
            _ => statement,
        }
    }
}

const NUMBERS: [(&str, &str); 8] = [
    ("unsigned char", "a"),
    ("signed char", "b"),
    ("unsigned short", "c"),
    ("short", "d"),
    ("unsigned", "e"),
    ("int", "f"),
    ("unsigned long", "g"),
    ("unsigned", "h"),
];

/// A program about numbers: conversions, wrap-around, branches and loops.
pub fn numbers(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e3779b97f4a7c15) + 7);
    let mut text = String::from("static unsigned mix(unsigned x, unsigned char y) {\n");
    text += "if (x > y) return x - y; if (x == 3) return 1000; return (x + y) % 300; }\n";
    text += "static void go(unsigned e, unsigned char a) {\n";
    for (ty, name) in NUMBERS.iter().filter(|(_, name)| !["a", "e"].contains(name)) {
        writeln!(text, "{ty} {name} = {};", random.below(300)).unwrap();
    }
    let mut n_labels = 0;
    for _ in 0..30 {
        number_statement(&mut random, &mut text, 2, &mut n_labels);
    }
    text += "}\nint main(void) { for (unsigned k = 0; k < 40; k++) go(k * 7, k * 13);
        go(4294967290u, 255); return 0; }\n";
    text
}

fn number(random: &mut Random, depth: u32) -> String {
    let (_, name) = NUMBERS[random.below(8) as usize];
    if depth == 0 || random.below(4) == 0 {
        return match random.below(3) {
            0 => random.below(400).to_string(),
            _ => name.to_owned(),
        };
    }
    let (lhs, rhs) = (number(random, depth - 1), number(random, depth - 1));
    match random.below(10) {
        0 | 1 => format!("((unsigned)({lhs}) + (unsigned)({rhs}))"),
        2 | 3 => format!("((unsigned)({lhs}) - (unsigned)({rhs}))"),
        4 => format!("((unsigned)({lhs}) * (unsigned)({rhs}))"),
        5 => format!("((unsigned)({lhs}) / ((unsigned)({rhs}) | 1))"),
        6 => format!("((unsigned)({lhs}) % ((unsigned)({rhs}) | 1))"),
        7 => format!("(({lhs}) {} ({rhs}))", random.pick(&["&", "|", "^"])),
        8 => format!("((unsigned)({lhs}) {} ({rhs} & 15))", random.pick(&["<<", ">>"])),
        _ => format!("mix({lhs}, {rhs})"),
    }
}

fn number_statement(random: &mut Random, text: &mut String, depth: u32, n_labels: &mut u32) {
    let (_, name) = NUMBERS[random.below(8) as usize];
    let compare = ["<", "<=", ">", ">=", "==", "!="];
    match random.below(if depth == 0 { 4 } else { 8 }) {
        0..=2 => writeln!(text, "{name} = {};", number(random, 2)).unwrap(),
        3 => {}
        4 | 5 => {
            let (_, other) = NUMBERS[random.below(8) as usize];
            let against = if random.below(2) == 0 { other.to_owned() } else { number(random, 0) };
            writeln!(text, "if ({name} {} {against}) {{", random.pick(&compare)).unwrap();
            number_statement(random, text, depth - 1, n_labels);
            text.push_str("} else {\n");
            number_statement(random, text, depth - 1, n_labels);
            text.push_str("}\n");
        }
        6 => {
            let (step, bound) = (random.below(4) + 1, random.below(60));
            writeln!(text, "for (unsigned k = 0; k < {bound}; k += {step}) {{ h = k;").unwrap();
            number_statement(random, text, depth - 1, n_labels);
            text.push_str("}\n");
        }
        _ => {
            writeln!(text, "{{ unsigned char k = {}; do {{ a = k;", random.below(256)).unwrap();
            number_statement(random, text, depth - 1, n_labels);
            writeln!(text, "k -= {}; }} while (k > 40); }}", random.below(20) + 1).unwrap();
        }
    }
    *n_labels += 1;
    let (_, seen) = NUMBERS[random.below(8) as usize];
    writeln!(text, "see_int(\"{n_labels}\", {seen});").unwrap();
}
