//! A source line with a caret under the place that is meant.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::paint::Paint;
use crate::sources::Line;

pub fn write(out: &mut String, number: u32, line: &Line, paint: &Paint) {
    let bar = paint.faint("|");
    let number = paint.faint(&format!("{number:6}"));
    let text = line.text.trim_end();
    writeln!(out, "{number} {bar} {text}").expect("writing to a string cannot fail");
    if let Some(caret) = line.caret.filter(|caret| *caret <= text.chars().count()) {
        // Text that stands wider than one cell shifts what is below it.
        let before: String = line.text.chars().take(caret).collect();
        let blanks = before.width();
        let caret = paint.caret("^");
        writeln!(out, "       {bar} {:blanks$}{caret}", "")
            .expect("writing to a string cannot fail");
    }
}
