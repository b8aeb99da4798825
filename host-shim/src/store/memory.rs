//! Prompts in memory: everything is gone when the process ends.
//!
//! A prompt that waits costs a few hundred bytes: it is kept as one packed record, and its places in the lists are
//! hashes instead of names. A hash only leads to a prompt; whether it is the right one is looked up in the record.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::iter::{self, Peekable};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::{
    Cursor, Door, Inserted, Page, Query, SUMMARIES_KEPT, Settled, StatusFilter, Store, StoreError, Summary,
    TenantId, fits_deadline,
};
use crate::contract::{Answer, Prompt, Settlement, Timestamp};

/// Keeps prompts in memory.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every change does first what can fail, so nothing is half changed after a panic, and a poisoned lock is as good
    /// as any.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        formatter
            .debug_struct("MemoryStore")
            .field("tenants", &state.tenants.len())
            .field("pending", &state.deadlines.len())
            .field("settled", &state.ends.len())
            .finish()
    }
}

/// A moment in the life of one prompt, in the order of time.
type Moment = (Timestamp, Arc<TenantId>, Arc<str>);

#[derive(Default)]
struct State {
    tenants: HashMap<Arc<TenantId>, Shelf>,
    /// When the pending prompts expire.
    deadlines: BTreeSet<Moment>,
    /// When the others ended.
    ends: BTreeSet<Moment>,
    /// Its keys are random, so that nobody can make groups meet in one hash.
    hasher: RandomState,
}

/// What belongs to one tenant.
#[derive(Default)]
struct Shelf {
    prompts: HashMap<Arc<str>, Box<Kept>>,
    pending: BTreeSet<Place>,
    settled: BTreeSet<Place>,
    /// By prompt, then by sender.
    drafts: HashMap<Arc<str>, BTreeMap<String, Vec<Answer>>>,
    remains: Remains,
}

/// One prompt.
struct Kept {
    door: Door,
    expires_at: Timestamp,
    settled_at: Option<Timestamp>,
    /// The whole prompt, packed.
    record: Arc<[u8]>,
}

/// One line of a group's list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    group: u64,
    created_at: Timestamp,
    id: Arc<str>,
}

