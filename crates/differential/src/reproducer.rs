//! A contradiction in a folder of its own: the program, its input, and how to see it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fixture::idioms::Input;

use crate::case::Case;
use crate::examine::native_input;
use crate::judge::Contradiction;
use crate::native::SOURCE;
use crate::tool::{Engine, Tool};

/// Writes `FOLDER/NAME/`: `program.c`, the input in files of its own, and `README` with the
/// commands. Returns the folder.
pub fn write(
    folder: &Path,
    name: &str,
    tool: &Tool,
    case: &Case,
    contradiction: &Contradiction,
) -> Result<PathBuf> {
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes)
            .with_context(|| format!("cannot write {name} in {}", folder.display()))
    };
    put(SOURCE, case.text().as_bytes())?;
    let witness = contradiction.witness.as_ref();
    let input = contradiction.input.clone().or_else(|| witness.map(native_input));
    let input = input.unwrap_or_default();
    put("stdin", &input.stdin)?;
    if let Some(file) = &input.file {
        put("input", file)?;
    }
    for file in witness.into_iter().flat_map(|witness| &witness.files) {
        if let (false, Some(content)) = (file.name.contains('/'), &file.content) {
            put(&file.name, content.as_bytes())?;
        }
    }
    put("README", readme(tool, case, contradiction, &input).as_bytes())?;
    Ok(folder)
}

fn readme(tool: &Tool, case: &Case, contradiction: &Contradiction, input: &Input) -> String {
    let Contradiction { kind, rule, line, told, part, .. } = contradiction;
    let engines = contradiction.engine.map_or(vec![Engine::Static, Engine::Explore], |e| vec![e]);
    let asked = engines
        .iter()
        .map(|engine| format!("  firstfault {} {SOURCE}\n", tool.arguments(*engine).join(" ")));
    let asked: String = asked.collect();
    let arguments: String =
        input.arguments.iter().map(|text| format!(" {}", quoted(text))).collect();
    let failing = input
        .failing_allocation
        .map(|n| format!("Allocation number {n} returns NULL.\n"))
        .unwrap_or_default();
    let witness = contradiction.witness.as_ref().map(|w| format!("Witness: {}\n", w.command));
    format!(
        "{}: {rule} at line {line}, {}\n{told}\n{}{failing}\n{asked}  \
         clang-19 -g -fsanitize=address,undefined,implicit-conversion,unsigned-integer-overflow \
         {SOURCE} -o program\n  clang-19 -g -fsanitize=memory {SOURCE} -o program\n  \
         ./program{arguments} < stdin\n",
        kind.name(),
        case.name(*part),
        witness.unwrap_or_default(),
    )
}

/// A word for the shell: `$'a\x01'`.
fn quoted(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_=.,/+".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let one = |byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    format!("$'{}'", bytes.iter().map(one).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(quoted(b"-a"), "-a");
        assert_eq!(quoted(b""), "$''");
        assert_eq!(quoted(b"a b'\\\xff"), "$'a b\\'\\\\\\xff'");
    }
}
