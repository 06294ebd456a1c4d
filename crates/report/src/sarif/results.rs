//! Findings as results: one for each fault, deviation, statement, corruption, repair and
//! suggestion.

use std::collections::BTreeMap;

use findings::{
    Change, Corruption, Deviation, Fault, Findings, Place, RaceAccess, Repair, Severity, Statement,
    Step, Suggestion,
};
use serde_json::{Map, Value, json};

use super::line_hash::line_hashes;
use super::rules::level;
use super::{fixes, location};
use crate::rules::{CORRUPTION, REPAIR, STATEMENT, SUGGESTION};
use crate::sources::Sources;

/// GitHub shows a hundred locations of a result and refuses more than a thousand.
const MAX_RELATED: usize = 100;

/// GitHub shows a thousand steps of a result and refuses more than ten thousand.
const MAX_STEPS: usize = 1000;

/// One thing that was found.
#[derive(Clone, Copy)]
pub enum Item<'a> {
    Fault(&'a Fault),
    Deviation(&'a Deviation),
    Statement(&'a Statement),
    Corruption(&'a Corruption),
    Repair(&'a Repair),
    Suggestion(&'a Suggestion),
}

impl<'a> Item<'a> {
    /// Everything that was found, in the order of the findings.
    pub fn all(findings: &'a Findings) -> Vec<Item<'a>> {
        let alone = findings.repairs.iter().filter(|repair| repair.fault.is_none());
        let faults = findings.faults.iter().map(Item::Fault);
        faults
            .chain(findings.deviations.iter().map(Item::Deviation))
            .chain(findings.statements.iter().map(Item::Statement))
            .chain(findings.corruption.iter().map(Item::Corruption))
            .chain(alone.map(Item::Repair))
            .chain(findings.suggestions.iter().map(Item::Suggestion))
            .collect()
    }

    /// By what it is dropped where there are too many.
    pub fn severity(self) -> Severity {
        match self {
            Item::Fault(fault) => fault.severity,
            Item::Deviation(_) | Item::Statement(_) => Severity::Warning,
            Item::Corruption(_) => Severity::Error,
            Item::Repair(_) | Item::Suggestion(_) => Severity::Note,
        }
    }
}

/// Makes results one by one: all of them as values would take a hundred times the memory of
/// the findings.
pub struct Results<'a> {
    findings: &'a Findings,
    sources: &'a mut Sources,
    /// GitHub's values of lines, by file.
    hashes: BTreeMap<String, Vec<String>>,
    /// By fault: what it causes, and what causes it.
    effects: BTreeMap<&'a str, Vec<&'a Fault>>,
    causes: BTreeMap<&'a str, Vec<&'a Fault>>,
}

impl<'a> Results<'a> {
    pub fn new(findings: &'a Findings, sources: &'a mut Sources) -> Self {
        let by_id: BTreeMap<&str, &Fault> =
            findings.faults.iter().map(|fault| (fault.id.as_str(), fault)).collect();
        let (mut effects, mut causes) = (BTreeMap::new(), BTreeMap::new());
        let add = |map: &mut BTreeMap<&'a str, Vec<&'a Fault>>, of: &'a str, other: &str| {
            map.entry(of).or_default().extend(by_id.get(other));
        };
        for edge in &findings.correlations {
            add(&mut effects, &edge.from, &edge.to);
            add(&mut causes, &edge.to, &edge.from);
        }
        Self { findings, sources, hashes: BTreeMap::new(), effects, causes }
    }

    pub fn result(&mut self, item: Item) -> Value {
        match item {
            Item::Fault(fault) => self.fault(fault),
            Item::Deviation(deviation) => self.deviation(deviation),
            Item::Statement(statement) => self.statement(statement),
            Item::Corruption(corruption) => self.corruption(corruption),
            Item::Repair(repair) => self.repair(repair),
            Item::Suggestion(suggestion) => self.suggestion(suggestion),
        }
    }
}

/// A message that links to places.
#[derive(Default)]
struct Message {
    text: String,
    related: Vec<Value>,
}

impl Message {
    fn new(text: &str) -> Self {
        Self { text: unlinked(text), related: Vec::new() }
    }

    fn say(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// The text as a link to a place that says `note`; plain text where there is no place.
    fn link(&mut self, text: &str, place: &Place, note: &str, sources: &mut Sources) {
        let id = self.related.len() + 1;
        let location = location::described(place, note, sources).filter(|_| id <= MAX_RELATED);
        let Some(mut location) = location else { return self.say(text) };
        location.insert("id".to_owned(), id.into());
        self.related.push(location.into());
        self.say(&format!("[{}]({id})", escaped(text)));
    }
}

/// Brackets of the code must not become links.
fn unlinked(text: &str) -> String {
    if text.contains("](") { escaped(text) } else { text.to_owned() }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

impl Results<'_> {
    fn fault(&mut self, fault: &Fault) -> Value {
        let mut message = Message::new(&fault.message);
        if let Some(first) = fault.segments.first().and_then(|segment| segment.steps.first())
            && first.place != fault.place
        {
            message.say("; it begins where ");
            message.link(&first.note, &first.place, &first.note, self.sources);
        }
        self.causes(fault, &mut message);
        if let Some(input) = &fault.witness {
            message.say(&format!(
                "; {}, happens with: {}",
                fault.level.name(),
                unlinked(&input.told())
            ));
        }
        let flows = fault.segments.iter().map(|segment| segment.steps.as_slice());
        let limit = MAX_STEPS / fault.segments.len().max(1);
        let flows = self.code_flows(flows.map(|steps| vec![steps]), limit);
        let mut extra = Map::new();
        extra.insert("codeFlows".to_owned(), flows);
        let repairs = self.findings.repairs.iter();
        let repairs = repairs.filter(|repair| repair.fault.as_ref() == Some(&fault.id));
        let repairs: Vec<&Repair> = repairs.collect();
        let fix = |r: &&Repair| self.fix(&r.changes, &with_verified(&r.why, &r.verified));
        let fixes: Vec<Value> = repairs.iter().filter_map(fix).collect();
        extra.insert("fixes".to_owned(), fixes.into());
        let properties = json!({
            "id": fault.id, "verdict": fault.verdict, "origin": fault.origin,
            "inputDependent": fault.input_dependent, "errorState": fault.error_state,
            "group": fault.group, "paths": fault.n_paths, "level": fault.level, "witness": fault.witness,
        });
        extra.insert("properties".to_owned(), properties);
        extra.insert("rank".to_owned(), fault.level.rank().into());
        let identity = Some(fault.fingerprint.as_str());
        self.assembled((&fault.rule, fault.severity), &fault.place, message, extra, identity)
    }

    /// What the fault causes, and what causes it.
    fn causes(&mut self, fault: &Fault, message: &mut Message) {
        let id = fault.id.as_str();
        for (words, others) in [("causes", &self.effects), ("is caused by", &self.causes)] {
            let others = others.get(id).map_or(&[][..], Vec::as_slice);
            for (index, other) in others.iter().enumerate() {
                message.say(&if index == 0 { format!("; {words} ") } else { ", ".to_owned() });
                let text = format!("{} [{}]", other.message, other.rule);
                message.link(&text, &other.place, &text, self.sources);
            }
        }
    }

    fn deviation(&mut self, deviation: &Deviation) -> Value {
        let mut message = Message::new(&deviation.message);
        let others = deviation.counterexamples.iter().filter(|e| e.place != deviation.place);
        let examples = deviation.examples.iter().map(|example| ("follows the rule", example));
        for (words, example) in
            examples.chain(others.map(|example| ("does not follow it either", example)))
        {
            let note = match example.note.as_str() {
                "" => words.to_owned(),
                note => format!("{words}: {note}"),
            };
            message.say("; ");
            message.link(&note, &example.place, &note, self.sources);
        }
        let mut extra = Map::new();
        let properties = json!({
            "rank": deviation.rank, "z": deviation.z, "score": deviation.score,
            "slots": deviation.slots, "followed": deviation.n_followed, "broken": deviation.n_broken,
        });
        extra.insert("properties".to_owned(), properties);
        let rule = (deviation.template.as_str(), Severity::Warning);
        self.assembled(rule, &deviation.place, message, extra, Some(&deviation.fingerprint))
    }

    fn statement(&mut self, statement: &Statement) -> Value {
        let mut text = format!("suspicious, rank {}", statement.rank);
        for sentence in &statement.evidence {
            text.push_str("; ");
            text.push_str(sentence);
        }
        let mut extra = Map::new();
        let properties = json!({
            "rank": statement.rank, "suspiciousness": statement.suspiciousness,
            "measures": statement.measures,
        });
        extra.insert("properties".to_owned(), properties);
        let rule = (STATEMENT, Severity::Warning);
        self.assembled(rule, &statement.place, Message::new(&text), extra, None)
    }

    fn corruption(&mut self, corruption: &Corruption) -> Value {
        let mut message = Message::new(&match corruption.message.as_str() {
            "" => format!("memory is first corrupted here ({})", corruption.kind),
            message => message.to_owned(),
        });
        for access in &corruption.race {
            message.say("; ");
            let note = format!("{} of thread {}", access.access, access.thread);
            message.link(&note, &access.place, &note, self.sources);
        }
        let race: Vec<Vec<Step>> = corruption.race.iter().map(calls).collect();
        let mut flows = vec![vec![corruption.chain.as_slice()]];
        // Two threads of one flow: that is what a race is.
        flows.push(race.iter().map(Vec::as_slice).collect());
        let mut extra = Map::new();
        extra.insert("codeFlows".to_owned(), self.code_flows(flows.into_iter(), MAX_STEPS / 4));
        let properties = json!({
            "kind": corruption.kind, "executions": corruption.executions,
            "variableOrder": corruption.variable_order,
        });
        extra.insert("properties".to_owned(), properties);
        self.assembled((CORRUPTION, Severity::Error), &corruption.place, message, extra, None)
    }

    fn repair(&mut self, repair: &Repair) -> Value {
        let mut text = match repair.why.as_str() {
            "" => format!("repair, rank {}", repair.rank),
            why => why.to_owned(),
        };
        for verified in &repair.verified {
            text.push_str("; ");
            text.push_str(verified);
        }
        let mut extra = Map::new();
        let flows = std::iter::once(vec![repair.steps.as_slice()]);
        extra.insert("codeFlows".to_owned(), self.code_flows(flows, MAX_STEPS));
        let why = with_verified(&repair.why, &repair.verified);
        let fixes: Vec<Value> = self.fix(&repair.changes, &why).into_iter().collect();
        extra.insert("fixes".to_owned(), fixes.into());
        extra.insert("properties".to_owned(), json!({"rank": repair.rank}));
        let place = repair.changes.first().map(|change| change.place.clone());
        let place = place.or_else(|| repair.steps.last().map(|step| step.place.clone()));
        let rule = (REPAIR, Severity::Note);
        self.assembled(rule, &place.unwrap_or_default(), Message::new(&text), extra, None)
    }

    fn suggestion(&mut self, suggestion: &Suggestion) -> Value {
        let mut text = suggestion.description.clone();
        for sentence in suggestion.because.iter().chain(&suggestion.verified) {
            text.push_str("; ");
            text.push_str(sentence);
        }
        let mut extra = Map::new();
        let fixes = self.fix(&suggestion.changes, &suggestion.description);
        extra.insert("fixes".to_owned(), fixes.into_iter().collect::<Vec<_>>().into());
        let properties = json!({"rank": suggestion.rank, "confidence": suggestion.confidence});
        extra.insert("properties".to_owned(), properties);
        // Without an edit, it is about the statement that was asked about.
        let place = suggestion.changes.first().map(|change| &change.place);
        let place = place.or(suggestion.place.as_ref());
        let place = place.or_else(|| self.findings.statements.first().map(|s| &s.place));
        let place = place.cloned().unwrap_or_default();
        let rule = (SUGGESTION, Severity::Note);
        self.assembled(rule, &place, Message::new(&text), extra, None)
    }

    fn assembled(
        &mut self,
        (rule, severity): (&str, Severity),
        place: &Place,
        message: Message,
        extra: Map<String, Value>,
        identity: Option<&str>,
    ) -> Value {
        let place_of = location::location(place, self.sources);
        let mut result = Map::new();
        result.insert("ruleId".to_owned(), rule.into());
        result.insert("level".to_owned(), level(severity).into());
        result.insert("message".to_owned(), json!({"text": message.text}));
        result.insert("locations".to_owned(), Vec::from_iter(place_of).into());
        result.insert("relatedLocations".to_owned(), message.related.into());
        result.insert("partialFingerprints".to_owned(), self.fingerprints(place, identity));
        result.extend(extra);
        // What is empty says nothing.
        result.retain(|_, value| match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            _ => true,
        });
        result.into()
    }

    fn fingerprints(&mut self, place: &Place, identity: Option<&str>) -> Value {
        let mut prints = Map::new();
        if let Some(own) = identity.filter(|own| !own.is_empty()) {
            prints.insert("firstfault/v1".to_owned(), own.into());
        }
        let (sources, file) = (&mut *self.sources, &place.file);
        let hashes = self
            .hashes
            .entry(file.clone())
            .or_insert_with(|| sources.content(file).map(line_hashes).unwrap_or_default());
        let line = (place.line as usize).checked_sub(1).and_then(|index| hashes.get(index));
        if let Some(hash) = line {
            prints.insert("primaryLocationLineHash".to_owned(), hash.as_str().into());
        }
        prints.into()
    }

    /// Flows of one or more threads each.
    fn code_flows<'s>(
        &mut self,
        flows: impl Iterator<Item = Vec<&'s [Step]>>,
        limit: usize,
    ) -> Value {
        let mut all = Vec::new();
        for threads in flows {
            let threads = threads.iter().enumerate().filter_map(|(index, steps)| {
                let mut flow = location::thread_flow(steps, limit, self.sources)?;
                flow["id"] = format!("thread {}", index + 1).into();
                Some(flow)
            });
            let threads: Vec<Value> = threads.collect();
            if !threads.is_empty() {
                all.push(json!({"threadFlows": threads}));
            }
        }
        all.into()
    }

    fn fix(&mut self, changes: &[Change], why: &str) -> Option<Value> {
        let why = if why.is_empty() { "repair" } else { why };
        fixes::fix(changes, why, self.sources)
    }
}

/// Why a change is proposed, and what was checked of it.
fn with_verified(why: &str, verified: &[String]) -> String {
    let why = Some(why.to_owned()).filter(|why| !why.is_empty());
    why.into_iter().chain(verified.iter().cloned()).collect::<Vec<_>>().join("; ")
}

/// The calls that lead to an access, outermost first, and the access.
fn calls(access: &RaceAccess) -> Vec<Step> {
    let step = |place: &Place, note: String, depth: usize, impact| Step {
        place: place.clone(),
        note,
        impact,
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
    };
    let outer = access.stack.iter().rev().filter(|place| **place != access.place);
    let mut steps: Vec<Step> = outer
        .enumerate()
        .map(|(depth, place)| step(place, format!("in {}", place.function), depth, false))
        .collect();
    let depth = steps.len();
    steps.push(step(
        &access.place,
        format!("{} of thread {}", access.access, access.thread),
        depth,
        true,
    ));
    steps
}
