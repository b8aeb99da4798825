//! Prompts in memory: everything is gone when the process ends.
//!
//! A prompt that waits costs little more than its text: it is kept as one packed record, and its places in the lists
//! are a hash, a moment and a pointer. A hash only leads to a prompt; whether it is the right one is looked up in the
//! record.

#[cfg(feature = "channels")]
mod deliveries;

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::iter::{self, Peekable};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::{
    Cursor, Door, Inserted, Page, Query, Result, SUMMARIES_KEPT, Settled, StatusFilter, Store, StoreError,
    Summary, TenantId, Whose, fits_deadline,
};
use crate::contract::{Answer, Prompt, Settlement, Timestamp};

/// Prompts that are kept unpacked.
const NEWEST: usize = 128;

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
        let pending = self.lock().deadlines.len();
        formatter.debug_struct("MemoryStore").field("pending", &pending).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    tenants: HashMap<TenantId, Shelf>,
    /// When the pending prompts expire.
    deadlines: BTreeSet<Moment>,
    /// When the others ended.
    ends: BTreeSet<Moment>,
    newest: Newest,
    #[cfg(feature = "channels")]
    deliveries: deliveries::Shelf,
    /// Its keys are random, so that nobody can make groups meet in one hash.
    hasher: RandomState,
}

/// The prompts that came or ended last, unpacked: most are looked at again within a moment, if at all.
#[derive(Default)]
struct Newest(VecDeque<(Arc<Kept>, Arc<Prompt>)>);

impl Newest {
    fn keep(&mut self, kept: &Arc<Kept>, prompt: Arc<Prompt>) {
        self.0.truncate(NEWEST - 1);
        self.0.push_front((Arc::clone(kept), prompt));
    }

    fn get(&self, kept: &Arc<Kept>) -> Option<Arc<Prompt>> {
        self.0.iter().find(|(of, _)| Arc::ptr_eq(of, kept)).map(|(_, prompt)| Arc::clone(prompt))
    }

    fn forget(&mut self, kept: &Arc<Kept>) {
        self.0.retain(|(of, _)| !Arc::ptr_eq(of, kept));
    }
}

/// What belongs to one tenant.
#[derive(Default)]
struct Shelf {
    prompts: HashSet<ById>,
    pending: BTreeSet<Place>,
    /// How many prompts those places are of.
    pending_count: usize,
    settled: BTreeSet<Place>,
    /// By prompt, then by sender.
    drafts: HashMap<Box<str>, BTreeMap<String, Vec<Answer>>>,
    remains: Remains,
}

/// One prompt. It never changes: when the prompt ends, another one takes its place.
struct Kept {
    tenant: TenantId,
    id: Box<str>,
    door: Door,
    expires_at: Timestamp,
    settled_at: Option<Timestamp>,
    /// The whole prompt, packed.
    record: Box<[u8]>,
}

impl Kept {
    fn new(tenant: &TenantId, prompt: &Prompt, door: Door) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            tenant: tenant.clone(),
            id: prompt.id.as_str().into(),
            door,
            expires_at: prompt.expires_at,
            settled_at: prompt.settlement.as_ref().map(|settlement| settlement.at),
            record: pack(prompt)?.into(),
        }))
    }

    /// Of which nothing is known but its id: to be compared with.
    fn named(id: &str) -> Arc<Self> {
        Arc::new(Self {
            tenant: TenantId::default(),
            id: id.into(),
            door: Door::Client,
            expires_at: 0,
            settled_at: None,
            record: Box::default(),
        })
    }

    fn prompt(&self) -> Result<Prompt> {
        unpack(&self.record)
    }
}

/// A prompt that is found by its id.
struct ById(Arc<Kept>);

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        &self.0.id
    }
}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for ById {}

/// One line of a group's list, in the order of the list. The prompt itself is looked at only when all else is the same.
#[derive(Clone)]
struct Place {
    group: u64,
    created_at: Timestamp,
    kept: Arc<Kept>,
}

impl Place {
    fn order(&self) -> (u64, Timestamp, &str) {
        (self.group, self.created_at, &self.kept.id)
    }
}

/// A moment in the life of one prompt, in the order of time.
#[derive(Clone)]
struct Moment {
    at: Timestamp,
    kept: Arc<Kept>,
}

impl Moment {
    fn order(&self) -> (Timestamp, &TenantId, &str) {
        (self.at, &self.kept.tenant, &self.kept.id)
    }
}

