//! Colours, or none.

use anstyle::{AnsiColor, Style};
use findings::Severity;

pub struct Paint {
    colour: bool,
}

impl Paint {
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    pub fn strong(&self, text: &str) -> String {
        self.styled(Style::new().bold(), text)
    }

    /// Line numbers and bars, which should not draw the eye.
    pub fn faint(&self, text: &str) -> String {
        self.styled(Style::new().dimmed(), text)
    }

    pub fn caret(&self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    pub fn good(&self, text: &str) -> String {
        self.styled(AnsiColor::Green.on_default().bold(), text)
    }

    pub fn bad(&self, text: &str) -> String {
        self.styled(AnsiColor::Red.on_default().bold(), text)
    }

    pub fn severity(&self, severity: Severity) -> String {
        let (colour, word) = match severity {
            Severity::Error => (AnsiColor::Red, "error"),
            Severity::Warning => (AnsiColor::Magenta, "warning"),
            Severity::Note => (AnsiColor::Cyan, "note"),
        };
        self.styled(colour.on_default().bold(), word)
    }

    fn styled(&self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}
