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

/// A result, and by what it is dropped where there are too many.
pub struct Found {
    pub severity: Severity,
    pub result: Value,
}

/// Everything that was found, in the order of the findings.
pub fn results(findings: &Findings, sources: &mut Sources) -> Vec<Found> {
    let mut all = Results { findings, sources, hashes: BTreeMap::new(), found: Vec::new() };
    findings.faults.iter().for_each(|fault| all.fault(fault));
    findings.deviations.iter().for_each(|deviation| all.deviation(deviation));
    findings.statements.iter().for_each(|statement| all.statement(statement));
    findings.corruption.iter().for_each(|corruption| all.corruption(corruption));
    let alone = findings.repairs.iter().filter(|repair| repair.fault.is_none());
    alone.for_each(|repair| all.repair(repair));
    findings.suggestions.iter().for_each(|suggestion| all.suggestion(suggestion));
    all.found
}

struct Results<'a> {
    findings: &'a Findings,
    sources: &'a mut Sources,
    /// GitHub's values of lines, by file.
    hashes: BTreeMap<String, Vec<String>>,
    found: Vec<Found>,
}

/// A message that links to places.
#[derive(Default)]
struct Message {
    text: String,
    related: Vec<Value>,
}

impl Message {
    fn new(text: &str) -> Self {
        // Brackets of the code must not become links.
        let text = if text.contains("](") { escaped(text) } else { text.to_owned() };
        Self { text, related: Vec::new() }
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

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

impl Results<'_> {
    fn fault(&mut self, fault: &Fault) {
        let mut message = Message::new(&fault.message);
        if let Some(first) = fault.segments.first().and_then(|segment| segment.steps.first())
            && first.place != fault.place
        {
            message.say("; it begins where ");
            message.link(&first.note, &first.place, &first.note, self.sources);
        }
        self.causes(fault, &mut message);
        let flows = fault.segments.iter().map(|segment| segment.steps.as_slice());
        let limit = MAX_STEPS / fault.segments.len().max(1);
        let flows = self.code_flows(flows.map(|steps| vec![steps]), limit);
        let mut extra = Map::new();
        extra.insert("codeFlows".to_owned(), flows);
        let repairs = self.findings.repairs.iter();
        let repairs = repairs.filter(|repair| repair.fault.as_ref() == Some(&fault.id));
        let fixes: Vec<Value> = repairs.filter_map(|r| self.fix(&r.changes, &r.why)).collect();
        extra.insert("fixes".to_owned(), fixes.into());
        let properties = json!({
            "id": fault.id, "verdict": fault.verdict, "origin": fault.origin,
            "inputDependent": fault.input_dependent, "errorState": fault.error_state,
            "group": fault.group, "paths": fault.n_paths,
        });
        extra.insert("properties".to_owned(), properties);
        let identity = Some(fault.fingerprint.as_str());
        self.add((&fault.rule, fault.severity), &fault.place, message, extra, identity);
    }

    /// What the fault causes, and what causes it.
    fn causes(&mut self, fault: &Fault, message: &mut Message) {
        let findings = self.findings;
        let find = |id: &str| findings.faults.iter().find(|fault| fault.id == id);
        for (words, effects) in [("causes", true), ("is caused by", false)] {
            let others = findings.correlations.iter().filter_map(|edge| match effects {
                true if edge.from == fault.id => find(&edge.to),
                false if edge.to == fault.id => find(&edge.from),
                _ => None,
            });
            for (index, other) in others.enumerate() {
                message.say(&if index == 0 { format!("; {words} ") } else { ", ".to_owned() });
                let text = format!("{} [{}]", other.message, other.rule);
                message.link(&text, &other.place, &text, self.sources);
            }
        }
    }

    fn deviation(&mut self, deviation: &Deviation) {
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
        self.add(rule, &deviation.place, message, extra, Some(&deviation.fingerprint));
    }

    fn statement(&mut self, statement: &Statement) {
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
        self.add(rule, &statement.place, Message::new(&text), extra, None);
    }

    fn corruption(&mut self, corruption: &Corruption) {
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
        self.add((CORRUPTION, Severity::Error), &corruption.place, message, extra, None);
    }

    fn repair(&mut self, repair: &Repair) {
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
        let fixes: Vec<Value> = self.fix(&repair.changes, &repair.why).into_iter().collect();
        extra.insert("fixes".to_owned(), fixes.into());
        extra.insert("properties".to_owned(), json!({"rank": repair.rank}));
        let place = repair.changes.first().map(|change| change.place.clone());
        let place = place.or_else(|| repair.steps.last().map(|step| step.place.clone()));
        let rule = (REPAIR, Severity::Note);
        self.add(rule, &place.unwrap_or_default(), Message::new(&text), extra, None);
    }

    fn suggestion(&mut self, suggestion: &Suggestion) {
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
        self.add(rule, &place, Message::new(&text), extra, None);
    }

    fn add(
        &mut self,
        (rule, severity): (&str, Severity),
        place: &Place,
        message: Message,
        extra: Map<String, Value>,
        identity: Option<&str>,
    ) {
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
        self.found.push(Found { severity, result: result.into() });
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
