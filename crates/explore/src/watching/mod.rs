//! Specifications, compiled to what runs of a program watch.
//!
//! What the text of a program decides of a condition is decided here, so that a run computes
//! only what depends on its values. What the memory of a run watches by itself is left out:
//! bounds, null pointers, lives of objects, values that were never set.

mod formula;

use facts::members::Members;
use facts::reaches::{Uses, masks};
use interpret::watch::{Check, Effect, Formula, Term};
use interpret::{FaultKind, Watch};
use program::{BinaryOp, Callee, ConversionKind, FunctionId, InstId, Op, Operand, Program, Ty};
use rustc_hash::FxHashMap;
use spec::ast::Template;
use spec::attribute::AttributeId;
use spec::lower::{Argument, Bindings};
use spec::matcher::{CodePoint, Found};
use spec::text::{Flow, Text, name_code};

use crate::descriptors::Descriptors;
use crate::options::Rules;
use formula::{Match, number_of};

/// Rules that the memory of a run watches, or that are watched in another way.
const BY_MEMORY: [&str; 11] = [
    "buffer-overflow",
    "buffer-overread",
    "buffer-underflow",
    "divide-by-zero",
    "double-free",
    "infinite-loop",
    "invalid-free",
    "leak",
    "null-dereference",
    "uninitialized-read",
    "use-after-free",
];

/// What runs of a program watch, and how its violations are reported.
pub struct Watching {
    pub watch: Watch,
    /// Names of the rules that are [`FaultKind::Rule`], by their number.
    pub rules: Vec<String>,
    /// What violations say, by place and kind.
    messages: FxHashMap<(FunctionId, CodePoint, FaultKind), (Template, Bindings)>,
}

impl Watching {
    pub fn new(program: &Program, specifications: &spec::Rules, wanted: &Rules) -> Self {
        let mut watch = Watch::new(program);
        let open = AttributeId::find("State").map(|state| (number_of(state), name_code("open")));
        watch.leaks = wanted.watch("leak");
        watch.open = open;
        let watching = Self { watch, rules: Vec::new(), messages: FxHashMap::default() };
        let members = Members::new(program);
        let flow = |reaches| ProgramFlow { program, uses: Uses::new(program, &members), reaches };
        let flows = [flow(false), flow(true)];
        let mut compiler = Compiler {
            program,
            flows: &flows,
            specifications,
            wanted,
            watching,
            opening: Vec::new(),
        };
        for function in program.functions.ids() {
            compiler.observe(function);
            compiler.contribute(function);
            compiler.sizes(function);
        }
        compiler.descriptors();
        compiler.watching
    }

    /// The rule a violation is reported under.
    pub fn rule(&self, kind: FaultKind) -> Option<&str> {
        let FaultKind::Rule(number) = kind else { return None };
        self.rules.get(number as usize).map(String::as_str)
    }

    /// What a violation of a specification says, with the names its variables have there.
    pub fn message(
        &self,
        at: (FunctionId, CodePoint),
        kind: FaultKind,
    ) -> Option<(&Template, &Bindings)> {
        let (template, bindings) = self.messages.get(&(at.0, at.1, kind))?;
        Some((template, bindings))
    }
}

/// Whether a number becomes a size or an index shows in a run: here it is taken as given.
struct ProgramFlow<'p> {
    program: &'p Program,
    uses: Uses,
    reaches: bool,
}

impl Flow for ProgramFlow<'_> {
    fn reaches_size(&self, _: FunctionId, _: Operand) -> bool {
        self.reaches
    }

    fn masks(&self, function: FunctionId, value: Operand) -> bool {
        masks(&self.uses, self.program, function, value)
    }
}

struct Compiler<'a> {
    program: &'a Program,
    flows: &'a [ProgramFlow<'a>; 2],
    specifications: &'a spec::Rules,
    wanted: &'a Rules,
    watching: Watching,
    /// Calls that answer with a descriptor.
    opening: Vec<(FunctionId, InstId)>,
}

