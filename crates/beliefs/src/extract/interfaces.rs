//! What the implementations of one interface believe of their parameters: whether they may be
//! null.

use program::Ty;

use super::fate::fate_of_parameter;
use super::function::Fun;
use super::sink::{Row, Sink};
use super::summary::is_before_tests;
use crate::event::{Kind, Outcome, POINTER};

pub fn extract(fun: &Fun, sink: &mut Sink) {
    let interfaces = fun.known.interfaces(fun.key());
    if interfaces.is_empty() {
        return;
    }
    for (index, param) in (0u32..).zip(&fun.function.params) {
        if param.ty != Ty::Ptr {
            continue;
        }
        let fate = fate_of_parameter(fun, index);
        let unchecked = fate.dereferences.iter().find(|at| is_before_tests(fun, &fate, **at));
        let plain_test = fate
            .tests
            .iter()
            .find(|test| fun.macro_around(fun.body.insts[test.inst].loc).is_none());
        let (outcome, at) = match (unchecked, plain_test) {
            (Some(at), _) => (Outcome::Dereferenced, *at),
            (None, Some(test)) => (Outcome::Checked, test.inst),
            (None, None) => continue,
        };
        let variable = param.variable.map(|variable| &*fun.body.variables[variable].name);
        let parameter = format!("parameter {}", index + 1);
        for interface in interfaces {
            let site = sink.site();
            let row = Row {
                b: &parameter,
                detail: variable.unwrap_or_default(),
                flags: POINTER,
                other_line: fun.line(fun.body.insts[at].loc),
                ..Row::new(Kind::Interface, outcome, interface)
            };
            sink.add(fun, fun.body.insts[at].loc, site, row);
        }
    }
}
