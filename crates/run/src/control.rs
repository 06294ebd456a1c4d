//! Writes and reads the control file the runtime shares with us.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rt::layout::{Control, MAGIC, NOT_COMPARED, SHARED_PAGE};

use crate::build::Program;
use crate::suite::Expected;

const PAGE: u64 = 4096;

/// A control file under construction, or after a run.
pub(crate) struct ControlFile {
    pub path: PathBuf,
    pub control: Control,
    file: File,
    end: u64,
}

impl ControlFile {
    /// With the tables every mode needs: coverage, and what the sites are.
    pub fn create(path: &Path, program: &Program) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let control = Control {
            magic: MAGIC,
            n_sites: program.sites.len() as u32,
            expected_exit: -1,
            seconds: 5,
            stdout_size: NOT_COMPARED,
            stderr_size: NOT_COMPARED,
            ..Control::default()
        };
        let mut this = Self { path: path.to_owned(), control, file, end: PAGE };
        this.control.coverage_at = this.reserve(SHARED_PAGE + program.segments.len() as u64);
        Ok(this)
    }

    /// Room for a table, on a page of its own.
    fn reserve(&mut self, size: u64) -> u64 {
        let at = self.end;
        self.end = (at + size.max(1)).next_multiple_of(PAGE);
        at
    }

    pub fn table(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let at = self.reserve(bytes.len() as u64);
        self.file.write_all_at(bytes, at)?;
        Ok(at)
    }

    pub fn expect(&mut self, expected: &Expected) -> io::Result<()> {
        self.control.expected_exit = expected.exit.map_or(-1, i32::from);
        if let Some(stdout) = &expected.stdout {
            self.control.stdout_at = self.table(stdout)?;
            self.control.stdout_size = stdout.len() as u64;
        }
        if let Some(stderr) = &expected.stderr {
            self.control.stderr_at = self.table(stderr)?;
            self.control.stderr_size = stderr.len() as u64;
        }
        let mut bytes = Vec::new();
        for (name, contents) in &expected.files {
            // The name ends in zeros up to a multiple of eight, so that records are aligned.
            let name_size = (name.len() + 1).next_multiple_of(8);
            bytes.extend((name_size as u64).to_le_bytes());
            bytes.extend((contents.len() as u64).to_le_bytes());
            let name_end = bytes.len() + name_size;
            bytes.extend(name.bytes());
            bytes.resize(name_end, 0);
            bytes.extend(contents);
            bytes.resize(bytes.len().next_multiple_of(8), 0);
        }
        self.control.files_at = self.table(&bytes)?;
        self.control.n_files = expected.files.len() as u64;
        Ok(())
    }

    /// Reserves the log and writes the header: the file is ready for a run.
    pub fn finish(&mut self, log_size: u64) -> io::Result<()> {
        self.control.log_at = self.reserve(log_size);
        self.control.log_size = log_size;
        self.control.file_size = self.end;
        self.file.set_len(self.end)?;
        self.write_header()
    }

    /// Writes the header anew, with what the last run left in it forgotten.
    pub fn write_header(&mut self) -> io::Result<()> {
        let c = &mut self.control;
        (c.events, c.status, c.exit_code, c.log_used, c.log_lost) = (0, 0, 0, 0, 0);
        (c.replacements, c.equivalents, c.crashes, c.hangs) = (0, 0, 0, 0);
        (c.cut_short_at, c.attached) = (0, 0);
        let words = to_words(c);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.file.write_all_at(&bytes, 0)
    }

    /// Reads back what the run left in the header.
    pub fn read_header(&mut self) -> io::Result<()> {
        let mut bytes = [0; size_of::<Control>()];
        self.file.read_exact_at(&mut bytes, 0)?;
        let mut words = [0u64; size_of::<Control>() / 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
        }
        self.control = from_words(words);
        Ok(())
    }

    pub fn coverage(&self, n_segments: usize) -> io::Result<Vec<bool>> {
        let mut bytes = vec![0; n_segments];
        self.file.read_exact_at(&mut bytes, self.control.coverage_at + SHARED_PAGE)?;
        Ok(bytes.into_iter().map(|byte| byte != 0).collect())
    }

    pub fn countdown(&self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, self.control.coverage_at)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub fn log(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.control.log_used.min(self.control.log_size) as usize];
        self.file.read_exact_at(&mut bytes, self.control.log_at)?;
        Ok(bytes)
    }
}

type Words = [u64; size_of::<Control>() / 8];

fn to_words(control: &Control) -> Words {
    // SAFETY: `Control` is `repr(C)` of integers without padding and as large as `Words`.
    unsafe { std::mem::transmute_copy(control) }
}

fn from_words(words: Words) -> Control {
    // SAFETY: as above; every bit pattern is a valid integer.
    unsafe { std::mem::transmute(words) }
}
