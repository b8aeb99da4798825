//! Prompts in an SQLite file: they survive a restart, and several processes may share the file.

#[cfg(feature = "channels")]
mod deliveries;
mod file;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, ErrorCode, Row, ToSql, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::threads::Worker;
use super::{
    Cursor, Door, Inserted, Page, Query, SUMMARIES_KEPT, Settled, StatusFilter, Store, StoreError, Summary,
    TenantId, Whose,
};
use crate::contract::{Answer, NoAnswerReason, Outcome, Prompt, Settlement, Timestamp};

/// Keeps prompts in an SQLite file.
///
/// What a method has acknowledged is on the disk. Whatever else is in the same state of being written shares the commit.
#[derive(Debug)]
pub struct SqliteStore {
    name: Arc<str>,
    newest: Newest,
    /// For a look at one prompt, which takes less than asking a thread for it.
    glances: Mutex<Connection>,
    reader: Worker,
    // Dropped last: the last connection that is closed tidies up the files.
    writer: Worker,
}

impl SqliteStore {
    /// Opens a file, and makes it if there is none; its folder must be there. Only its owner can read it afterwards.
    ///
    /// Waits up to five seconds for another process that has it locked. Dropping the store waits for what is queued and
    /// closes the file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unreadable`] for a file that is not ours or that a newer version has written, which is left as it
    /// is; [`StoreError::Unavailable`] for everything else that keeps it from being opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let file::Connections { writer, reader, glances } = file::open(path)?;
        let name: Arc<str> = path.display().to_string().into();
        Ok(Self {
            newest: Newest::new(),
            glances: Mutex::new(glances),
            reader: Worker::reader(name.clone(), reader)?,
            writer: Worker::writer(name.clone(), writer)?,
            name,
        })
    }

    /// A look at one prompt, here and now; nothing if somebody else is looking, or it does not work at once.
    fn glance(&self, tenant: &TenantId, id: &str) -> Option<Option<Record>> {
        get(&*self.glances.try_lock().ok()?, tenant, id).ok()
    }

    /// The prompt of this id.
    fn prompt(&self, id: &str, record: &Record) -> Result<Arc<Prompt>, StoreError> {
        let read = match (self.newest.get(id, &record.prompt), &record.settlement) {
            (Some(pending), None) => return Ok(pending),
            (Some(pending), Some(_)) => record.settled(Arc::unwrap_or_clone(pending)),
            (None, _) => record.prompt(),
        };
        read.map(Arc::new).map_err(|failure| failure.of(&self.name))
    }

    /// Takes out of the way what cannot be read, so that it is met once.
    async fn set_aside(&self, unreadable: Vec<Record>) -> Result<(), StoreError> {
        if unreadable.is_empty() {
            return Ok(());
        }
        tracing::warn!(
            store = &*self.name,
            "{} questions that cannot be read are set aside",
            unreadable.len()
        );
        let set_aside = move |connection: &Connection| {
            together(connection, |connection| {
                for record in &unreadable {
                    let parameters = params![record.number, record.prompt];
                    if change(connection, statements::SET_ASIDE, parameters)? > 0 {
                        change(connection, statements::PURGE, params![record.number])?;
                    }
                }
                Ok(())
            })
        };
        self.writer.run(set_aside).await
    }

    fn json(&self, value: &(impl Serialize + ?Sized)) -> Result<String, StoreError> {
        json(value).map_err(|failure| failure.of(&self.name))
    }
}

/// Why a job was not done.
#[derive(Debug)]
enum Failure {
    Sqlite(rusqlite::Error),
    Json(serde_json::Error),
    Unreadable(String),
    Unavailable(String),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl Failure {
    /// The error of the store of this name.
    fn of(self, store: &str) -> StoreError {
        let store = store.to_owned();
        match self {
            Self::Unavailable(cause) => StoreError::Unavailable { store, cause },
            Self::Unreadable(cause) => StoreError::Unreadable { store, cause },
            Self::Json(error) => StoreError::Unreadable { store, cause: error.to_string() },
            Self::Sqlite(error) => {
                let cause = error.to_string();
                match error.sqlite_error_code() {
                    Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                        StoreError::Unreadable { store, cause }
                    }
                    Some(_) => StoreError::Unavailable { store, cause },
                    // Not SQLite's own errors: a column that holds something else than it should.
                    None => StoreError::Unreadable { store, cause },
                }
            }
        }
    }
}

/// A row as it is kept. It is made into a prompt outside of the thread that everybody waits for.
struct Record {
    number: i64,
    prompt: Box<[u8]>,
    settlement: Option<Box<[u8]>>,
}