/// Makes a type ordered as its method `order` says.
macro_rules! ordered {
    ($($type:ident),*) => {$(
        impl Ord for $type {
            fn cmp(&self, other: &Self) -> Ordering {
                self.order().cmp(&other.order())
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $type {}
    )*};
}

ordered!(Place, Moment);

/// Prompts that are looked for together.
#[derive(Clone, Copy, PartialEq, Hash)]
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
        Group::all_of(prompt, door).any(|group| group == self)
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
    fn keep(&mut self, session: &str, summary: &Summary) -> Result<()> {
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

    fn of_session(&self, session: &str) -> Result<Vec<Summary>> {
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
        let place = |created_at, id| Place { group, created_at, kept: Kept::named(id) };
        let start = match after {
            Some(cursor) => Bound::Excluded(place(cursor.created_at, &cursor.id)),
            None => Bound::Included(place(0, "")),
        };
        places.range((start, Bound::Unbounded)).take_while(move |place| place.group == group)
    }

    /// The prompts of a group, in the order of its list.
    fn prompts<'a>(
        places: &'a BTreeSet<Place>,
        hash: u64,
        group: Group<'a>,
    ) -> impl Iterator<Item = Result<Prompt>> {
        let prompts = Self::places(places, hash, None).map(move |Place { kept, .. }| {
            let prompt = kept.prompt()?;
            Ok(group.holds(&prompt, kept.door).then_some(prompt))
        });
        prompts.filter_map(Result::transpose)
    }

    /// The prompts that a page can be made of: those in the group's list after a place.
    fn candidates(
        &self,
        query: &Query,
        group: u64,
        after: Option<&Cursor>,
        now: Timestamp,
        count: usize,
    ) -> Vec<Arc<Kept>> {
        let (pending, settled) = match query.status {
            StatusFilter::Pending => (Some(&self.pending), None),
            StatusFilter::Settled => (None, Some(&self.settled)),
            StatusFilter::All => (Some(&self.pending), Some(&self.settled)),
        };
        let listed = |places: Option<_>| {
            places.into_iter().flat_map(|places| Self::places(places, group, after)).peekable()
        };
        in_order(listed(pending), listed(settled))
            .map(|place| &place.kept)
            .filter(|kept| query.status != StatusFilter::Pending || kept.expires_at > now)
            .take(count)
            .cloned()
            .collect()
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
    fn places(&self, prompt: &Prompt, kept: &Arc<Kept>) -> Vec<Place> {
        Group::all_of(prompt, kept.door)
            .map(|group| Place { group: self.hash(group), created_at: prompt.created_at, kept: kept.clone() })
            .collect()
    }

    fn kept(&self, tenant: &TenantId, id: &str) -> Option<&Arc<Kept>> {
        self.tenants.get(tenant)?.prompts.get(id).map(|ById(kept)| kept)
    }

    fn insert(&mut self, tenant: &TenantId, prompt: &Arc<Prompt>, door: Door) -> Result<Inserted> {
        if let Some(shelf) = self.tenants.get(tenant) {
            let session = prompt.origin.session_key.as_deref().filter(|_| door == Door::Tool);
            if let Some(group) = session.and_then(|_| Group::tool_call(prompt)) {
                let hash = self.hash(group);
                for places in [&shelf.pending, &shelf.settled] {
                    if let Some(earlier) = Shelf::prompts(places, hash, group).next().transpose()? {
                        return Ok(Inserted::Attached(Arc::new(earlier)));
                    }
                }
            }
            if let Some(session) = session {
                let group = Group::Tool { session };
                if let Some(earlier) =
                    Shelf::prompts(&shelf.pending, self.hash(group), group).next().transpose()?
                {
                    return Ok(Inserted::SessionBusy(Arc::new(earlier)));
                }
            }
            if shelf.prompts.contains(prompt.id.as_str()) {
                return Ok(Inserted::IdInUse);
            }
        }
        let pending = match prompt.settlement {
            None => Arc::clone(prompt),
            Some(_) => Arc::new(Prompt { settlement: None, ..(**prompt).clone() }),
        };
        let kept = Kept::new(tenant, &pending, door)?;
        let places = self.places(&pending, &kept);
        self.newest.keep(&kept, pending);
        self.deadlines.insert(Moment { at: prompt.expires_at, kept: kept.clone() });
        let shelf = self.tenants.entry(tenant.clone()).or_default();
        shelf.pending.extend(places);
        shelf.pending_count += 1;
        shelf.prompts.insert(ById(kept));
        Ok(Inserted::New)
    }

    fn settle(&mut self, tenant: &TenantId, id: &str, settlement: &Settlement) -> Result<Settled> {
        let Some(pending) = self.kept(tenant, id).cloned() else { return Ok(Settled::NotFound) };
        let mut prompt = pending.prompt()?;
        if pending.settled_at.is_some() {
            return Ok(Settled::Before(Arc::new(prompt)));
        }
        if !fits_deadline(settlement, pending.expires_at) {
            return Ok(Settled::Untimely(Arc::new(prompt)));
        }
        prompt.settlement = Some(settlement.clone());
        let prompt = Arc::new(prompt);
        let settled = Kept::new(&pending.tenant, &prompt, pending.door)?;
        let places = self.places(&prompt, &settled);
        self.newest.forget(&pending);
        self.newest.keep(&settled, Arc::clone(&prompt));

        if let Some(shelf) = self.tenants.get_mut(tenant) {
            shelf.pending_count -= 1;
            for place in places {
                shelf.pending.remove(&place);
                shelf.settled.insert(place);
            }
            shelf.drafts.remove(id);
            shelf.prompts.replace(ById(settled.clone()));
        }
        self.deadlines.remove(&Moment { at: pending.expires_at, kept: pending });
        self.ends.insert(Moment { at: settlement.at, kept: settled });
        Ok(Settled::Committed(prompt))
    }

    /// Takes a prompt that has ended out of all lists; whether there was one.
    fn remove_settled(&mut self, tenant: &TenantId, id: &str) -> Result<bool> {
        let Some(kept) = self.kept(tenant, id).cloned() else { return Ok(false) };
        let Some(at) = kept.settled_at else { return Ok(false) };
        let places = self.places(&kept.prompt()?, &kept);

        if let Some(shelf) = self.tenants.get_mut(tenant) {
            for place in &places {
                shelf.settled.remove(place);
            }
            shelf.prompts.remove(id);
        }
        self.newest.forget(&kept);
        #[cfg(feature = "channels")]
        self.deliveries.forget(tenant, id);
        self.ends.remove(&Moment { at, kept });
        Ok(true)
    }

    fn forget_session(&mut self, tenant: &TenantId, session: &str) -> Result<()> {
        let hash = self.hash(Group::Session(session));
        let Some(shelf) = self.tenants.get(tenant) else { return Ok(()) };
        let group = Group::Session(session);
        for prompt in Shelf::prompts(&shelf.settled, hash, group).collect::<Result<Vec<_>>>()? {
            self.remove_settled(tenant, &prompt.id)?;
        }
        if let Some(shelf) = self.tenants.get_mut(tenant) {
            shelf.remains.forget(session);
        }
        Ok(())
    }

    fn purge(&mut self, whose: &Whose, settled_until: Timestamp, limit: usize) -> Result<usize> {
        let due = |moment: &&Moment| moment.at <= settled_until;
        let gone: Vec<Moment> = self
            .ends
            .iter()
            .take_while(due)
            .filter(|moment| whose.is(&moment.kept.tenant))
            .take(limit)
            .cloned()
            .collect();
        for Moment { kept, .. } in &gone {
            let prompt = kept.prompt()?;
            let shelf = self.tenants.get_mut(&kept.tenant);
            if let (Some(shelf), Some(session), Some(summary)) =
                (shelf, &prompt.origin.session_key, Summary::of(&prompt))
            {
                shelf.remains.keep(session, &summary)?;
            }
            self.remove_settled(&kept.tenant, &kept.id)?;
        }
        Ok(gone.len())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn insert(&self, tenant: &TenantId, prompt: &Arc<Prompt>, door: Door) -> Result<Inserted> {
        self.lock().insert(tenant, prompt, door)
    }

    async fn get(&self, tenant: &TenantId, id: &str) -> Result<Option<Arc<Prompt>>> {
        let kept = {
            let state = self.lock();
            let Some(kept) = state.kept(tenant, id) else { return Ok(None) };
            if let Some(prompt) = state.newest.get(kept) {
                return Ok(Some(prompt));
            }
            Arc::clone(kept)
        };
        Ok(Some(Arc::new(kept.prompt()?)))
    }

    async fn list(&self, tenant: &TenantId, query: &Query, now: Timestamp) -> Result<Page> {
        let size = query.page_size();
        let group = Group::of_query(query);
        let mut page = Page::default();
        let mut bytes = 0;
        let mut after = query.after.clone();
        loop {
            // Unpacking is the long part, and nobody waits for it: the lock is free again.
            let candidates = {
                let state = self.lock();
                let Some(shelf) = state.tenants.get(tenant) else { return Ok(page) };
                shelf.candidates(query, state.hash(group), after.as_ref(), now, size + 1)
            };
            for kept in &candidates {
                let prompt = kept.prompt()?;
                after = Some(Cursor::of(&prompt));
                if !query.asks_for(&prompt) {
                    continue;
                }
                bytes += kept.record.len();
                if page.prompts.len() == size || !page.prompts.is_empty() && bytes > Query::MAX_BYTES {
                    page.next = page.prompts.last().map(|prompt| Cursor::of(prompt));
                    return Ok(page);
                }
                page.prompts.push(Arc::new(prompt));
            }
            if candidates.len() <= size {
                return Ok(page);
            }
        }
    }

    async fn settle(&self, tenant: &TenantId, id: &str, settlement: &Settlement) -> Result<Settled> {
        self.lock().settle(tenant, id, settlement)
    }

    async fn delete(&self, tenant: &TenantId, id: &str) -> Result<bool> {
        let mut state = self.lock();
        if state.remove_settled(tenant, id)? {
            return Ok(true);
        }
        let Some(shelf) = state.tenants.get_mut(tenant) else { return Ok(false) };
        Ok(!shelf.prompts.contains(id) && shelf.remains.remove(id))
    }

    async fn draft(&self, tenant: &TenantId, id: &str, sender: &str) -> Result<Option<Vec<Answer>>> {
        let state = self.lock();
        let drafts = state.tenants.get(tenant).and_then(|shelf| shelf.drafts.get(id));
        Ok(drafts.and_then(|drafts| drafts.get(sender)).cloned())
    }

    async fn keep_draft(&self, tenant: &TenantId, id: &str, sender: &str, answers: &[Answer]) -> Result<()> {
        let mut state = self.lock();
        let Some(shelf) = state.tenants.get_mut(tenant) else { return Ok(()) };
        if shelf.prompts.get(id).is_some_and(|ById(kept)| kept.settled_at.is_none()) {
            shelf.drafts.entry(id.into()).or_default().insert(sender.into(), answers.to_vec());
        }
        Ok(())
    }

    async fn summaries(&self, tenant: &TenantId, session: &str) -> Result<Vec<Summary>> {
        let state = self.lock();
        let Some(shelf) = state.tenants.get(tenant) else { return Ok(Vec::new()) };
        let group = Group::Session(session);
        let kept: Vec<_> = Shelf::prompts(&shelf.settled, state.hash(group), group).collect::<Result<_>>()?;
        let remains = shelf.remains.of_session(session)?;
        drop(state);
        Ok(Summary::newest(remains, kept.iter().filter_map(Summary::of)))
    }

    async fn forget_session(&self, tenant: &TenantId, session: &str) -> Result<()> {
        self.lock().forget_session(tenant, session)
    }

    async fn overdue(&self, now: Timestamp, limit: usize) -> Result<Vec<(TenantId, Arc<Prompt>)>> {
        let due: Vec<Moment> = {
            let state = self.lock();
            state.deadlines.iter().take_while(|moment| moment.at <= now).take(limit).cloned().collect()
        };
        due.iter().map(|Moment { kept, .. }| Ok((kept.tenant.clone(), Arc::new(kept.prompt()?)))).collect()
    }

    async fn next_deadline(&self) -> Result<Option<Timestamp>> {
        Ok(self.lock().deadlines.first().map(|moment| moment.at))
    }

    async fn purge(&self, whose: &Whose, settled_until: Timestamp, limit: usize) -> Result<usize> {
        self.lock().purge(whose, settled_until, limit)
    }

    async fn count_pending(&self, tenant: Option<&TenantId>, limit: usize) -> Result<usize> {
        let state = self.lock();
        let pending = match tenant {
            Some(tenant) => state.tenants.get(tenant).map_or(0, |shelf| shelf.pending_count),
            None => state.deadlines.len(),
        };
        Ok(pending.min(limit))
    }
}

fn pack(record: &impl serde::Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(record).map_err(unreadable)
}

fn unpack<T: DeserializeOwned>(record: &[u8]) -> Result<T> {
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
    #[cfg(feature = "channels")]
    crate::delivery_conformance!(deliveries, ((), Arc::new(MemoryStore::new())));
}
