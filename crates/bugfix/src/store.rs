//! The knowledge base: scenarios in an SQLite file that learners share.
//!
//! Several may learn at once: each writes in one transaction that waits for the others. A file
//! that is damaged, that is no knowledge base, or that a newer version wrote is reported and left
//! as it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior};

use crate::database::{Database, Entry};
use crate::{Scenario, Situation};

/// Marks our files among SQLite's: "FFkb".
const APPLICATION: i32 = 0x4646_6b62;

/// Each brings a file to the next version of the schema; never changed once released.
const MIGRATIONS: &[&str] = &[
    // Items are numbered, and a scenario lists its numbers: thousands are read in milliseconds.
    "CREATE TABLE item (id INTEGER PRIMARY KEY, is_fix INTEGER NOT NULL, text TEXT NOT NULL,
                        UNIQUE (is_fix, text));
     CREATE TABLE scenario (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
                            origin TEXT NOT NULL, items TEXT NOT NULL);",
    // Situations for which suggestions were made, until it is known how they were fixed.
    "CREATE TABLE remembered (statement TEXT PRIMARY KEY, situation TEXT NOT NULL);",
];

/// How long a learner waits for others.
const PATIENCE: Duration = Duration::from_secs(60);

/// Remembered situations; older ones are forgotten.
const MAX_REMEMBERED: u32 = 200;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("cannot open the knowledge base {0}: {1}")]
    Open(PathBuf, String),
    #[error("{0} is not a knowledge base of firstfault: it stays as it is; choose another file")]
    Foreign(PathBuf),
    #[error(
        "the knowledge base {0} is damaged ({1}): it stays as it is; restore a copy or move it away"
    )]
    Damaged(PathBuf, String),
    #[error(
        "the knowledge base {path} has schema {found}, and this firstfault knows up to {known}: \
         use a newer firstfault"
    )]
    Newer { path: PathBuf, found: usize, known: usize },
    #[error("cannot use the knowledge base {0}: {1}")]
    Sqlite(PathBuf, rusqlite::Error),
}