impl Record {
    /// Reads the first columns of a row: `number`, `prompt` and `settlement`.
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        // Whether it is text at all is seen when it is taken apart.
        let prompt = row.get_ref(1)?.as_bytes()?.into();
        let settlement = row.get_ref(2)?.as_bytes_or_null()?.map(Box::from);
        Ok(Self { number: row.get(0)?, prompt, settlement })
    }

    fn prompt(&self) -> Result<Prompt, Failure> {
        self.settled(serde_json::from_slice(&self.prompt)?)
    }

    /// The prompt as it is, from the prompt as it was asked.
    fn settled(&self, prompt: Prompt) -> Result<Prompt, Failure> {
        let settlement = self.settlement.as_deref().map(serde_json::from_slice).transpose()?;
        Ok(Prompt { settlement, ..prompt })
    }

    fn len(&self) -> usize {
        self.prompt.len() + self.settlement.as_ref().map_or(0, |settlement| settlement.len())
    }
}

/// Takes records apart; those that cannot be read come back as they are.
fn sort_out<T>(found: Vec<(T, Record)>) -> (Vec<(T, Arc<Prompt>)>, Vec<Record>) {
    let (mut readable, mut unreadable) = (Vec::with_capacity(found.len()), Vec::new());
    for (beside, record) in found {
        match record.prompt() {
            Ok(prompt) => readable.push((beside, Arc::new(prompt))),
            Err(_) => unreadable.push(record),
        }
    }
    (readable, unreadable)
}

/// Some of the prompts that were written last, by their text: whoever reads the same text again need not take it apart.
/// Each has one place, by its id, and whoever comes to the same place later takes it.
#[derive(Debug)]
struct Newest {
    places: Mutex<Box<[Option<Written>]>>,
    hasher: RandomState,
}

/// A prompt's text, and the prompt.
type Written = (Box<[u8]>, Arc<Prompt>);

impl Newest {
    fn new() -> Self {
        Self { places: Mutex::new(vec![None; 509].into()), hasher: RandomState::new() }
    }

    fn keep(&self, text: &str, prompt: &Arc<Prompt>) {
        self.at(&prompt.id, |place| *place = Some((text.as_bytes().into(), Arc::clone(prompt))));
    }

    fn get(&self, id: &str, text: &[u8]) -> Option<Arc<Prompt>> {
        self.at(id, |place| {
            let (known, prompt) = place.as_ref()?;
            (**known == *text).then(|| Arc::clone(prompt))
        })
    }

    fn forget(&self, id: &str) {
        self.at(id, |place| *place = None);
    }