/// Prompts that are looked for together.
#[derive(Clone, Copy, Hash)]
enum Group<'a> {
    Everything,
    Session(&'a str),
    Run(&'a str),
    Requester(&'a str),
    /// What a session asked through the tool.
    Tool {
        session: &'a str,
    },
    /// What a tool call asked.
    ToolCall {
        session: &'a str,
        run: &'a str,
        call: &'a str,
    },
}

impl<'a> Group<'a> {
    /// The groups a prompt belongs to.
    fn all_of(prompt: &'a Prompt, door: Door) -> impl Iterator<Item = Self> {
        let origin = &prompt.origin;
        let session = origin.session_key.as_deref();
        let by_tool = session.filter(|_| door == Door::Tool);
        [
            Some(Self::Everything),
            session.map(Self::Session),
            origin.run.as_deref().map(Self::Run),
            origin.requester.as_deref().map(Self::Requester),
            by_tool.map(|session| Self::Tool { session }),
            by_tool.and_then(|_| Self::tool_call(prompt)),
        ]
        .into_iter()
        .flatten()
    }

    /// The tool call that asked. Only all three names together say which one it was.
    fn tool_call(prompt: &'a Prompt) -> Option<Self> {
        let origin = &prompt.origin;
        Some(Self::ToolCall {
            session: origin.session_key.as_deref()?,
            run: origin.run.as_deref()?,
            call: origin.tool_call.as_deref()?,
        })
    }

    /// The smallest group that holds all that a query asks for.
    fn of_query(query: &'a Query) -> Self {
        None.or_else(|| query.run.as_deref().map(Self::Run))
            .or_else(|| query.session.as_deref().map(Self::Session))
            .or_else(|| query.requester.as_deref().map(Self::Requester))
            .unwrap_or(Self::Everything)
    }

    /// Whether a prompt that was found by the group's hash belongs to the group.
    fn holds(self, prompt: &Prompt, door: Door) -> bool {
        let origin = &prompt.origin;
        let of_session = |session: &str| origin.session_key.as_deref() == Some(session);
        match self {
            Self::Everything => true,
            Self::Session(session) => of_session(session),
            Self::Run(run) => origin.run.as_deref() == Some(run),
            Self::Requester(requester) => origin.requester.as_deref() == Some(requester),
            Self::Tool { session } => door == Door::Tool && of_session(session),
            Self::ToolCall { session, run, call } => {
                door == Door::Tool
                    && of_session(session)
                    && origin.run.as_deref() == Some(run)
                    && origin.tool_call.as_deref() == Some(call)
            }
        }
    }
}

/// The packed summaries of one session, in the order of the ends.
type Summaries = BTreeMap<(Timestamp, Arc<str>), Box<[u8]>>;

/// The summaries of prompts that are gone. While a prompt is kept, its summary is made from it.
#[derive(Default)]
struct Remains {
    sessions: HashMap<Arc<str>, Summaries>,
    /// Where a prompt's summary is.
    places: HashMap<Arc<str>, (Arc<str>, Timestamp)>,
}

impl Remains {
    fn keep(&mut self, session: &str, summary: &Summary) -> Result<(), StoreError> {
        let record = pack(summary)?;
        let id: Arc<str> = summary.prompt.as_str().into();
        self.remove(&id);
        let session: Arc<str> = match self.sessions.get_key_value(session) {
            Some((known, _)) => known.clone(),
            None => session.into(),
        };
        let of_session = self.sessions.entry(session.clone()).or_default();
        of_session.insert((summary.settled_at, id.clone()), record.into());
        self.places.insert(id, (session, summary.settled_at));
        while of_session.len() > SUMMARIES_KEPT {
            if let Some(((_, oldest), _)) = of_session.pop_first() {
                self.places.remove(&oldest);
            }
        }
        Ok(())
    }

    fn remove(&mut self, id: &str) -> bool {
        let Some((id, (session, settled_at))) = self.places.remove_entry(id) else { return false };
        if let Some(of_session) = self.sessions.get_mut(&session) {
            of_session.remove(&(settled_at, id));
            if of_session.is_empty() {
                self.sessions.remove(&session);
            }
        }
        true
    }

    fn forget(&mut self, session: &str) {
        for (_, id) in self.sessions.remove(session).unwrap_or_default().into_keys() {
            self.places.remove(&id);
        }
    }

    fn of_session(&self, session: &str) -> Result<Vec<Summary>, StoreError> {
        self.sessions.get(session).into_iter().flatten().map(|(_, record)| unpack(record)).collect()
    }
}

impl Shelf {
    /// The places of one group from a cursor on, in the order of the list.
    fn places<'a>(
        places: &'a BTreeSet<Place>,
        group: u64,
        after: Option<&Cursor>,
    ) -> impl Iterator<Item = &'a Place> {
        let start = match after {
            Some(cursor) => {
                Bound::Excluded(Place { group, created_at: cursor.created_at, id: cursor.id.as_str().into() })
            }
            None => Bound::Included(Place { group, created_at: 0, id: Arc::default() }),
        };
        places.range((start, Bound::Unbounded)).take_while(move |place| place.group == group)
    }

    /// The first prompt of a group.
    fn first(
        &self,
        places: &BTreeSet<Place>,
        hash: u64,
        group: Group<'_>,
    ) -> Result<Option<Prompt>, StoreError> {
        for place in Self::places(places, hash, None) {
            let Some(kept) = self.prompts.get(&place.id) else { continue };
            let prompt = unpack(&kept.record)?;
            if group.holds(&prompt, kept.door) {
                return Ok(Some(prompt));
            }
        }
        Ok(None)
    }

    /// The packed prompts that a page can be made of: those in the group's list after a place.
    fn candidates(
        &self,
        query: &Query,
        group: u64,
        after: Option<&Cursor>,
        now: Timestamp,
        count: usize,
    ) -> Vec<Arc<[u8]>> {
        let (pending, settled) = match query.status {
            StatusFilter::Pending => (Some(&self.pending), None),
            StatusFilter::Settled => (None, Some(&self.settled)),
            StatusFilter::All => (Some(&self.pending), Some(&self.settled)),
        };
        let listed = |places: Option<_>| {
            places.into_iter().flat_map(|places| Self::places(places, group, after)).peekable()
        };
        in_order(listed(pending), listed(settled))
            .filter_map(|place| self.prompts.get(&place.id))
            .filter(|kept| query.status != StatusFilter::Pending || kept.expires_at > now)
            .take(count)
            .map(|kept| kept.record.clone())
            .collect()
    }

    /// The settled prompts of a session.
    fn settled_of_session(&self, hash: u64, session: &str) -> Result<Vec<Prompt>, StoreError> {
        let mut found = Vec::new();
        for place in Self::places(&self.settled, hash, None) {
            let Some(kept) = self.prompts.get(&place.id) else { continue };
            let prompt: Prompt = unpack(&kept.record)?;
            if Group::Session(session).holds(&prompt, kept.door) {
                found.push(prompt);
            }
        }
        Ok(found)
    }
}

