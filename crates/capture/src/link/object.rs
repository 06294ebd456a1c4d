//! What the linker's inputs hold: objects, archives and shared libraries, read only as
//! far as the linker's choice of archive members needs.

use std::fs;
use std::path::{Path, PathBuf};

use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectKind, ObjectSymbol as _};

use crate::cache::Key;

/// Larger files are not read: no object of a C build comes near.
const MAX_BYTES: u64 = 4 << 30;

/// The symbols of an object, as far as they decide what else is linked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    pub defined: Vec<String>,
    /// Tentative definitions: `int x;` under `-fcommon`.
    pub common: Vec<String>,
    /// Weak references are not among them: they fetch nothing from an archive.
    pub undefined: Vec<String>,
    /// Code for link-time optimisation hides its symbols from us.
    pub hidden: bool,
}

/// One relocatable object.
#[derive(Clone, Debug)]
pub struct ObjectFile {
    /// Its path, or `archive(member)`.
    pub name: String,
    pub hash: Key,
    pub symbols: Symbols,
}

/// A file on the linker's command line.
#[derive(Clone, Debug)]
pub enum LinkerInput {
    Object(ObjectFile),
    Archive(Vec<ObjectFile>),
    Shared {
        path: PathBuf,
        hash: Key,
        defined: Vec<String>,
    },
    /// A linker script that stands for other files, given in order. Names that start
    /// with `-l` are libraries to search for.
    Script(Vec<String>),
}

/// Reads an input file. `None` if it is missing or nothing a linker takes.
pub fn read_input(path: &Path) -> Option<LinkerInput> {
    let data = read_file(path)?;
    let name = path.display().to_string();
    if data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n") {
        return Some(LinkerInput::Archive(read_archive(path, &data)?));
    }
    let hash = Key::of_content(&data);
    if is_bitcode(&data) {
        let symbols = Symbols { hidden: true, ..Symbols::default() };
        return Some(LinkerInput::Object(ObjectFile { name, hash, symbols }));
    }
    if let Ok(file) = object::File::parse(&*data) {
        return Some(match file.kind() {
            ObjectKind::Dynamic => {
                let defined = file.dynamic_symbols().filter(|s| s.is_definition());
                let defined = defined.filter_map(|s| s.name().ok().map(str::to_owned)).collect();
                LinkerInput::Shared { path: path.to_owned(), hash, defined }
            }
            _ => LinkerInput::Object(ObjectFile { name, hash, symbols: symbols(&file) }),
        });
    }
    let script = std::str::from_utf8(&data).ok()?;
    Some(LinkerInput::Script(script_files(script)))
}

/// The members of an archive that are objects, in order. `None` if it is damaged.
pub fn read_archive(path: &Path, data: &[u8]) -> Option<Vec<ObjectFile>> {
    let archive = ArchiveFile::parse(data).ok()?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.ok()?;
        let member_name = String::from_utf8_lossy(member.name()).into_owned();
        let thin;
        let content = if archive.is_thin() {
            // A thin archive names files relative to its own folder.
            match read_file(&folder.join(&member_name)) {
                Some(data) => {
                    thin = data;
                    &thin[..]
                }
                None => continue,
            }
        } else {
            member.data(data).ok()?
        };
        let symbols = if is_bitcode(content) {
            Symbols { hidden: true, ..Symbols::default() }
        } else {
            object::File::parse(content).map(|file| symbols(&file)).unwrap_or_default()
        };
        let name = format!("{}({member_name})", path.display());
        members.push(ObjectFile { name, hash: Key::of_content(content), symbols });
    }
    Some(members)
}

fn read_file(path: &Path) -> Option<Vec<u8>> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= MAX_BYTES).then(|| fs::read(path).ok())?
}

fn is_bitcode(data: &[u8]) -> bool {
    data.starts_with(b"BC\xC0\xDE") || data.starts_with(&[0xDE, 0xC0, 0x17, 0x0B])
}

fn symbols(file: &object::File) -> Symbols {
    let mut result = Symbols::default();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if name.starts_with("__gnu_lto_slim") {
            result.hidden = true;
        }
        if !symbol.is_global() || name.is_empty() {
            continue;
        }
        let list = if symbol.is_common() {
            &mut result.common
        } else if symbol.is_undefined() {
            if symbol.is_weak() {
                continue;
            }
            &mut result.undefined
        } else {
            &mut result.defined
        };
        list.push(name.to_owned());
    }
    result
}

/// The files that `INPUT(...)` and `GROUP(...)` of a linker script name. Other commands
/// of a script do not bring in code.
fn script_files(script: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut rest = script;
    while let Some((at, keyword)) =
        ["INPUT", "GROUP"].iter().filter_map(|k| Some((rest.find(k)?, *k))).min()
    {
        rest = &rest[at + keyword.len()..];
        let Some(list) = rest.trim_start().strip_prefix('(') else { continue };
        let list = &list[..list.find(')').map_or(list.len(), |_| matching_end(list))];
        let words = list.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','));
        let words = words.filter(|word| !word.is_empty() && *word != "AS_NEEDED");
        files.extend(words.map(|word| word.trim_matches('"').to_owned()));
    }
    files
}

/// Where the parenthesis opened before `text` closes.
fn matching_end(text: &str) -> usize {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_name_their_files() {
        let script = "/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\n\
            GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( \"ld.so\" ) ) INPUT(-lm)";
        let files = script_files(script);
        assert_eq!(files, ["/lib/libc.so.6", "/usr/lib/libc_nonshared.a", "ld.so", "-lm"]);
        assert_eq!(script_files("GROUP ( a"), ["a"]);
        assert_eq!(script_files("INPUT"), Vec::<String>::new());
    }
}
