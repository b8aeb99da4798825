//! Prompts in an SQLite file: they survive a restart, and several processes may share the file.

mod file;
mod threads;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

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
        let (writer, reader) = file::open(path)?;
        let name: Arc<str> = path.display().to_string().into();
        Ok(Self {
            reader: Worker::reader(name.clone(), reader)?,
            writer: Worker::writer(name.clone(), writer)?,
            name,
        })
    }

    fn prompt(&self, record: &Record) -> Result<Arc<Prompt>, StoreError> {
        record.prompt().map(Arc::new).map_err(|failure| failure.of(&self.name))
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
    prompt: String,
    settlement: Option<String>,
}

impl Record {
    /// Reads the columns `prompt` and `settlement`.
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { prompt: row.get("prompt")?, settlement: row.get("settlement")? })
    }

    fn prompt(&self) -> Result<Prompt, Failure> {
        let mut prompt: Prompt = serde_json::from_str(&self.prompt)?;
        prompt.settlement = self.settlement.as_deref().map(serde_json::from_str).transpose()?;
        Ok(prompt)
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
        SELECT prompt, settlement FROM prompts INDEXED BY prompts_tool_call
        WHERE tenant = ?1 AND session = ?2 AND run = ?3 AND tool_call = ?4 AND by_tool = 1";
    pub(super) const PENDING_OF_TOOL: &str = "
        SELECT prompt, settlement FROM prompts INDEXED BY prompts_pending_tool
        WHERE tenant = ?1 AND session = ?2 AND by_tool = 1 AND settled_at IS NULL";
    pub(super) const GET: &str = "
        SELECT prompt, settlement FROM prompts INDEXED BY prompts_id WHERE tenant = ?1 AND id = ?2";
    /// Compare-and-set, for everything but an expiry.
    pub(super) const SETTLE_IN_TIME: &str = "
        UPDATE prompts INDEXED BY prompts_id SET settled_at = ?3, settlement = ?4, drafts = NULL
        WHERE tenant = ?1 AND id = ?2 AND settled_at IS NULL AND expires_at > ?3";
    /// Compare-and-set, for an expiry.
    pub(super) const EXPIRE: &str = "
        UPDATE prompts INDEXED BY prompts_id SET settled_at = ?3, settlement = ?4, drafts = NULL
        WHERE tenant = ?1 AND id = ?2 AND settled_at IS NULL AND expires_at <= ?3";
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
        SELECT prompt, settlement FROM prompts INDEXED BY settled_of_session
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
        SELECT tenant, prompt, settlement FROM prompts INDEXED BY pending_deadlines
        WHERE settled_at IS NULL AND expires_at <= ?1
        ORDER BY expires_at LIMIT ?2";
    pub(super) const NEXT_DEADLINE: &str = "
        SELECT expires_at FROM prompts INDEXED BY pending_deadlines
        WHERE settled_at IS NULL AND expires_at >= 0
        ORDER BY expires_at LIMIT 1";
    pub(super) const ENDED: &str = "
        SELECT number, tenant, session, prompt, settlement FROM prompts INDEXED BY settled_ends
        WHERE settled_at IS NOT NULL AND settled_at <= ?1
            AND (?3 IS NULL OR tenant = ?3) AND tenant NOT IN (SELECT value FROM json_each(?4))
        ORDER BY settled_at LIMIT ?2";
    pub(super) const COUNT_PENDING: &str = "
        SELECT count(*) FROM (SELECT 1 FROM prompts WHERE settled_at IS NULL LIMIT ?1)";
    pub(super) const COUNT_PENDING_OF: &str = "
        SELECT count(*) FROM (SELECT 1 FROM prompts WHERE tenant = ?2 AND settled_at IS NULL LIMIT ?1)";
    pub(super) const PURGE: &str = "DELETE FROM prompts WHERE number = ?1";
    pub(super) const KEEP_SUMMARY: &str = "
        INSERT OR REPLACE INTO summaries (tenant, session, prompt, settled_at, summary)
        VALUES (?1, ?2, ?3, ?4, ?5)";
    pub(super) const TRIM_SUMMARIES: &str = "
        DELETE FROM summaries WHERE number IN (
            SELECT number FROM summaries INDEXED BY summaries_of_session
            WHERE tenant = ?1 AND session = ?2
            ORDER BY settled_at DESC, prompt DESC LIMIT -1 OFFSET ?3)";

    #[cfg(test)]
    pub(super) const ALL: [&str; 22] = [
        INSERT,
        BY_TOOL_CALL,
        PENDING_OF_TOOL,
        GET,
        SETTLE_IN_TIME,
        EXPIRE,
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
        PURGE,
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
            "SELECT created_at, id, prompt, settlement FROM prompts INDEXED BY {index} \
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

fn settle(
    connection: &Connection,
    tenant: &str,
    id: &str,
    settlement: &Settlement,
    written: &str,
) -> Result<Ending, Failure> {
    let statement = match settlement.outcome {
        Outcome::NoAnswer(NoAnswerReason::Expired) => statements::EXPIRE,
        _ => statements::SETTLE_IN_TIME,
    };
    let settled = change(connection, statement, params![tenant, id, moment(settlement.at), written])? == 1;
    // Looked up afterwards in both cases: a statement that changes and tells at once is slower than two.
    let found = first(connection, statements::GET, params![tenant, id], Record::of)?;
    Ok(match found {
        Some(record) if settled => Ending::Committed(record),
        Some(record) => Ending::Refused(record),
        None => Ending::NotFound,
    })
}

/// Removes prompts that have ended, and keeps their summaries.
fn purge(connection: &Connection, whose: &Whose, settled_until: i64, limit: i64) -> Result<usize, Failure> {
    let (only, but) = match whose {
        Whose::Only(tenant) => (Some(tenant.as_str()), Vec::new()),
        Whose::AllBut(others) => (None, others.iter().map(TenantId::as_str).collect()),
    };
    let parameters = params![settled_until, limit, only, json(&but)?];
    let ended = all(connection, statements::ENDED, parameters, |row| {
        let number: i64 = row.get("number")?;
        let tenant: String = row.get("tenant")?;
        let session: Option<String> = row.get("session")?;
        Ok((number, tenant, session, Record::of(row)?))
    })?;
    let mut sessions = BTreeSet::new();
    for (number, tenant, session, record) in &ended {
        change(connection, statements::PURGE, params![number])?;
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
        let columns = Columns {
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
        };
        Ok(match self.writer.run(move |connection| columns.insert(connection)).await? {
            Outcoming::New => Inserted::New,
            Outcoming::Attached(record) => Inserted::Attached(self.prompt(&record)?),
            Outcoming::SessionBusy(record) => Inserted::SessionBusy(self.prompt(&record)?),
            Outcoming::IdInUse => Inserted::IdInUse,
        })
    }

    async fn get(&self, tenant: &TenantId, id: &str) -> Result<Option<Arc<Prompt>>, StoreError> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let get = move |connection: &Connection| {
            first(connection, statements::GET, params![tenant.as_str(), id], Record::of)
        };
        self.reader.run(get).await?.map(|record| self.prompt(&record)).transpose()
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
            let records = all(connection, &list_statement(&query), parameters, Record::of)?;
            records.iter().map(|record| record.prompt().map(Arc::new)).collect::<Result<Vec<_>, _>>()
        };
        let mut page = Page { prompts: self.reader.run(list).await?, next: None };
        if page.prompts.len() > size {
            page.prompts.truncate(size);
            page.next = page.prompts.last().map(|prompt| Cursor::of(prompt));
        }
        Ok(page)
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        id: &str,
        settlement: &Settlement,
    ) -> Result<Settled, StoreError> {
        let written = self.json(settlement)?;
        let (tenant, id, settlement) = (tenant.clone(), id.to_owned(), settlement.clone());
        let job =
            move |connection: &Connection| settle(connection, tenant.as_str(), &id, &settlement, &written);
        Ok(match self.writer.run(job).await? {
            Ending::Committed(record) => Settled::Committed(self.prompt(&record)?),
            Ending::Refused(record) if record.settlement.is_some() => Settled::Before(self.prompt(&record)?),
            Ending::Refused(record) => Settled::Untimely(self.prompt(&record)?),
            Ending::NotFound => Settled::NotFound,
        })
    }

    async fn delete(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
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
                let remains = remains.iter().map(|written| read(written)).collect::<Result<_, _>>()?;
                let kept = kept.iter().map(Record::prompt).collect::<Result<Vec<_>, _>>()?;
                Ok(Summary::newest(remains, kept.iter().filter_map(Summary::of)))
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
                Ok((row.get("tenant")?, Record::of(row)?))
            })?;
            let named = |(tenant, record): (String, Record)| {
                let tenant = TenantId::new(tenant).map_err(|error| Failure::Unreadable(error.to_string()))?;
                Ok((tenant, Arc::new(record.prompt()?)))
            };
            found.into_iter().map(named).collect()
        };
        self.reader.run(look).await
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