/// Two lists in order become one in order.
fn in_order<'a>(
    mut left: Peekable<impl Iterator<Item = &'a Place>>,
    mut right: Peekable<impl Iterator<Item = &'a Place>>,
) -> impl Iterator<Item = &'a Place> {
    iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(first), Some(second)) if second < first => right.next(),
        (Some(_), _) => left.next(),
        (None, _) => right.next(),
    })
}

impl State {
    fn hash(&self, group: Group<'_>) -> u64 {
        self.hasher.hash_one(group)
    }

    /// The places of a prompt in all lists.
    fn places(&self, prompt: &Prompt, id: &Arc<str>, door: Door) -> Vec<Place> {
        Group::all_of(prompt, door)
            .map(|group| Place { group: self.hash(group), created_at: prompt.created_at, id: id.clone() })
            .collect()
    }

    /// The tenant, with everything that is kept for it.
    fn tenant(&self, tenant: &TenantId) -> Option<(&Arc<TenantId>, &Shelf)> {
        self.tenants.get_key_value(tenant)
    }

    fn insert(&mut self, tenant: &TenantId, prompt: &Prompt, door: Door) -> Result<Inserted, StoreError> {
        if let Some((_, shelf)) = self.tenant(tenant) {
            let session = prompt.origin.session_key.as_deref().filter(|_| door == Door::Tool);
            if let Some(group) = session.and_then(|_| Group::tool_call(prompt)) {
                let hash = self.hash(group);
                for places in [&shelf.pending, &shelf.settled] {
                    if let Some(earlier) = shelf.first(places, hash, group)? {
                        return Ok(Inserted::Attached(Box::new(earlier)));
                    }
                }
            }
            if let Some(session) = session {
                let group = Group::Tool { session };
                if let Some(earlier) = shelf.first(&shelf.pending, self.hash(group), group)? {
                    return Ok(Inserted::SessionBusy(Box::new(earlier)));
                }
            }
            if shelf.prompts.contains_key(prompt.id.as_str()) {
                return Ok(Inserted::IdInUse);
            }
        }
        let record = match prompt.settlement {
            None => pack(prompt)?,
            Some(_) => pack(&Prompt { settlement: None, ..prompt.clone() })?,
        };
        let kept = Kept { door, expires_at: prompt.expires_at, settled_at: None, record: record.into() };
        let id: Arc<str> = prompt.id.as_str().into();
        let places = self.places(prompt, &id, door);
        let tenant = match self.tenant(tenant) {
            Some((known, _)) => known.clone(),
            None => Arc::new(tenant.clone()),
        };
        self.deadlines.insert((prompt.expires_at, tenant.clone(), id.clone()));
        let shelf = self.tenants.entry(tenant).or_default();
        shelf.pending.extend(places);
        shelf.prompts.insert(id, Box::new(kept));
        Ok(Inserted::New)
    }