/// An open knowledge base.
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens a knowledge base for learning; makes it, and its folder, where there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|e| StoreError::Open(path.to_owned(), e.to_string()))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        Self::open_with(path, flags)
    }

    /// Opens a knowledge base for asking; none where there is no file.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        if !path.exists() {
            return Ok(None);
        }
        let opened = Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
        match opened {
            // Somebody else's file, shared for reading.
            Err(StoreError::Open(..)) => {
                Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map(Some)
            }
            opened => opened.map(Some),
        }
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|e| StoreError::Open(path.to_owned(), e.to_string()))?;
        let mut store = Self { connection, path: path.to_owned() };
        store.connection.busy_timeout(PATIENCE).map_err(|e| store.error(e))?;
        store.prepare()?;
        Ok(store)
    }

    /// Looks at what the file is before anything is written to it.
    fn prepare(&mut self) -> Result<(), StoreError> {
        if !self.is_current()? {
            self.migrate()?;
        }
        let check: String = self.ask("PRAGMA quick_check(1)")?;
        if check != "ok" {
            return Err(StoreError::Damaged(self.path.clone(), check));
        }
        // Readers do not wait for writers then. Where that cannot be had (another user at this
        // moment, a file that is only read), the default is right, too, and slower.
        let _ = self.connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        Ok(())
    }

    fn is_current(&self) -> Result<bool, StoreError> {
        // One look at the file: another learner may be making it at this moment.
        let _snapshot = self.connection.unchecked_transaction().map_err(|e| self.error(e))?;
        let application: i32 = self.ask("PRAGMA application_id")?;
        let version: i64 = self.ask("PRAGMA user_version")?;
        let n_tables: i64 = self.ask("SELECT count(*) FROM sqlite_master")?;
        if application != APPLICATION {
            let is_new = application == 0 && version == 0 && n_tables == 0;
            return if is_new { Ok(false) } else { Err(StoreError::Foreign(self.path.clone())) };
        }
        let (found, known) = (usize::try_from(version).unwrap_or(usize::MAX), MIGRATIONS.len());
        if found > known {
            return Err(StoreError::Newer { path: self.path.clone(), found, known });
        }
        Ok(found == known)
    }

    fn migrate(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let sqlite = |e| error(&path, e);
        let begin = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(begin).map_err(sqlite)?;
        // Another learner may have been faster.
        let version: i64 =
            transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
        let done = usize::try_from(version).unwrap_or(0).min(MIGRATIONS.len());
        for migration in &MIGRATIONS[done..] {
            transaction.execute_batch(migration).map_err(sqlite)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION).map_err(sqlite)?;
        let version = MIGRATIONS.len().max(done) as i64;
        transaction.pragma_update(None, "user_version", version).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }

    /// Adds scenarios, all or none; how many were new.
    pub fn learn(&mut self, scenarios: &[Scenario]) -> Result<usize, StoreError> {
        let path = self.path.clone();
        self.learn_in_transaction(scenarios).map_err(|e| error(&path, e))
    }

    fn learn_in_transaction(&mut self, scenarios: &[Scenario]) -> rusqlite::Result<usize> {
        let begin = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(begin)?;
        let mut n_new = 0;
        {
            let mut insert_item =
                transaction.prepare("INSERT OR IGNORE INTO item (is_fix, text) VALUES (?1, ?2)")?;
            let mut find_item =
                transaction.prepare("SELECT id FROM item WHERE is_fix = ?1 AND text = ?2")?;
            let mut insert = transaction.prepare(
                "INSERT OR IGNORE INTO scenario (key, origin, items) VALUES (?1, ?2, ?3)",
            )?;
            for scenario in scenarios {
                let descriptors = scenario.situation.iter().map(|text| (false, text));
                let items = descriptors.chain(scenario.fixes.iter().map(|text| (true, text)));
                let mut numbers = Vec::new();
                for item in items {
                    insert_item.execute(item)?;
                    let id: i64 = find_item.query_row(item, |row| row.get(0))?;
                    numbers.push(id.to_string());
                }
                let (key, items) = (scenario.key(), numbers.join(" "));
                n_new += insert.execute((key, &scenario.origin, items))?;
            }
        }
        transaction.commit()?;
        Ok(n_new)
    }

    /// Adds all scenarios of the file to a database.
    pub fn load(&self, database: &mut Database) -> Result<(), StoreError> {
        let is_known = self.load_entries(database).map_err(|e| error(&self.path, e))?;
        if is_known {
            return Ok(());
        }
        let what = "a scenario names an item that is not there".to_owned();
        Err(StoreError::Damaged(self.path.clone(), what))
    }

    fn load_entries(&self, database: &mut Database) -> rusqlite::Result<bool> {
        let mut items: Vec<Option<(bool, u32)>> = Vec::new();
        let mut statement = self.connection.prepare("SELECT id, is_fix, text FROM item")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (id, is_fix): (i64, bool) = (row.get(0)?, row.get(1)?);
            let text = row.get_ref(2)?.as_str()?;
            let names = if is_fix { &mut database.fixes } else { &mut database.descriptors };
            let number = names.number(text);
            // Numbers are given one after the other; a hostile file may say otherwise.
            let Some(index) = usize::try_from(id).ok().filter(|id| *id < 10_000_000) else {
                return Ok(false);
            };
            items.resize(items.len().max(index + 1), None);
            items[index] = Some((is_fix, number));
        }
        let mut statement =
            self.connection.prepare("SELECT origin, items FROM scenario ORDER BY key")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut entry = Entry { origin: row.get(0)?, ..Entry::default() };
            for number in row.get_ref(1)?.as_str()?.split_ascii_whitespace() {
                let index = number.parse::<usize>().ok();
                let item = index.and_then(|index| items.get(index).copied().flatten());
                let Some((is_fix, number)) = item else { return Ok(false) };
                if is_fix { &mut entry.fixes } else { &mut entry.descriptors }.push(number);
            }
            database.entries.push(entry);
        }
        Ok(true)
    }

    /// Drops what was learned from an origin; how many scenarios that were.
    pub fn forget(&mut self, origin: &str) -> Result<usize, StoreError> {
        self.connection
            .execute("DELETE FROM scenario WHERE origin = ?1", [origin])
            .map_err(|e| self.error(e))
    }

    /// Keeps the situation of a statement until it is known how it was fixed.
    pub fn remember(&mut self, statement: &str, situation: &Situation) -> Result<(), StoreError> {
        let text: Vec<&str> = situation.iter().map(String::as_str).collect();
        let keep = || {
            self.connection.execute(
                "INSERT OR REPLACE INTO remembered (statement, situation) VALUES (?1, ?2)",
                (statement, text.join("\n")),
            )?;
            self.connection.execute(
                "DELETE FROM remembered WHERE rowid <=
                     (SELECT max(rowid) FROM remembered) - ?1",
                [MAX_REMEMBERED],
            )
        };
        keep().map(|_| ()).map_err(|e| error(&self.path, e))
    }

    /// The situation a statement was last seen in.
    pub fn remembered(&self, statement: &str) -> Result<Option<Situation>, StoreError> {
        let question = "SELECT situation FROM remembered WHERE statement = ?1";
        let found: Option<String> = self
            .connection
            .query_row(question, [statement], |row| row.get(0))
            .optional()
            .map_err(|e| self.error(e))?;
        Ok(found.map(|text| text.lines().map(str::to_owned).collect()))
    }

    fn ask<T: rusqlite::types::FromSql>(&self, question: &str) -> Result<T, StoreError> {
        self.connection.query_row(question, [], |row| row.get(0)).map_err(|e| self.error(e))
    }

    fn error(&self, error: rusqlite::Error) -> StoreError {
        self::error(&self.path, error)
    }
}

fn error(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::Foreign(path),
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged(path, error.to_string()),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            StoreError::Open(path, error.to_string())
        }
        _ => StoreError::Sqlite(path, error),
    }
}
