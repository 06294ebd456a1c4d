//! What is printed parses to what was printed, for trees nobody would write by hand.

use proptest::prelude::*;
use spec::ast::{
    Arg, BinaryOp, Command, Comparator, Condition, Contribute, Expr, ExprKind, Observe, Place,
    Point, Severity, Spec, SpecKind, Var, VarIndex, VarKind,
};
use spec::attribute::AttributeId;
use spec::parser::parse;
use spec::{Span, c, print, show};

fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn attribute(name: &str, var: u32) -> Expr {
    let attribute = AttributeId::find(name).unwrap();
    expr_of(ExprKind::Attr { attribute, args: vec![Arg::Var(VarIndex(var))] })
}

fn number() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-5i128..300).prop_map(|value| expr_of(ExprKind::Int(value))),
        (0u32..3).prop_map(|var| attribute("Value", var)),
        (0u32..2).prop_map(|var| attribute("Size", var)),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        let ops = prop::sample::select(vec![
            BinaryOp::Add,
            BinaryOp::Sub,
            BinaryOp::Mul,
            BinaryOp::Div,
            BinaryOp::Rem,
        ]);
        prop_oneof![
            (ops, pair.clone()).prop_map(|(op, (left, right))| expr_of(ExprKind::Binary {
                op,
                left: left.into(),
                right: right.into()
            })),
            pair.clone().prop_map(|(a, b)| expr_of(ExprKind::Min(a.into(), b.into()))),
            pair.prop_map(|(a, b)| expr_of(ExprKind::Max(a.into(), b.into()))),
            (0u32..3).prop_map(|v| expr_of(ExprKind::Negate(attribute("Value", v).into()))),
        ]
    })
}

fn condition() -> impl Strategy<Value = Condition> {
    use Comparator::{Eq, Ge, Gt, In, Le, Lt, Ne, NotIn};
    let plain = prop::sample::select(vec![Eq, Ne, Lt, Le, Gt, Ge]);
    let range =
        (number(), number(), number(), any::<bool>()).prop_map(|(left, low, high, inside)| {
            let right = expr_of(ExprKind::Range(low.into(), high.into()));
            Condition::Compare { comparator: if inside { In } else { NotIn }, left, right }
        });
    let truth = |var| attribute("Init", var);
    let leaf = prop_oneof![
        (plain, number(), number()).prop_map(|(comparator, left, right)| Condition::Compare {
            comparator,
            left,
            right
        }),
        range,
        (0u32..3).prop_map(move |var| Condition::Holds(truth(var))),
        (0u32..3, any::<bool>()).prop_map(move |(var, value)| Condition::Compare {
            comparator: Eq,
            left: expr_of(ExprKind::Not(truth(var).into())),
            right: expr_of(ExprKind::Bool(value)),
        }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::And),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|c| Condition::Not(c.into())),
        ]
    })
}

fn command() -> impl Strategy<Value = Command> {
    let input = |e: Expr| expr_of(ExprKind::Input(e.into()));
    let leaf = prop_oneof![
        (0u32..3, number())
            .prop_map(|(var, value)| Command::Assign { target: attribute("Value", var), value }),
        (number(), number()).prop_map(move |(low, high)| Command::Assign {
            target: attribute("Len", 0),
            value: input(expr_of(ExprKind::Range(low.into(), high.into()))),
        }),
        condition().prop_map(Command::Assume),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        let some = prop::collection::vec(inner, 1..3);
        let maybe = prop_oneof![Just(Vec::new()), some.clone()];
        prop_oneof![
            (condition(), some.clone(), maybe.clone()).prop_map(|(condition, then, otherwise)| {
                Command::When { condition, then, otherwise }
            }),
            (some.clone(), maybe).prop_map(|(first, otherwise)| Command::May { first, otherwise }),
            prop::collection::vec(some, 2..3).prop_map(Command::Either),
        ]
    })
}