    fn settle(
        &mut self,
        tenant: &TenantId,
        id: &str,
        settlement: &Settlement,
    ) -> Result<Settled, StoreError> {
        let Some((tenant, shelf)) = self.tenant(tenant) else { return Ok(Settled::NotFound) };
        let Some((id, kept)) = shelf.prompts.get_key_value(id) else { return Ok(Settled::NotFound) };
        let mut prompt: Prompt = unpack(&kept.record)?;
        if kept.settled_at.is_some() {
            return Ok(Settled::Before(Box::new(prompt)));
        }
        if !fits_deadline(settlement, kept.expires_at) {
            return Ok(Settled::Untimely(Box::new(prompt)));
        }
        prompt.settlement = Some(settlement.clone());
        let record = pack(&prompt)?.into();
        let (tenant, id) = (tenant.clone(), id.clone());
        let places = self.places(&prompt, &id, kept.door);

        self.deadlines.remove(&(prompt.expires_at, tenant.clone(), id.clone()));
        self.ends.insert((settlement.at, tenant.clone(), id.clone()));
        if let Some(shelf) = self.tenants.get_mut(&tenant) {
            for place in places {
                shelf.pending.remove(&place);
                shelf.settled.insert(place);
            }
            shelf.drafts.remove(&id);
            if let Some(kept) = shelf.prompts.get_mut(&id) {
                kept.record = record;
                kept.settled_at = Some(settlement.at);
            }
        }
        Ok(Settled::Committed(Box::new(prompt)))
    }

    /// Takes a prompt that has ended out of all lists.
    fn remove_settled(&mut self, tenant: &TenantId, id: &str) -> Result<Option<Prompt>, StoreError> {
        let Some((tenant, shelf)) = self.tenant(tenant) else { return Ok(None) };
        let Some((id, kept)) = shelf.prompts.get_key_value(id) else { return Ok(None) };
        let Some(settled_at) = kept.settled_at else { return Ok(None) };
        let prompt: Prompt = unpack(&kept.record)?;
        let (tenant, id) = (tenant.clone(), id.clone());
        let places = self.places(&prompt, &id, kept.door);

        self.ends.remove(&(settled_at, tenant.clone(), id.clone()));
        if let Some(shelf) = self.tenants.get_mut(&tenant) {
            for place in &places {
                shelf.settled.remove(place);
            }
            shelf.prompts.remove(&id);
        }
        Ok(Some(prompt))
    }

    fn forget_session(&mut self, tenant: &TenantId, session: &str) -> Result<(), StoreError> {
        let hash = self.hash(Group::Session(session));
        let Some((_, shelf)) = self.tenant(tenant) else { return Ok(()) };
        for prompt in shelf.settled_of_session(hash, session)? {
            self.remove_settled(tenant, &prompt.id)?;
        }
        if let Some(shelf) = self.tenants.get_mut(tenant) {
            shelf.remains.forget(session);
        }
        Ok(())
    }

