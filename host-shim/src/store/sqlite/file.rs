//! The file: private, ours, and of a version that we know.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{Failure, count};
use crate::store::StoreError;

/// Marks a file as ours: `AskU`. In SQLite's header, so that `file` shows it.
const APPLICATION: i32 = 0x4173_6b55;

/// Each one leads to the version that is its place in this list. Published ones never change.
const MIGRATIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];

/// Bytes. What is smaller, and not empty, SQLite would take for a new database and write over.
const SMALLEST_DATABASE: u64 = 512;

/// How long to wait for another process that has the file locked.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait between two tries, where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(10);

/// Three ways into one file.
pub(super) struct Connections {
    /// Changes things.
    pub(super) writer: Connection,
    /// Only reads.
    pub(super) reader: Connection,
    /// Only reads, and waits for nobody.
    pub(super) glances: Connection,
}

/// Opens a file, and makes it if there is none.
pub(super) fn open(path: &Path) -> Result<Connections, StoreError> {
    // A process that closes any handle of a file loses the locks it has on it. So nobody opens a store on a file while
    // somebody else in this process is making it.
    static OPENING: Mutex<()> = Mutex::new(());
    let _opening = OPENING.lock().unwrap_or_else(PoisonError::into_inner);

    let store = path.display().to_string();
    let of_store = |failure: Failure| failure.of(&store);
    let path = find_or_make(path).map_err(of_store)?;

    patiently(|| open_once(&path)).map_err(of_store)
}

fn open_once(path: &Path) -> Result<Connections, Failure> {
    let mut writer = connect(path)?;
    // Nothing is changed in a file that is not ours, not even its mode.
    check(&writer)?;
    make_private(path)?;
    prepare(&mut writer)?;
    let reader = connect(path)?;
    reader.pragma_update(None, "query_only", true)?;
    let glances = connect(path)?;
    glances.pragma_update(None, "query_only", true)?;
    glances.busy_timeout(Duration::ZERO)?;
    // KiB. What it has read is out of date after the next write.
    glances.pragma_update(None, "cache_size", -512)?;
    Ok(Connections { writer, reader, glances })
}

/// Tries again while another process has the file locked. SQLite waits by itself for most locks, but not for those that
/// are taken while a file gets its log or the log is recovered: that another process opens the file at the same moment
/// is no reason to fail.
fn patiently<T>(mut work: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let began = Instant::now();
    loop {
        match work() {
            Err(Failure::Sqlite(error))
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && began.elapsed() < PATIENCE =>
            {
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// The whole path of the file, which is there now.
fn find_or_make(path: &Path) -> Result<PathBuf, Failure> {
    let refused = |error: io::Error| Failure::Unavailable(error.to_string());
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            return Err(Failure::Unavailable(format!("the folder {} does not exist", folder.display())));
        }
        Err(error) => return Err(refused(error)),
    }
    // Whole, so that SQLite takes no name for something special.
    let path = path.canonicalize().map_err(refused)?;
    let metadata = path.metadata().map_err(refused)?;
    if !metadata.is_file() {
        return Err(Failure::Unavailable("it is not a file".into()));
    }
    if (1..SMALLEST_DATABASE).contains(&metadata.len()) {
        return Err(Failure::Unreadable("file is not a database".into()));
    }
    Ok(path)
}

fn connect(path: &Path) -> Result<Connection, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    // The file may have been made by somebody else: nothing in it is run.
    connection.pragma_update(None, "trusted_schema", false)?;
    // What was answered is on the disk before anybody is told so.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Sorting leaves no text in other files.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // What was deleted cannot be read from the file any more.
    connection.pragma_update(None, "secure_delete", true)?;
    // KiB, and taken only when they are used. Every write touches a few pages of each index.
    connection.pragma_update(None, "cache_size", -16 * 1024)?;
    // Pages. Those that every commit touches are copied into the file less often.
    connection.pragma_update(None, "wal_autocheckpoint", 4_000)?;
    // Bytes. After a long read the log may be longer for a while.
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    Ok(connection)
}

/// Whether the file is empty or ours, and not newer than this version.
fn check(connection: &Connection) -> Result<usize, Failure> {
    // In one statement, which sees the file as it is at one moment: another process may be making it just now.
    let (application, objects, version): (i32, i64, i32) = connection.query_row(
        "SELECT application_id, (SELECT count(*) FROM sqlite_schema), user_version \
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    let is_ours = match application {
        APPLICATION => true,
        // Ours before the first migration.
        0 => objects == 0,
        _ => false,
    };
    if !is_ours {
        return Err(Failure::Unreadable("it is the database of another program".into()));
    }
    match usize::try_from(version) {
        Ok(version) if version <= MIGRATIONS.len() => Ok(version),
        _ => Err(Failure::Unreadable(format!(
            "it has version {version}, and this program knows versions up to {}; a newer program is needed",
            MIGRATIONS.len(),
        ))),
    }
}

/// Nobody but the owner may read what people answered. SQLite makes its other files with the mode of this one.
fn make_private(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            let private = match fs::metadata(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Ok(metadata) if metadata.permissions().mode() & 0o077 == 0 => Ok(()),
                _ => fs::set_permissions(&name, fs::Permissions::from_mode(0o600)),
            };
            private.map_err(|error| {
                let cause = format!("others may read it, and that cannot be changed: {error}");
                Failure::Unavailable(cause)
            })?;
        }
    }
    Ok(())
}