impl Compiler<'_> {
    fn observe(&mut self, function: FunctionId) {
        for found in self.specifications.observed_patterns.scan(self.program, function) {
            let observed = self.specifications.observed(found.pattern);
            let fault = self.specifications.fault(observed.fault);
            let is_wanted = self.wanted.watch(&fault.id)
                && (self.wanted.is_strict || !observed.strict)
                && !BY_MEMORY.contains(&&*fault.id);
            if !is_wanted || self.ends_run(function, found.point) {
                continue;
            }
            let kind = self.kind(&fault.id);
            let by_itself = self.check(function, &found, kind, false);
            let Some(check) = by_itself.or_else(|| self.check(function, &found, kind, true)) else {
                continue;
            };
            if let Some(message) = &observed.message {
                let told = (message.clone(), found.bindings.clone());
                self.watching.messages.entry((function, found.point, kind)).or_insert(told);
            }
            match found.point {
                CodePoint::Inst(inst) => self.watching.watch.check(function, inst, check),
                CodePoint::Terminator(block) => {
                    self.watching.watch.check_end(function, block, check);
                }
            }
        }
    }

    /// What a run asks at a match, if `reaches` once a number becomes a size or an index.
    fn check(
        &self,
        function: FunctionId,
        found: &Found,
        kind: FaultKind,
        reaches: bool,
    ) -> Option<Check> {
        let observed = self.specifications.observed(found.pattern);
        let text = self.text(function, found.point, reaches);
        let at = Match { text, bindings: &found.bindings };
        let when = match &observed.condition {
            Some(condition) => at.formula(condition)?,
            None => Formula::Known(true),
        };
        let require = at.formula(&observed.require)?;
        if when == Formula::Known(false) || require == Formula::Known(true) {
            return None;
        }
        let meant = if reaches { Some(self.meant(function, found.point, &at)?) } else { None };
        Some(Check { kind, when, require, meant })
    }

    /// The number that an operation means, whatever it comes to.
    fn meant(&self, function: FunctionId, point: CodePoint, at: &Match) -> Option<Term> {
        let value = |operand: Operand| at.value(operand, &Argument::Operand(operand));
        match self.op(function, point)? {
            Op::Binary { op, lhs, rhs, .. } => {
                let (a, b) = (value(*lhs)?, value(*rhs)?);
                // What C writes as `y - 1` may be compiled to adding the largest number there is.
                let b = match (op, b) {
                    (BinaryOp::Add, Term::Number(number)) => {
                        Term::Number(self.nearest(function, point, number)?)
                    }
                    (_, b) => b,
                };
                let (a, b) = (Box::new(a), Box::new(b));
                Some(match op {
                    BinaryOp::Add => Term::Sum(a, b),
                    BinaryOp::Sub => Term::Difference(a, b),
                    BinaryOp::Mul => Term::Product(a, b),
                    _ => return None,
                })
            }
            Op::Convert(conversion) => value(conversion.value),
            _ => None,
        }
    }

    fn nearest(&self, function: FunctionId, point: CodePoint, number: i128) -> Option<i128> {
        let CodePoint::Inst(inst) = point else { return None };
        let body = self.program.functions[function].body.as_ref()?;
        match body.insts.get(inst)?.ty {
            Ty::Int(bits) => Some(interpret::signed(number as u128, bits)),
            _ => None,
        }
    }

    /// Which numbers are descriptors: those that an opening call answers, wherever they go.
    fn descriptors(&mut self) {
        let opening = self.opening.drain(..).collect();
        let found = Descriptors::new(self.program, opening);
        let mut values: Vec<_> = found.values.iter().copied().collect();
        values.sort_unstable();
        for (function, inst) in values {
            self.watching.watch.descriptor(function, inst);
        }
        for (function, index) in &found.parameters {
            self.watching.watch.descriptor_parameter(*function, *index);
        }
        for (function, data) in self.program.functions.iter_enumerated() {
            let Some(body) = &data.body else { continue };
            let bound = |inst: &program::Inst| match &inst.op {
                Op::Bind { variable, value } if found.has(function, *value) => Some(*variable),
                _ => None,
            };
            let variables: Vec<_> = body.insts.iter().filter_map(bound).collect();
            for (id, inst) in body.insts.iter_enumerated() {
                if matches!(&inst.op, Op::Bind { variable, .. } if variables.contains(variable)) {
                    self.watching.watch.reference(function, id);
                }
                if let Op::Store { value, .. } = &inst.op
                    && found.has(function, *value)
                {
                    self.watching.watch.descriptor_store(function, id);
                }
            }
        }
    }

    /// Which operands of calls are amounts of memory.
    fn sizes(&mut self, function: FunctionId) {
        let Some(body) = &self.program.functions[function].body else { return };
        for (id, inst) in body.insts.iter_enumerated() {
            let Op::Call(call) = &inst.op else { continue };
            let Callee::Function(callee) = &call.callee else { continue };
            let callee = &self.program.functions[*callee];
            let external = facts::externals::lookup(&callee.name).filter(|_| callee.body.is_none());
            let takes_amounts = external.is_some_and(|external| {
                external.is_allocator
                    || (!external.writes.is_empty() && !callee.is_variadic)
                    || !external.copies.is_empty()
            });
            if !takes_amounts {
                continue;
            }
            let ty = |arg: &Operand| {
                body.operand_ty(
                    *arg,
                    &self.program.functions[function].params,
                    &self.program.constants,
                )
            };
            let numbers = call.args.iter().filter(|arg| matches!(ty(arg), Ty::Int(64)));
            self.watching.watch.size_operands(function, id, numbers.copied().collect());
        }
    }

    fn contribute(&mut self, function: FunctionId) {
        for found in self.specifications.contributing_patterns.scan(self.program, function) {
            let CodePoint::Inst(inst) = found.point else { continue };
            let contributing = self.specifications.contributing(found.pattern);
            let at =
                Match { text: self.text(function, found.point, true), bindings: &found.bindings };
            let when = match &contributing.condition {
                Some(condition) => at.formula(condition),
                None => Some(Formula::Known(true)),
            };
            let effects = at.effects(&contributing.commands);
            if self.watching.watch.leaks && self.opens(function, inst, &effects) {
                self.opening.push((function, inst));
            }
            match when {
                None | Some(Formula::Known(false)) => {}
                _ if effects.is_empty() => {}
                Some(Formula::Known(true)) => {
                    self.watching.watch.effects(function, inst, effects);
                }
                Some(when) => {
                    let choice = vec![Effect::Choose(vec![(when, effects)])];
                    self.watching.watch.effects(function, inst, choice);
                }
            }
        }
    }

    /// Whether a call answers with a descriptor that it opened.
    fn opens(&self, function: FunctionId, inst: InstId, effects: &[Effect]) -> bool {
        let Some(body) = &self.program.functions[function].body else { return false };
        effects.iter().any(|effect| match effect {
            Effect::Set { attribute, of, value: Term::Number(code) } => {
                self.watching.watch.open == Some((*attribute, *code))
                    && *of == Operand::Inst(inst)
                    && matches!(body.insts[inst].ty, Ty::Int(_))
            }
            Effect::Set { .. } => false,
            Effect::Choose(ways) => {
                ways.iter().any(|(_, effects)| self.opens(function, inst, effects))
            }
        })
    }

    fn text(&self, function: FunctionId, point: CodePoint, reaches: bool) -> Text<'_, '_> {
        let inst = match point {
            CodePoint::Inst(inst) => Some(inst),
            CodePoint::Terminator(_) => None,
        };
        let flow = &self.flows[usize::from(reaches)];
        Text { program: self.program, flow, function, inst }
    }

    fn op(&self, function: FunctionId, point: CodePoint) -> Option<&Op> {
        let CodePoint::Inst(inst) = point else { return None };
        Some(&self.program.functions[function].body.as_ref()?.insts.get(inst)?.op)
    }

    /// What the language leaves undefined ends a run by itself. Nor are the compiler's own
    /// numbers asked about: distances between pointers, and floating point.
    fn ends_run(&self, function: FunctionId, point: CodePoint) -> bool {
        match self.op(function, point) {
            Some(Op::Binary { op, lhs, rhs, no_signed_wrap, .. }) => {
                let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
                let of_pointers = [lhs, rhs].iter().any(|side| self.is_distance(function, **side));
                is_sum && (*no_signed_wrap || of_pointers)
            }
            Some(Op::Convert(conversion)) => {
                use ConversionKind::{PointerToInt, SignChange, SignExtend, Truncate, ZeroExtend};
                let is_integer = matches!(
                    conversion.kind,
                    SignChange | SignExtend | Truncate | ZeroExtend | PointerToInt
                );
                !is_integer || self.is_distance(function, conversion.value)
            }
            _ => false,
        }
    }

    /// Whether a number was made from addresses: of these only distances mean something.
    fn is_distance(&self, function: FunctionId, value: Operand) -> bool {
        let Operand::Inst(inst) = value else { return false };
        let Some(body) = &self.program.functions[function].body else { return false };
        match &body.insts[inst].op {
            Op::Convert(conversion) => conversion.kind == ConversionKind::PointerToInt,
            _ => false,
        }
    }

    fn kind(&mut self, rule: &str) -> FaultKind {
        match rule {
            "integer-truncation" => FaultKind::Truncation,
            "integer-signedness" => FaultKind::SignChange,
            "integer-overflow" => FaultKind::Wrap,
            _ => {
                let known = self.watching.rules.iter().position(|known| known == rule);
                let number = known.unwrap_or_else(|| {
                    self.watching.rules.push(rule.to_owned());
                    self.watching.rules.len() - 1
                });
                FaultKind::Rule(u16::try_from(number).unwrap_or(u16::MAX))
            }
        }
    }
}

/// The point of a run as specifications have it.
pub fn code_point(point: interpret::Point) -> CodePoint {
    match point {
        interpret::Point::Inst(inst) => CodePoint::Inst(InstId(inst.0)),
        interpret::Point::End(block) => CodePoint::Terminator(block),
    }
}
