//! Solutions of the repair program as changes of the source.

use std::collections::{BTreeMap, BTreeSet};

use findings::{Change, Place, Repair};
use program::{CType, Callee, Const, ConversionKind, Op, Operand, Program, TypeId};
use syntax::Source;

use super::sites::Site;
use super::solution::{New, Solution};
use crate::Request;
use explore::trace::values::shown;

/// The type of the value each site chooses.
pub struct Types<'p> {
    program: &'p Program,
    by_site: BTreeMap<u32, TypeId>,
}

impl<'p> Types<'p> {
    /// What is chosen is a `long long`, which the repair program converts to what it was.
    pub fn of(program: &'p Program) -> Self {
        let mut by_site = BTreeMap::new();
        for body in program.functions.iter().filter_map(|function| function.body.as_ref()) {
            for inst in body.insts.iter() {
                let Op::Convert(conversion) = &inst.op else { continue };
                let Operand::Inst(chosen) = conversion.value else { continue };
                let site = chosen_site(program, &body.insts[chosen].op);
                let is_pointer = conversion.kind == ConversionKind::IntToPointer;
                let ctype = if is_pointer { inst.ctype } else { conversion.to };
                by_site.extend(site.map(|site| (site, ctype)));
            }
        }
        Self { program, by_site }
    }

    /// A number as C writes it in this place; `None` for an address, which nobody writes.
    fn text(&self, site: u32, number: i64) -> Option<String> {
        let Some(ctype) = self.by_site.get(&site) else { return Some(number.to_string()) };
        match self.program.resolved_type(*ctype) {
            CType::Pointer(_) if number == 0 => Some("NULL".to_owned()),
            CType::Pointer(_) => None,
            _ => {
                let text = shown(self.program, *ctype, number as u64 as u128);
                Some(text.unwrap_or_else(|| number.to_string()))
            }
        }
    }
}

fn chosen_site(program: &Program, op: &Op) -> Option<u32> {
    let Op::Call(call) = op else { return None };
    let Callee::Function(id) = &call.callee else { return None };
    let is_choice =
        matches!(&*program.functions[*id].name, "firstfault_choose" | "firstfault_pick");
    let Operand::Const(site) = call.args.first().filter(|_| is_choice)? else { return None };
    match &program.constants[*site] {
        Const::Int { value, .. } => u32::try_from(*value).ok(),
        _ => None,
    }
}

pub struct Reporter<'a> {
    pub request: &'a Request<'a>,
    pub sources: &'a [Source],
    pub sites: &'a [Site],
    pub types: &'a Types<'a>,
}

impl Reporter<'_> {
    /// What a site becomes; `None` where it is an address.
    fn new_text(&self, site: u32, new: &New) -> Option<String> {
        let value = match new {
            New::Text(text) => text.clone(),
            New::Condition(decides) => u8::from(*decides).to_string(),
            New::Number(number) => self.types.text(site, *number)?,
        };
        Some(match &self.sites[site as usize].update {
            Some((target, _)) => format!("{target} = {value}"),
            None => value,
        })
    }

    fn old_text(&self, site: u32) -> String {
        let site = &self.sites[site as usize];
        self.sources[site.file].slice(&site.bytes)
    }

    /// What a solution changes: examples that are what was there change nothing.
    pub fn key(&self, solution: &Solution) -> BTreeSet<(u32, Option<String>)> {
        let changes = solution.sites.iter().zip(&solution.values);
        let texts = changes.map(|(site, new)| (*site, self.new_text(*site, new)));
        texts.filter(|(site, new)| new.as_ref() != Some(&self.old_text(*site))).collect()
    }

    pub fn repair(&self, solution: &Solution, rank: u32) -> Repair {
        let mut other_objects = Vec::new();
        let mut changes = Vec::new();
        for (number, new) in solution.sites.iter().zip(&solution.values) {
            let site = &self.sites[*number as usize];
            let (line, column) = self.sources[site.file].position(site.bytes.start);
            let old = self.old_text(*number);
            let new = self.new_text(*number, new).unwrap_or_else(|| {
                other_objects.push(format!("`{old}` in line {line}"));
                old.clone()
            });
            let file = self.request.files[site.file].path.clone();
            let place = Place { file, line, column, function: site.function.clone() };
            changes.push(Change { place, old, new });
        }
        let objects = match &other_objects[..] {
            [] => String::new(),
            [one] => format!(": {one} points to another object"),
            more => format!(": {} point to other objects", more.join(" and ")),
        };
        Repair {
            rank,
            fault: None,
            changes,
            steps: Vec::new(),
            verified: vec![solution.verified()],
            why: format!("a solution of the repair program{objects}"),
        }
    }
}