    fn purge(&mut self, settled_until: Timestamp, limit: usize) -> Result<usize, StoreError> {
        let due = |moment: &&Moment| moment.0 <= settled_until;
        let gone: Vec<Moment> = self.ends.iter().take_while(due).take(limit).cloned().collect();
        for (_, tenant, id) in &gone {
            let Some(shelf) = self.tenants.get_mut(tenant) else { continue };
            let Some(kept) = shelf.prompts.get(id) else { continue };
            let prompt: Prompt = unpack(&kept.record)?;
            if let (Some(session), Some(summary)) = (&prompt.origin.session_key, Summary::of(&prompt)) {
                shelf.remains.keep(session, &summary)?;
            }
            self.remove_settled(tenant, id)?;
        }
        Ok(gone.len())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn insert(&self, tenant: &TenantId, prompt: &Prompt, door: Door) -> Result<Inserted, StoreError> {
        self.lock().insert(tenant, prompt, door)
    }

    async fn get(&self, tenant: &TenantId, id: &str) -> Result<Option<Prompt>, StoreError> {
        let record = {
            let state = self.lock();
            let kept = state.tenant(tenant).and_then(|(_, shelf)| shelf.prompts.get(id));
            kept.map(|kept| kept.record.clone())
        };
        record.map(|record| unpack(&record)).transpose()
    }

    async fn list(&self, tenant: &TenantId, query: &Query, now: Timestamp) -> Result<Page, StoreError> {
        let size = query.page_size();
        let group = Group::of_query(query);
        let mut page = Page::default();
        let mut after = query.after.clone();
        loop {
            // Unpacking is the long part, and nobody waits for it: the lock is free again.
            let candidates = {
                let state = self.lock();
                let Some((_, shelf)) = state.tenant(tenant) else { return Ok(page) };
                shelf.candidates(query, state.hash(group), after.as_ref(), now, size + 1)
            };
            for record in &candidates {
                let prompt: Prompt = unpack(record)?;
                after = Some(Cursor::of(&prompt));
                if !query.asks_for(&prompt) {
                    continue;
                }
                if page.prompts.len() == size {
                    page.next = page.prompts.last().map(Cursor::of);
                    return Ok(page);
                }
                page.prompts.push(prompt);
            }
            if candidates.len() <= size {
                return Ok(page);
            }
        }
    }

    async fn settle(
        &self,
        tenant: &TenantId,
        id: &str,
        settlement: &Settlement,
    ) -> Result<Settled, StoreError> {
        self.lock().settle(tenant, id, settlement)
    }

    async fn delete(&self, tenant: &TenantId, id: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        if state.remove_settled(tenant, id)?.is_some() {
            return Ok(true);
        }
        let Some(shelf) = state.tenants.get_mut(tenant) else { return Ok(false) };
        Ok(!shelf.prompts.contains_key(id) && shelf.remains.remove(id))
    }

    async fn draft(
        &self,
        tenant: &TenantId,
        id: &str,
        sender: &str,
    ) -> Result<Option<Vec<Answer>>, StoreError> {
        let state = self.lock();
        let drafts = state.tenant(tenant).and_then(|(_, shelf)| shelf.drafts.get(id));
        Ok(drafts.and_then(|drafts| drafts.get(sender)).cloned())
    }

    async fn keep_draft(
        &self,
        tenant: &TenantId,
        id: &str,
        sender: &str,
        answers: &[Answer],
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let Some(shelf) = state.tenants.get_mut(tenant) else { return Ok(()) };
        let Some((id, kept)) = shelf.prompts.get_key_value(id) else { return Ok(()) };
        if kept.settled_at.is_none() {
            shelf.drafts.entry(id.clone()).or_default().insert(sender.into(), answers.to_vec());
        }
        Ok(())
    }

    async fn summaries(&self, tenant: &TenantId, session: &str) -> Result<Vec<Summary>, StoreError> {
        let state = self.lock();
        let Some((_, shelf)) = state.tenant(tenant) else { return Ok(Vec::new()) };
        let kept = shelf.settled_of_session(state.hash(Group::Session(session)), session)?;
        let remains = shelf.remains.of_session(session)?;
        drop(state);
        Ok(Summary::newest(remains, kept.iter().filter_map(Summary::of)))
    }

    async fn forget_session(&self, tenant: &TenantId, session: &str) -> Result<(), StoreError> {
        self.lock().forget_session(tenant, session)
    }

    async fn overdue(&self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Prompt)>, StoreError> {
        let state = self.lock();
        let due = state.deadlines.iter().take_while(|moment| moment.0 <= now).take(limit);
        due.filter_map(|(_, tenant, id)| {
            let kept = state.tenants.get(tenant)?.prompts.get(id)?;
            Some(unpack(&kept.record).map(|prompt| (TenantId::clone(tenant), prompt)))
        })
        .collect()
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.lock().deadlines.first().map(|moment| moment.0))
    }

    async fn purge(&self, settled_until: Timestamp, limit: usize) -> Result<usize, StoreError> {
        self.lock().purge(settled_until, limit)
    }
}

fn pack(record: &impl serde::Serialize) -> Result<Vec<u8>, StoreError> {
    postcard::to_allocvec(record).map_err(unreadable)
}

fn unpack<T: DeserializeOwned>(record: &[u8]) -> Result<T, StoreError> {
    postcard::from_bytes(record).map_err(unreadable)
}

/// What was packed here can be unpacked here; an error would be a fault of the format itself.
fn unreadable(error: postcard::Error) -> StoreError {
    StoreError::Unreadable { store: "memory".into(), cause: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::MemoryStore;

    crate::store_conformance!(facts, ((), Arc::new(MemoryStore::new())));
}
