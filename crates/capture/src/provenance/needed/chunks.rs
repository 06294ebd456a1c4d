//! A unit cut into its declarations at file scope.

use std::ops::Range;

use super::Word;
use super::outline::{self, Outline, Role};

/// The tokens of the declaration being read.
#[derive(Default)]
pub struct Chunks<'a> {
    words: Vec<Word<'a>>,
    /// Open parentheses, brackets and braces.
    depth: u32,
    in_body: bool,
    /// Declarations of parameters between an old function's head and its body.
    in_old_head: bool,
}

impl<'a> Chunks<'a> {
    /// Takes a token; tells whether the declaration is complete with it. `None` where
    /// something is closed that was not opened.
    pub fn push(&mut self, word: Word<'a>) -> Option<bool> {
        let mut is_complete = false;
        match word.text {
            b"{" | b"<%" if self.depth == 0 => {
                self.in_body = outline::ends_in_function_head(&self.words);
                self.depth = 1;
            }
            b"{" | b"<%" | b"(" | b"[" | b"<:" => self.depth += 1,
            b"}" | b"%>" | b")" | b"]" | b":>" => {
                self.depth = self.depth.checked_sub(1)?;
                is_complete = self.depth == 0 && self.in_body;
            }
            b";" => is_complete = self.depth == 0,
            _ => {}
        }
        self.words.push(word);
        Some(is_complete)
    }

    pub fn is_balanced(&self) -> bool {
        self.depth == 0 && !self.in_old_head
    }

    pub fn words(&self) -> &[Word<'a>] {
        &self.words
    }

    pub fn range(&self) -> Option<Range<usize>> {
        Some(self.words.first()?.start..self.words.last()?.end)
    }

    pub fn outline(&self) -> Outline<'a> {
        Outline::of(&self.words)
    }

    /// What becomes of the declaration just completed.
    pub fn role(&mut self, outline: &Outline<'a>) -> Role<'a> {
        self.in_old_head |= !self.in_body && outline.begins_old_function();
        if self.in_old_head {
            self.in_old_head = !self.in_body;
            return Role::Kept;
        }
        outline.role(self.in_body)
    }

    pub fn clear(&mut self) {
        self.words.clear();
        self.in_body = false;
    }
}