/// Brings a file to the newest version.
fn prepare(connection: &mut Connection) -> Result<(), Failure> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(Failure::Unavailable(format!(
            "a write-ahead log cannot be kept beside it (the journal mode stays {mode}); \
             the file may be on a network drive"
        )));
    }
    if check(connection)? == MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let version = check(&transaction)?;
    for migration in &MIGRATIONS[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", count(MIGRATIONS.len()))?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_process_opens_at_the_same_moment_is_waited_for() {
        let fails_with = |code| {
            let error = rusqlite::ffi::Error::new(code);
            Err(Failure::Sqlite(rusqlite::Error::SqliteFailure(error, None)))
        };
        let mut tries = 0;
        let opened = patiently(|| {
            tries += 1;
            if tries < 3 { fails_with(rusqlite::ffi::SQLITE_BUSY_RECOVERY) } else { Ok(tries) }
        });
        assert!(matches!(opened, Ok(3)));
        let mut tries = 0;
        let failed = patiently(|| {
            tries += 1;
            fails_with(rusqlite::ffi::SQLITE_IOERR)
        });
        assert!(failed.is_err());
        assert_eq!(tries, 1, "another error is not waited out");
    }

    fn refused(path: &Path) -> String {
        match open(path) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{} should be refused", path.display()),
        }
    }

    fn set(path: &Path, statement: &str) {
        Connection::open(path).unwrap().execute_batch(statement).unwrap();
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert!(
            refused(&missing.join("store"))
                .ends_with(&format!("the folder {} does not exist", missing.display()))
        );
        assert!(refused(folder.path()).ends_with("it is not a file"));
    }

    #[test]
    fn what_is_not_a_database_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("letter");
        for text in ["x", "Dear all", &"Dear all".repeat(1_000)] {
            fs::write(&path, text).unwrap();
            let before = fs::metadata(&path).unwrap().permissions();
            assert!(matches!(open(&path), Err(StoreError::Unreadable { .. })), "{}", refused(&path));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::metadata(&path).unwrap().permissions(), before);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn another_programs_database_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for (name, statement) in [("a", "CREATE TABLE t (c)"), ("b", "PRAGMA application_id = 1")] {
            let path = folder.path().join(name);
            set(&path, statement);
            let before = fs::read(&path).unwrap();
            assert!(refused(&path).ends_with("it is the database of another program"));
            assert_eq!(fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn a_newer_version_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        drop(open(&path).unwrap());
        for version in [4, 77, -1] {
            set(&path, &format!("PRAGMA user_version = {version}"));
            let before = fs::read(&path).unwrap();
            assert!(refused(&path).contains(&format!("it has version {version}")), "{}", refused(&path));
            assert_eq!(fs::read(&path).unwrap(), before);
        }
        set(&path, "PRAGMA user_version = 3");
        drop(open(&path).unwrap());
    }

    #[test]
    fn an_older_version_becomes_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        set(&path, MIGRATIONS[0]);
        set(&path, &format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = 1"));
        set(
            &path,
            "INSERT INTO prompts (tenant, id, by_tool, created_at, expires_at, prompt) VALUES ('t', 'p', 0, 1, 2, '{}')",
        );
        let Connections { reader, .. } = open(&path).unwrap();
        assert_eq!(check(&reader).unwrap(), MIGRATIONS.len());
        let kept: i64 = reader.query_row("SELECT count(*) FROM prompts", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 1);
    }

    #[test]
    fn an_empty_file_becomes_a_store() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        fs::write(&path, "").unwrap();
        drop(open(&path).unwrap());
        assert!(fs::metadata(&path).unwrap().len() > 0);
    }

    #[test]
    fn no_name_is_special() {
        let folder = tempfile::tempdir().unwrap();
        for name in [":memory:", "file:store?mode=memory", "ünï cødé"] {
            let path = folder.path().join(name);
            drop(open(&path).unwrap());
            assert!(fs::metadata(&path).unwrap().len() > 0, "{name}");
        }
    }

    #[test]
    fn many_can_make_the_file_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || open(&path).map(drop))
            })
            .collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_file_and_those_beside_it() {
        use std::os::unix::fs::PermissionsExt;

        let modes = |folder: &Path| -> Vec<(String, u32)> {
            let mut modes: Vec<_> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| {
                    let entry = entry.unwrap();
                    let mode = entry.metadata().unwrap().permissions().mode();
                    (entry.file_name().into_string().unwrap(), mode & 0o777)
                })
                .collect();
            modes.sort();
            modes
        };
        let private = ["store", "store-shm", "store-wal"].map(|name| (name.to_owned(), 0o600)).to_vec();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");

        let new = open(&path).unwrap();
        assert_eq!(modes(folder.path()), private);
        drop(new);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        let copied = open(&path).unwrap();
        assert_eq!(modes(folder.path()), private);
        drop(copied);
    }
}
