//! The database of bug-fix scenarios in memory: each descriptor and each fix is a number.

use std::collections::{BTreeSet, HashMap};

use crate::{Scenario, Situation};

/// Texts by number and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
}

/// Scenarios, each a set of descriptors and a set of fixes.
#[derive(Clone, Debug, Default)]
pub struct Database {
    pub(crate) descriptors: Names,
    pub(crate) fixes: Names,
    pub(crate) entries: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub origin: String,
    pub descriptors: Vec<u32>,
    pub fixes: Vec<u32>,
}

impl Names {
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    pub fn known(&self, text: &str) -> Option<u32> {
        self.numbers.get(text).copied()
    }

    pub fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }
}

impl Database {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, scenario: &Scenario) {
        let descriptors = scenario.situation.iter().map(|d| self.descriptors.number(d)).collect();
        let fixes = scenario.fixes.iter().map(|fix| self.fixes.number(fix)).collect();
        self.entries.push(Entry { origin: scenario.origin.clone(), descriptors, fixes });
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn scenarios(&self) -> impl Iterator<Item = Scenario> + '_ {
        self.entries.iter().map(|entry| Scenario {
            origin: entry.origin.clone(),
            situation: entry.descriptors.iter().map(|d| self.descriptors.text(*d).into()).collect(),
            fixes: entry.fixes.iter().map(|fix| self.fixes.text(*fix).to_owned()).collect(),
        })
    }

    /// The fixes of scenarios with this origin.
    pub fn fixes_of(&self, origin: &str) -> BTreeSet<String> {
        let entries = self.entries.iter().filter(|entry| entry.origin == origin);
        entries.flat_map(|e| &e.fixes).map(|fix| self.fixes.text(*fix).to_owned()).collect()
    }

    /// The numbers of the descriptors of a situation that any scenario has.
    pub(crate) fn known(&self, situation: &Situation) -> Vec<u32> {
        situation.iter().filter_map(|d| self.descriptors.known(d)).collect()
    }
}

impl<'a> FromIterator<&'a Scenario> for Database {
    fn from_iter<I: IntoIterator<Item = &'a Scenario>>(scenarios: I) -> Self {
        let mut database = Database::new();
        scenarios.into_iter().for_each(|scenario| database.add(scenario));
        database
    }
}
