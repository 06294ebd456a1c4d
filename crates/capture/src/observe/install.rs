//! Putting into the capture folder what a watched build needs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use base::child::guard;
use object::Object as _;

use crate::cache::{Key, write_atomically};
use crate::clang::Clang;
use crate::record::CaptureFolder;

/// The exec hook, built from `hook/hook.c`.
const HOOK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hook.so"));

/// The names under which shims stand in front of `PATH`.
const SHIMS: &[&str] = &[
    "cc", "gcc", "clang", "c99", "c89", "g++", "c++", "clang++", "ar", "ld", "as", "strip",
    "objcopy", "gcc-ar", "llvm-ar",
];

/// Where things were put. To be kept while the build runs.
pub struct Installed {
    /// For `LD_PRELOAD`.
    pub hook: OsString,
    pub shims: Option<PathBuf>,
    _file: File,
}

pub fn install(
    folder: &CaptureFolder,
    root: &Path,
    clang: &Clang,
    shims: bool,
) -> io::Result<Installed> {
    folder.create()?;
    let wrapper = guard::program().ok_or_else(|| {
        io::Error::new(io::ErrorKind::NotFound, "the program ff-cc is not beside firstfault")
    })?;
    replace_link(wrapper, &folder.wrapper())?;
    replace_link(clang.tool.program(), &folder.clang())?;
    folder.set_root(root)?;
    let hook = install_hook(folder)?;
    // Always made anew: links to an earlier version must not stay.
    let _ = fs::remove_dir_all(folder.shims());
    let shims = shims.then(|| install_shims(folder)).transpose()?;
    let file = File::open(&hook)?;
    // LD_PRELOAD is a list and cannot name every path; an open file always has another.
    let is_listable = !hook.as_os_str().as_encoded_bytes().iter().any(|b| b": \t".contains(b));
    let hook = if is_listable {
        hook.into_os_string()
    } else {
        format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
    };
    Ok(Installed { hook, shims, _file: file })
}

/// The hook is named by its content: another version's build may be using its own.
fn install_hook(folder: &CaptureFolder) -> io::Result<PathBuf> {
    let name = Key::of_content(HOOK).to_string();
    let path = folder.0.join(format!("hook-{}.so", &name[..16]));
    if fs::read(&path).is_ok_and(|present| present == HOOK) {
        return Ok(path);
    }
    write_atomically(&folder.temporaries(), &path, HOOK)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

fn install_shims(folder: &CaptureFolder) -> io::Result<PathBuf> {
    let shims = folder.shims();
    fs::create_dir_all(&shims)?;
    for name in SHIMS {
        // A compiler that is not installed must not seem to be.
        if base::child::find_program(name.as_ref()).is_ok() {
            replace_link(&folder.wrapper(), &shims.join(name))?;
        }
    }
    Ok(shims)
}

fn replace_link(target: &Path, link: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|present| present == target) {
        return Ok(());
    }
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    symlink(target, link)
}

/// Whether the exec hook cannot enter this program: it is statically linked.
pub fn is_static(program: &Path) -> bool {
    let Ok(data) = fs::read(program) else { return false };
    if let Some(line) = data.strip_prefix(b"#!") {
        let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
        let interpreter = String::from_utf8_lossy(line);
        let interpreter = interpreter.split_whitespace().next().unwrap_or_default().to_owned();
        let binary = |path: &Path| fs::read(path).is_ok_and(|data| has_no_loader(&data));
        return binary(Path::new(&interpreter));
    }
    has_no_loader(&data)
}

fn has_no_loader(data: &[u8]) -> bool {
    data.starts_with(b"\x7fELF")
        && object::File::parse(data).is_ok_and(|f| f.section_by_name(".interp").is_none())
}