    fn at<T>(&self, id: &str, look: impl FnOnce(&mut Option<Written>) -> T) -> T {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let place = self.hasher.hash_one(id) as usize % places.len();
        look(&mut places[place])
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> Result<String, Failure> {
    Ok(serde_json::to_string(value)?)
}

/// A moment as SQLite can keep it. Those beyond its largest number, in the year 292,000,000, are all the same one.
fn moment(timestamp: Timestamp) -> i64 {
    i64::try_from(timestamp).unwrap_or(i64::MAX)
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Every statement names the index it walks, so that none can turn into a scan with the wrong statistics.
mod statements {
    pub(super) const INSERT: &str = "
        INSERT INTO prompts
            (tenant, id, by_tool, session, run, tool_call, requester, created_at, expires_at, prompt)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
        ON CONFLICT DO NOTHING";
    pub(super) const BY_TOOL_CALL: &str = "
        SELECT number, prompt, settlement FROM prompts INDEXED BY prompts_tool_call
        WHERE tenant = ?1 AND session = ?2 AND run = ?3 AND tool_call = ?4 AND by_tool = 1";
    pub(super) const PENDING_OF_TOOL: &str = "
        SELECT number, prompt, settlement FROM prompts INDEXED BY prompts_pending_tool
        WHERE tenant = ?1 AND session = ?2 AND by_tool = 1 AND settled_at IS NULL";
    pub(super) const GET: &str = "
        SELECT number, prompt, settlement FROM prompts INDEXED BY prompts_id WHERE tenant = ?1 AND id = ?2";
    pub(super) const COMPARE: &str = "
        SELECT number, prompt, settlement, expires_at FROM prompts INDEXED BY prompts_id
        WHERE tenant = ?1 AND id = ?2";
    pub(super) const SET: &str = "
        UPDATE prompts SET settled_at = ?2, settlement = ?3, drafts = NULL WHERE number = ?1";
    pub(super) const DELETE: &str = "
        DELETE FROM prompts INDEXED BY prompts_id WHERE tenant = ?1 AND id = ?2 AND settled_at IS NOT NULL";
    pub(super) const DELETE_SUMMARY: &str = "
        DELETE FROM summaries INDEXED BY summaries_prompt
        WHERE tenant = ?1 AND prompt = ?2
            AND NOT EXISTS (SELECT 1 FROM prompts INDEXED BY prompts_id WHERE tenant = ?1 AND id = ?2)";
    pub(super) const DRAFTS: &str = "
        SELECT drafts FROM prompts INDEXED BY prompts_id
        WHERE tenant = ?1 AND id = ?2 AND settled_at IS NULL";
    pub(super) const KEEP_DRAFTS: &str = "
        UPDATE prompts INDEXED BY prompts_id SET drafts = ?3
        WHERE tenant = ?1 AND id = ?2 AND settled_at IS NULL";
    pub(super) const SETTLED_OF_SESSION: &str = "
        SELECT number, prompt, settlement FROM prompts INDEXED BY settled_of_session
        WHERE tenant = ?1 AND session = ?2 AND settled_at IS NOT NULL
        ORDER BY settled_at DESC, id DESC LIMIT ?3";
    pub(super) const SUMMARIES: &str = "
        SELECT summary FROM summaries INDEXED BY summaries_of_session
        WHERE tenant = ?1 AND session = ?2
        ORDER BY settled_at DESC, prompt DESC LIMIT ?3";
    pub(super) const FORGET_PROMPTS: &str = "
        DELETE FROM prompts INDEXED BY settled_of_session
        WHERE tenant = ?1 AND session = ?2 AND settled_at IS NOT NULL";
    pub(super) const FORGET_SUMMARIES: &str = "
        DELETE FROM summaries INDEXED BY summaries_of_session WHERE tenant = ?1 AND session = ?2";
    pub(super) const OVERDUE: &str = "
        SELECT number, prompt, settlement, tenant FROM prompts INDEXED BY pending_deadlines
        WHERE settled_at IS NULL AND expires_at <= ?1
        ORDER BY expires_at LIMIT ?2";
    pub(super) const NEXT_DEADLINE: &str = "
        SELECT expires_at FROM prompts INDEXED BY pending_deadlines
        WHERE settled_at IS NULL AND expires_at >= 0
        ORDER BY expires_at LIMIT 1";
    pub(super) const ENDED: &str = "
        SELECT number, prompt, settlement, tenant, session FROM prompts INDEXED BY settled_ends
        WHERE settled_at IS NOT NULL AND settled_at <= ?1
            AND (?3 IS NULL OR tenant = ?3) AND tenant NOT IN (SELECT value FROM json_each(?4))
        ORDER BY settled_at LIMIT ?2";
    pub(super) const COUNT_PENDING: &str = "
        SELECT count(*) FROM (SELECT 1 FROM prompts WHERE settled_at IS NULL LIMIT ?1)";
    pub(super) const COUNT_PENDING_OF: &str = "
        SELECT count(*) FROM (SELECT 1 FROM prompts WHERE tenant = ?2 AND settled_at IS NULL LIMIT ?1)";
    pub(super) const PURGE: &str = "DELETE FROM prompts WHERE number = ?1";
    pub(super) const SET_ASIDE: &str = "
        INSERT INTO set_aside (tenant, id, session, created_at, expires_at, settled_at, prompt, settlement)
        SELECT tenant, id, session, created_at, expires_at, settled_at, prompt, settlement
        FROM prompts WHERE number = ?1 AND prompt = CAST(?2 AS TEXT)";
    pub(super) const KEEP_SUMMARY: &str = "
        INSERT OR REPLACE INTO summaries (tenant, session, prompt, settled_at, summary)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    pub(super) const TRIM_SUMMARIES: &str = "
        DELETE FROM summaries WHERE number IN (
            SELECT number FROM summaries INDEXED BY summaries_of_session
            WHERE tenant = ?1 AND session = ?2
            ORDER BY settled_at DESC, prompt DESC LIMIT -1 OFFSET ?3)";

    #[cfg(test)]
    pub(super) const ALL: [&str; 23] = [
        INSERT,
        BY_TOOL_CALL,
        PENDING_OF_TOOL,
        GET,
        COMPARE,
        SET,
        SET_ASIDE,
        PURGE,
        DELETE,
        DELETE_SUMMARY,
        DRAFTS,
        KEEP_DRAFTS,
        SETTLED_OF_SESSION,
        SUMMARIES,
        FORGET_PROMPTS,
        FORGET_SUMMARIES,
        OVERDUE,
        NEXT_DEADLINE,
        ENDED,
        COUNT_PENDING,
        COUNT_PENDING_OF,
        KEEP_SUMMARY,
        TRIM_SUMMARIES,
    ];
}

/// The statement for a page. Parameters: tenant, place (2), now, session, run, requester, how many.
fn list_statement(query: &Query) -> String {
    // The indexes of the smallest group; what else is asked for is looked up in its rows.
    let (pending, settled) = match query {
        Query { run: Some(_), .. } => ("all_of_run", "all_of_run"),
        Query { session: Some(_), .. } => ("pending_of_session", "settled_of_session"),
        Query { requester: Some(_), .. } => ("pending_of_requester", "settled_of_requester"),
        _ => ("pending", "settled"),
    };
    let mut filters = String::new();
    for (asked, filter) in [
        (&query.session, " AND session = ?5"),
        (&query.run, " AND run = ?6"),
        (&query.requester, " AND requester = ?7"),
    ] {
        if asked.is_some() {
            filters.push_str(filter);
        }
    }
    let half = |index: &str, status: &str| {
        format!(
            "SELECT number, prompt, settlement, created_at, id FROM prompts INDEXED BY {index} \
             WHERE tenant = ?1 AND {status} AND (created_at, id) > (?2, ?3){filters}"
        )
    };
    let pending = |filter: &str| half(pending, &format!("settled_at IS NULL{filter}"));
    let settled = || half(settled, "settled_at IS NOT NULL");
    let rows = match query.status {
        StatusFilter::Pending => pending(" AND expires_at > ?4"),
        StatusFilter::Settled => settled(),
        StatusFilter::All => format!("{} UNION ALL {}", pending(""), settled()),
    };
    format!("{rows} ORDER BY created_at, id LIMIT ?8")
}

/// The first row, if there is one. The statement runs to its end, so that a change is complete.
fn first<T>(
    connection: &Connection,
    statement: &str,
    parameters: &[&dyn ToSql],
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, Failure> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(parameters)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let found = read(row)?;
    while rows.next()?.is_some() {}
    Ok(Some(found))
}

fn all<T>(
    connection: &Connection,
    statement: &str,
    parameters: &[&dyn ToSql],
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Failure> {
    let mut statement = connection.prepare_cached(statement)?;
    let rows = statement.query_map(parameters, read)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn change(connection: &Connection, statement: &str, parameters: &[&dyn ToSql]) -> Result<usize, Failure> {
    Ok(connection.prepare_cached(statement)?.execute(parameters)?)
}

/// Several statements, all or nothing. One statement is that by itself, and cheaper.
fn together<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    change(connection, "SAVEPOINT job", &[])?;
    let result = work(connection);
    // After a grave error SQLite has taken back everything, and there is no savepoint any more.
    if result.is_err() && !connection.is_autocommit() {
        change(connection, "ROLLBACK TO job", &[])?;
    }
    if !connection.is_autocommit() {
        change(connection, "RELEASE job", &[])?;
    }
    result
}

/// Several looks at one state of the file.
fn at_once<T>(
    connection: &Connection,
    look: impl FnOnce(&Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let transaction = connection.unchecked_transaction()?;
    look(&transaction)
}

fn get(connection: &Connection, tenant: &TenantId, id: &str) -> Result<Option<Record>, Failure> {
    first(connection, statements::GET, params![tenant.as_str(), id], Record::of)
}

/// What became of a prompt that was to be stored, with records that are still to be read.
enum Outcoming {
    New,
    Attached(Record),
    SessionBusy(Record),
    IdInUse,
}

/// A prompt's columns.
struct Columns {
    tenant: String,
    id: String,
    by_tool: bool,
    session: Option<String>,
    run: Option<String>,
    tool_call: Option<String>,
    requester: Option<String>,
    created_at: i64,
    expires_at: i64,
    prompt: String,
}

impl Columns {
    fn insert(&self, connection: &Connection) -> Result<Outcoming, Failure> {
        let stored = change(
            connection,
            statements::INSERT,
            params![
                self.tenant,
                self.id,
                self.by_tool,
                self.session,
                self.run,
                self.tool_call,
                self.requester,
                self.created_at,
                self.expires_at,
                self.prompt,
            ],
        )?;
        if stored == 1 {
            return Ok(Outcoming::New);
        }
        // Something stood in the way, and nobody else can change it now. Which it was, in the order of the rules:
        if self.by_tool {
            let call = params![self.tenant, self.session, self.run, self.tool_call];
            if let Some(earlier) = first(connection, statements::BY_TOOL_CALL, call, Record::of)? {
                return Ok(Outcoming::Attached(earlier));
            }
            let session = params![self.tenant, self.session];
            if let Some(earlier) = first(connection, statements::PENDING_OF_TOOL, session, Record::of)? {
                return Ok(Outcoming::SessionBusy(earlier));
            }
        }
        Ok(Outcoming::IdInUse)
    }
}

/// What became of a settlement, with records that are still to be read.
enum Ending {
    Committed(Record),
    Refused(Record),
    NotFound,
}

/// Compare-and-set. Nobody else can write in between: the writer's transactions take the file for themselves.
fn settle(
    connection: &Connection,
    tenant: &str,
    id: &str,
    settlement: &Settlement,
    written: String,
) -> Result<Ending, Failure> {
    let found = first(connection, statements::COMPARE, params![tenant, id], |row| {
        Ok((Record::of(row)?, row.get::<_, i64>("expires_at")?))
    })?;
    let Some((mut record, expires_at)) = found else { return Ok(Ending::NotFound) };
    let at = moment(settlement.at);
    let is_expiry = matches!(settlement.outcome, Outcome::NoAnswer(NoAnswerReason::Expired));
    if record.settlement.is_some() || is_expiry != (expires_at <= at) {
        return Ok(Ending::Refused(record));
    }
    change(connection, statements::SET, params![record.number, at, written])?;
    record.settlement = Some(written.into_bytes().into());
    Ok(Ending::Committed(record))
}

/// Removes prompts that have ended, and keeps their summaries.
fn purge(connection: &Connection, whose: &Whose, settled_until: i64, limit: i64) -> Result<usize, Failure> {
    let (only, but) = match whose {
        Whose::Only(tenant) => (Some(tenant.as_str()), Vec::new()),
        Whose::AllBut(others) => (None, others.iter().map(TenantId::as_str).collect()),
    };
    let parameters = params![settled_until, limit, only, json(&but)?];
    let ended = all(connection, statements::ENDED, parameters, |row| {
        let tenant: String = row.get("tenant")?;
        let session: Option<String> = row.get("session")?;
        Ok((tenant, session, Record::of(row)?))
    })?;
    let mut sessions = BTreeSet::new();
    for (tenant, session, record) in &ended {
        change(connection, statements::PURGE, params![record.number])?;
        // What cannot be read has no summary, and must not keep the rest from being purged.
        let summary = record.prompt().ok().as_ref().and_then(Summary::of);
        if let (Some(session), Some(summary)) = (session, summary) {
            let at = moment(summary.settled_at);
            let written = json(&summary)?;
            let parameters = params![tenant, session, summary.prompt, at, written];
            change(connection, statements::KEEP_SUMMARY, parameters)?;
            sessions.insert((tenant, session));
        }
    }
    for (tenant, session) in sessions {
        change(connection, statements::TRIM_SUMMARIES, params![tenant, session, count(SUMMARIES_KEPT)])?;
    }
    Ok(ended.len())
}

/// What senders have answered so far.
type Drafts = BTreeMap<String, Vec<Answer>>;

/// The drafts of a prompt; nothing if it is not pending.
fn drafts(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Drafts>, Failure> {
    let found = first(connection, statements::DRAFTS, params![tenant, id], |row| row.get("drafts"))?;
    let written: Option<Option<String>> = found;
    written.map(|written| written.map_or(Ok(Drafts::new()), |written| read(&written))).transpose()
}

fn read<T: DeserializeOwned>(written: &str) -> Result<T, Failure> {
    Ok(serde_json::from_str(written)?)
}

#[async_trait]
impl Store for SqliteStore {
    async fn insert(
        &self,
        tenant: &TenantId,
        prompt: &Arc<Prompt>,
        door: Door,
    ) -> Result<Inserted, StoreError> {
        let origin = &prompt.origin;
        let written = match prompt.settlement {
            None => self.json(&**prompt)?,
            Some(_) => self.json(&Prompt { settlement: None, ..(**prompt).clone() })?,
        };
        if prompt.settlement.is_none() {
            self.newest.keep(&written, prompt);
        }
        let columns = Arc::new(Columns {
            tenant: tenant.as_str().into(),
            id: prompt.id.clone(),
            by_tool: door == Door::Tool,
            session: origin.session_key.clone(),
            run: origin.run.clone(),
            tool_call: origin.tool_call.clone(),
            requester: origin.requester.clone(),
            created_at: moment(prompt.created_at),
            expires_at: moment(prompt.expires_at),
            prompt: written,
        });
        loop {
            let columns = Arc::clone(&columns);
            let insert = move |connection: &Connection| columns.insert(connection);
            let (earlier, tell): (Record, fn(_) -> _) = match self.writer.run(insert).await? {
                Outcoming::New => return Ok(Inserted::New),
                Outcoming::IdInUse => return Ok(Inserted::IdInUse),
                Outcoming::Attached(record) => (record, Inserted::Attached),
                Outcoming::SessionBusy(record) => (record, Inserted::SessionBusy),
            };
            match earlier.prompt() {
                Ok(earlier) => return Ok(tell(Arc::new(earlier))),
                Err(_) => self.set_aside(vec![earlier]).await?,
            }
        }
    }

    async fn get(&self, tenant: &TenantId, id: &str) -> Result<Option<Arc<Prompt>>, StoreError> {
        if let Some(found) = self.glance(tenant, id) {
            return found.map(|record| self.prompt(id, &record)).transpose();
        }
        let (tenant, named) = (tenant.clone(), id.to_owned());
        let get = move |connection: &Connection| get(connection, &tenant, &named);
        self.reader.run(get).await?.map(|record| self.prompt(id, &record)).transpose()
    }

    async fn list(&self, tenant: &TenantId, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        let (tenant, query) = (tenant.clone(), query.clone());
        let size = query.page_size();
        let list = move |connection: &Connection| {
            let (created_at, id) = match &query.after {
                Some(cursor) => (moment(cursor.created_at), cursor.id.as_str()),
                None => (-1, ""),
            };
            let parameters = params![
                tenant.as_str(),
                created_at,
                id,
                moment(now),
                query.session,
                query.run,
                query.requester,
                count(size + 1),
            ];
            let mut statement = connection.prepare_cached(&list_statement(&query))?;
            let mut rows = statement.query(parameters)?;
            let (mut found, mut bytes, mut is_more) = (Vec::new(), 0, false);
            while let Some(row) = rows.next()? {
                let record = Record::of(row)?;
                bytes += record.len();
                if found.len() == size || !found.is_empty() && bytes > Query::MAX_BYTES {
                    is_more = true;
                    break;
                }
                let created_at = Timestamp::try_from(row.get::<_, i64>("created_at")?).unwrap_or_default();
                found.push((Cursor { created_at, id: row.get("id")? }, record));
            }
            let next = found.last().filter(|_| is_more).map(|(place, _): &(Cursor, _)| place.clone());
            Ok((sort_out(found), next))
        };
        let ((found, unreadable), next) = self.reader.run(list).await?;
        self.set_aside(unreadable).await?;
        Ok(Page { prompts: found.into_iter().map(|(_, prompt)| prompt).collect(), next })
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        id: &str,
        settlement: &Settlement,
    ) -> Result<Settled, StoreError> {
        let written = self.json(settlement)?;
        let (tenant, named, settlement) = (tenant.clone(), id.to_owned(), settlement.clone());
        let job =
            move |connection: &Connection| settle(connection, tenant.as_str(), &named, &settlement, written);
        Ok(match self.writer.run(job).await? {
            Ending::Committed(record) => Settled::Committed(self.prompt(id, &record)?),
            Ending::Refused(record) if record.settlement.is_some() => {
                Settled::Before(self.prompt(id, &record)?)
            }
            Ending::Refused(record) => Settled::Untimely(self.prompt(id, &record)?),
            Ending::NotFound => Settled::NotFound,
        })
    }

    async fn delete(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
        self.newest.forget(id);
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let delete = move |connection: &Connection| {
            together(connection, |connection| {
                let parameters = params![tenant.as_str(), id];
                let prompts = change(connection, statements::DELETE, parameters)?;
                let summaries = change(connection, statements::DELETE_SUMMARY, parameters)?;
                Ok(prompts + summaries > 0)
            })
        };
        self.writer.run(delete).await
    }

    async fn draft(
        &self,
        tenant: &TenantId,
        id: &str,
        sender: &str,
    ) -> Result<Option<Vec<Answer>>, StoreError> {
        let (tenant, id, sender) = (tenant.clone(), id.to_owned(), sender.to_owned());
        let draft = move |connection: &Connection| {
            Ok(drafts(connection, tenant.as_str(), &id)?.and_then(|mut drafts| drafts.remove(&sender)))
        };
        self.reader.run(draft).await
    }

    async fn keep_draft(
        &self,
        tenant: &TenantId,
        id: &str,
        sender: &str,
        answers: &[Answer],
    ) -> Result<(), StoreError> {
        let (tenant, id, sender) = (tenant.clone(), id.to_owned(), sender.to_owned());
        let answers = answers.to_vec();
        let keep = move |connection: &Connection| {
            let Some(mut drafts) = drafts(connection, tenant.as_str(), &id)? else { return Ok(()) };
            drafts.insert(sender, answers);
            let written = json(&drafts)?;
            change(connection, statements::KEEP_DRAFTS, params![tenant.as_str(), id, written])?;
            Ok(())
        };
        self.writer.run(keep).await
    }

    async fn summaries(&self, tenant: &TenantId, session: &str) -> Result<Vec<Summary>, StoreError> {
        let (tenant, session) = (tenant.clone(), session.to_owned());
        let look = move |connection: &Connection| {
            at_once(connection, |connection| {
                let parameters = params![tenant.as_str(), session, count(SUMMARIES_KEPT)];
                let remains: Vec<String> =
                    all(connection, statements::SUMMARIES, parameters, |row| row.get("summary"))?;
                let kept = all(connection, statements::SETTLED_OF_SESSION, parameters, Record::of)?;
                // Of what cannot be read nothing is left to tell.
                let remains = remains.iter().filter_map(|written| read(written).ok()).collect();
                let kept = kept.iter().filter_map(|record| record.prompt().ok());
                Ok(Summary::newest(remains, kept.filter_map(|prompt| Summary::of(&prompt))))
            })
        };
        self.reader.run(look).await
    }

    async fn forget_session(&self, tenant: &TenantId, session: &str) -> Result<(), StoreError> {
        let (tenant, session) = (tenant.clone(), session.to_owned());
        let forget = move |connection: &Connection| {
            together(connection, |connection| {
                let parameters = params![tenant.as_str(), session];
                change(connection, statements::FORGET_PROMPTS, parameters)?;
                change(connection, statements::FORGET_SUMMARIES, parameters)?;
                Ok(())
            })
        };
        self.writer.run(forget).await
    }

    async fn overdue(
        &self,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<(TenantId, Arc<Prompt>)>, StoreError> {
        let look = move |connection: &Connection| {
            let found = all(connection, statements::OVERDUE, params![moment(now), count(limit)], |row| {
                Ok((row.get::<_, String>("tenant")?, Record::of(row)?))
            })?;
            Ok(sort_out(found))
        };
        let (found, unreadable) = self.reader.run(look).await?;
        self.set_aside(unreadable).await?;
        let named = |(tenant, prompt)| match TenantId::new(tenant) {
            Ok(tenant) => Ok((tenant, prompt)),
            Err(error) => Err(Failure::Unreadable(error.to_string()).of(&self.name)),
        };
        found.into_iter().map(named).collect()
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError> {
        let look = |connection: &Connection| {
            let found = first(connection, statements::NEXT_DEADLINE, &[], |row| row.get::<_, i64>(0))?;
            Ok(found.map(|moment| Timestamp::try_from(moment).unwrap_or_default()))
        };
        self.reader.run(look).await
    }

    async fn purge(
        &self,
        whose: &Whose,
        settled_until: Timestamp,
        limit: usize,
    ) -> Result<usize, StoreError> {
        let (settled_until, limit) = (moment(settled_until), count(limit));
        let whose = whose.clone();
        let job = move |connection: &Connection| {
            together(connection, |connection| purge(connection, &whose, settled_until, limit))
        };
        self.writer.run(job).await
    }

    async fn count_pending(&self, tenant: Option<&TenantId>, limit: usize) -> Result<usize, StoreError> {
        let (tenant, limit) = (tenant.map(|tenant| tenant.as_str().to_owned()), count(limit));
        let look = move |connection: &Connection| {
            let number = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
            let found = match &tenant {
                Some(tenant) => {
                    first(connection, statements::COUNT_PENDING_OF, params![limit, tenant], number)?
                }
                None => first(connection, statements::COUNT_PENDING, params![limit], number)?,
            };
            Ok(found.and_then(|found| usize::try_from(found).ok()).unwrap_or_default())
        };
        self.reader.run(look).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tempfile::TempDir;

    use super::*;

    fn empty() -> (TempDir, Arc<SqliteStore>) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("store")).unwrap();
        (folder, Arc::new(store))
    }

    crate::store_conformance!(facts, empty());
    #[cfg(feature = "channels")]
    crate::delivery_conformance!(delivery_facts, empty());

    const AT: Timestamp = 5_000;

    fn prompt(id: &str, session: &str) -> Arc<Prompt> {
        let written = format!(
            r#"{{"id":"{id}","questions":[],"origin":{{"session_key":"{session}"}},"created_at":1,"expires_at":9000}}"#
        );
        Arc::new(serde_json::from_str(&written).unwrap())
    }

    fn cancelled() -> Settlement {
        let outcome = Outcome::NoAnswer(NoAnswerReason::Cancelled);
        Settlement { outcome, at: AT, resolved_by: None, resolution_id: None }
    }

    fn tenant() -> TenantId {
        TenantId::default()
    }

    #[tokio::test]
    async fn a_restart_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = SqliteStore::open(&path).unwrap();
        for id in ["settled", "purged", "pending"] {
            store.insert(&tenant(), &prompt(id, "s"), Door::Client).await.unwrap();
        }
        store.settle(&tenant(), "purged", &cancelled()).await.unwrap();
        assert_eq!(store.purge(&Whose::ALL, AT, 1).await.unwrap(), 1);
        store.settle(&tenant(), "settled", &cancelled()).await.unwrap();
        store.keep_draft(&tenant(), "pending", "sender", &[]).await.unwrap();
        let state = async |store: &SqliteStore| {
            let all = Query { status: StatusFilter::All, ..Query::default() };
            (
                store.list(&tenant(), &all, AT).await.unwrap(),
                store.draft(&tenant(), "pending", "sender").await.unwrap(),
                store.summaries(&tenant(), "s").await.unwrap(),
                store.next_deadline().await.unwrap(),
            )
        };
        let before = state(&store).await;
        assert_eq!((before.0.prompts.len(), before.2.len(), before.3), (2, 2, Some(9_000)));
        drop(store);
        // The last connection that is closed leaves one file.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(state(&store).await, before);
        assert!(matches!(store.settle(&tenant(), "pending", &cancelled()).await, Ok(Settled::Committed(_))));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_stores_on_one_file_agree_on_one_winner() {
        let (folder, one) = empty();
        let other = Arc::new(SqliteStore::open(folder.path().join("store")).unwrap());
        for round in 0..50 {
            let id = round.to_string();
            // Whichever asks first, the other one sees it.
            let asked = async |store: &SqliteStore, id: &str| {
                store.insert(&tenant(), &prompt(id, "s"), Door::Tool).await.unwrap()
            };
            assert_eq!(asked(&one, &id).await, Inserted::New);
            assert!(matches!(asked(&other, "another").await, Inserted::SessionBusy(_)));
            let tasks = [one.clone(), other.clone()].map(|store| {
                let id = id.clone();
                tokio::spawn(async move { store.settle(&tenant(), &id, &cancelled()).await.unwrap() })
            });
            let mut winners = 0;
            for task in tasks {
                match task.await.unwrap() {
                    Settled::Committed(_) => winners += 1,
                    Settled::Before(_) => {}
                    wrong => panic!("{wrong:?}"),
                }
            }
            assert_eq!(winners, 1);
        }
    }

    #[tokio::test]
    async fn a_file_that_stays_locked_is_not_available() {
        let (folder, store) = empty();
        let locker = Connection::open(folder.path().join("store")).unwrap();
        store.writer.run(|connection| Ok(connection.busy_timeout(std::time::Duration::ZERO)?)).await.unwrap();
        locker.execute_batch("BEGIN IMMEDIATE").unwrap();
        let refused = store.insert(&tenant(), &prompt("p", "s"), Door::Client).await;
        assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
        assert_eq!(store.get(&tenant(), "p").await.unwrap(), None);
        locker.execute_batch("COMMIT").unwrap();
        let stored = store.insert(&tenant(), &prompt("p", "s"), Door::Client).await;
        assert_eq!(stored.unwrap(), Inserted::New);
    }

    #[tokio::test]
    async fn a_row_that_cannot_be_read_is_said_to_be_so() {
        let (_folder, store) = empty();
        store.insert(&tenant(), &prompt("p", "s"), Door::Client).await.unwrap();
        let spoil = "UPDATE prompts SET prompt = '{}'";
        store.writer.run(move |connection| change(connection, spoil, &[])).await.unwrap();
        let read = store.get(&tenant(), "p").await;
        assert!(matches!(read, Err(StoreError::Unreadable { .. })), "{read:?}");
    }

    /// Whatever looks through many rows goes on without it, and nothing of it is lost.
    #[tokio::test]
    async fn a_row_that_cannot_be_read_is_set_aside() {
        let spoiled = [
            "UPDATE prompts SET prompt = '{}' WHERE id = 'bad'",
            "UPDATE prompts SET prompt = CAST(x'ff' AS TEXT) WHERE id = 'bad'",
        ];
        for spoil in spoiled {
            for look in 0..3 {
                let (_folder, store) = empty();
                store.insert(&tenant(), &prompt("bad", "s"), Door::Tool).await.unwrap();
                store.insert(&tenant(), &prompt("good", "t"), Door::Tool).await.unwrap();
                store.writer.run(move |connection| change(connection, spoil, &[])).await.unwrap();
                match look {
                    0 => {
                        let overdue = store.overdue(9_000, 10).await.unwrap();
                        assert_eq!(overdue, [(tenant(), prompt("good", "t"))]);
                    }
                    1 => {
                        let page = store.list(&tenant(), &Query::default(), AT).await.unwrap();
                        assert_eq!(page, Page { prompts: vec![prompt("good", "t")], next: None });
                    }
                    _ => {
                        let next = store.insert(&tenant(), &prompt("next", "s"), Door::Tool).await;
                        assert_eq!(next.unwrap(), Inserted::New, "its session is free again");
                    }
                }
                assert_eq!(store.get(&tenant(), "bad").await.unwrap(), None);
                let look = |connection: &Connection| {
                    Ok(connection.query_row("SELECT id FROM set_aside", [], |row| row.get::<_, String>(0))?)
                };
                assert_eq!(store.writer.run(look).await.unwrap(), "bad");
            }
        }
    }

    #[tokio::test]
    async fn what_was_deleted_is_not_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store");
        let store = SqliteStore::open(&path).unwrap();
        store.insert(&tenant(), &prompt("a-secret-id", "s"), Door::Client).await.unwrap();
        store.settle(&tenant(), "a-secret-id", &cancelled()).await.unwrap();
        assert!(store.delete(&tenant(), "a-secret-id").await.unwrap());
        drop(store);
        let file = std::fs::read(&path).unwrap();
        assert!(!file.windows(11).any(|bytes| bytes == b"a-secret-id"));
    }

    #[tokio::test]
    async fn no_statement_walks_through_a_table() {
        let mut asked = statements::ALL.map(str::to_owned).to_vec();
        #[cfg(feature = "channels")]
        asked.extend(deliveries::statements::ALL.map(str::to_owned));
        let some = Some(String::new());
        for status in [StatusFilter::Pending, StatusFilter::Settled, StatusFilter::All] {
            for bits in 0..8 {
                let part = |bit: u8| some.clone().filter(|_| bits & bit != 0);
                let (session, run, requester) = (part(1), part(2), part(4));
                let query = Query { status, session, run, requester, ..Query::default() };
                asked.push(list_statement(&query));
            }
        }
        let (_folder, store) = empty();
        let explain = move |connection: &Connection| {
            for statement in asked {
                let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
                let unknown = vec![rusqlite::types::Null; explained.parameter_count()];
                let steps = explained
                    .query_map(rusqlite::params_from_iter(unknown), |row| row.get::<_, String>("detail"))?
                    .collect::<Result<Vec<_>, _>>()?;
                let lists = statement.contains("(created_at, id) >");
                // A count goes through what it counts; a list of tenants is none of the tables.
                let counts = statement.contains("count(*)");
                for step in &steps {
                    let walks = step.contains("SCAN") && !counts && !step.contains("json_each");
                    assert!(!walks, "{statement}\n{steps:#?}");
                    // Pages are read in the order in which they are kept.
                    assert!(!(lists && step.contains("TEMP B-TREE")), "{statement}\n{steps:#?}");
                }
            }
            Ok(())
        };
        store.writer.run(explain).await.unwrap();
    }
}