fn code() -> impl Strategy<Value = c::Expr> {
    use c::Expr as E;
    let leaf = prop_oneof![
        Just(E::Any),
        Just(E::Null),
        (0u32..3).prop_map(|var| E::Var(VarIndex(var))),
        prop::sample::select(vec!["foo", "bar_2"]).prop_map(|name| E::Name(name.to_string())),
        (-3i128..100).prop_map(E::Int),
        Just(E::Text("a %d b".to_string())),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let pair = (inner.clone(), inner.clone());
        let signs = prop::sample::select(c::BinaryOp::ALL.map(|(_, op, _)| op).to_vec());
        let types = prop_oneof![
            Just(c::TypeName::Any),
            Just(c::TypeName::Named { words: vec!["unsigned".into(), "int".into()], stars: 1 }),
        ];
        let named = || E::Name("member".to_string());
        prop_oneof![
            (signs, pair.clone()).prop_map(|(op, (a, b))| E::Binary(op, a.into(), b.into())),
            pair.prop_map(|(a, b)| E::Index(a.into(), b.into())),
            (inner.clone(), any::<bool>()).prop_map(move |(base, arrow)| E::Field {
                base: base.into(),
                arrow,
                member: named().into()
            }),
            inner.clone().prop_map(|a| E::Deref(a.into())),
            inner.clone().prop_map(|a| E::AddressOf(a.into())),
            inner.clone().prop_map(|a| E::Unary(c::UnaryOp::Not, a.into())),
            (inner.clone(), any::<bool>(), any::<bool>()).prop_map(|(a, up, prefix)| E::Step {
                target: a.into(),
                up,
                prefix
            }),
            (types, inner.clone()).prop_map(|(t, a)| E::Cast(t, a.into())),
            (inner.clone(), prop::collection::vec(inner, 0..3))
                .prop_map(|(callee, args)| E::Call { callee: callee.into(), args }),
        ]
    })
}

fn vars() -> Vec<Var> {
    [("a", VarKind::Buffer), ("b", VarKind::Buffer), ("n", VarKind::Int)]
        .map(|(name, kind)| Var { name: name.to_string(), kind, span: Span::default() })
        .to_vec()
}

struct Declared(Vec<Var>);

impl c::Names for Declared {
    fn var(&self, name: &str) -> Option<VarIndex> {
        self.0.iter().position(|var| var.name == name).map(|index| VarIndex(index as u32))
    }
}

fn spec_of(require: Condition, commands: Vec<Command>) -> Spec {
    let args = vec![VarIndex(0), VarIndex(2)];
    let place = Place::Event { name: "write".to_string(), args, span: Span::default() };
    let point = Point { places: vec![place], condition: None, span: Span::default() };
    let narrowed = Point { condition: Some(require.clone()), ..point.clone() };
    Spec {
        kind: SpecKind::Fault,
        id: "x".to_string(),
        id_span: Span::default(),
        title: Some("a \"quoted\" title".to_string()),
        severity: Severity::Note,
        cwe: vec![1, 2],
        vars: vars(),
        observe: vec![Observe {
            strict: true,
            point,
            require: require.clone(),
            error_state: Some(require),
            message: None,
            span: Span::default(),
        }],
        contribute: vec![Contribute { point: narrowed, commands, span: Span::default() }],
        error_state: None,
        message: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn specifications_survive(require in condition(), commands in prop::collection::vec(command(), 1..4)) {
        let spec = spec_of(require, commands);
        let printed = print::print(&spec);
        let (again, diagnostics) = parse(&printed);
        prop_assert_eq!(&diagnostics, &Vec::new(), "{}", printed);
        prop_assert_eq!(show::show(&again), show::show(&spec), "{}", printed);
        prop_assert_eq!(print::print(&again), printed);
    }

}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn code_survives(expr in code()) {
        let vars = vars();
        let printed = expr.print(&vars);
        let again = c::parse_expressions(&printed, 0, &Declared(vars));
        prop_assert_eq!(again.map_err(|d| d.message), Ok(vec![expr]), "{}", printed);
    }
}
