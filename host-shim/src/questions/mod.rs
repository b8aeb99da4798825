//! The service: asks, waits, answers, ends. It lets the plugin decide and the store commit, and tells those who wait
//! and those who listen.
//!
//! A prompt moves once, by the store's compare-and-set. Everything here is built so that nothing depends on who is
//! first: whoever loses learns how the prompt ended.

mod builder;
mod deadlines;
mod error;
mod events;
mod observer;
mod pending;
mod principal;
mod run;
mod waiters;

pub use builder::{AskUserBuilder, Attribution, StartError};
pub use error::{AskError, FindError, HostError, RequestError, SettleError, WaitError};
#[cfg(feature = "gateway")]
pub(crate) use events::Written;
pub use events::{Event, Subscription};
pub use observer::Observer;
pub use pending::PendingPrompt;
pub use principal::{Principal, Scopes};
pub use run::{Liveness, Run};

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Instant;

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::contract::{
    Answer, Cancellation, Context, Draft, Interpretation, Message, NoAnswerReason, NotAnAnswerReason, Origin,
    Policy, Prompt, RequestParams, Resolution, ResolveError, Settlement, Timestamp, ToolDefinition, Verdict,
};
use crate::ids::Ids;
use crate::sandbox::{Owner, Plugin};
use crate::store::{Door, Inserted, Page, Query, Settled, StatusFilter, Store, Summary, TenantId};
use events::Events;
use run::LivenessProbe;
use waiters::{News, Waiters};

/// Who ends the prompts of an aborted run, as OpenClaw names it.
const RUN_ABORT: &str = "run-abort";
/// Fresh ids to try. One is enough, unless somebody chose the same.
const ID_TRIES: usize = 3;

/// The host: the one thing an embedder holds. Cheap to clone; the last clone that is dropped ends it.
#[derive(Clone)]
pub struct AskUser {
    inner: Arc<Inner>,
}

struct Inner {
    plugin: Plugin,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    policy: Policy,
    attribution: Attribution,
    retention: builder::Retention,
    pending_limit: Option<usize>,
    liveness: LivenessProbe,
    observer: Arc<dyn Observer>,
    waiters: Waiters,
    events: Events,
    /// Wakes the deadline loop: a prompt came whose deadline is before `next_wake`.
    earlier_deadline: Arc<Notify>,
    next_wake: AtomicU64,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The deadline loop finds nothing left to hold, and ends.
        self.earlier_deadline.notify_one();
    }
}

impl fmt::Debug for AskUser {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AskUser").field("plugin", &self.inner.plugin).finish_non_exhaustive()
    }
}

/// An answer to a prompt, as a client or a control gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// One answer a question, in any order.
    pub answers: Vec<Answer>,
    /// The caller's own mark of this submission, 1 to 128 characters: repeating it with the same answers gives the
    /// first result again (ruling 27).
    pub resolution_id: Option<String>,
    /// Somebody else who answers, where the caller has the scope to say so (ruling 25).
    pub answered_by: Option<String>,
}

impl Submission {
    /// These answers, and nothing else.
    pub fn of(answers: Vec<Answer>) -> Self {
        Self { answers, ..Self::default() }
    }
}

/// An answer that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The prompt as it ended.
    pub prompt: Arc<Prompt>,
    /// Something to tell the person beside it.
    pub warning: Option<String>,
}

/// What became of a typed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It answered the prompt.
    Answered(Accepted),
    /// It skipped the prompt.
    Skipped(Arc<Prompt>),
    /// It answered a part; the prompt waits for the rest. The text is for the person.
    Incomplete {
        /// What to tell the person.
        correction: String,
        /// Ids of the questions without an answer.
        missing: Vec<String>,
    },
    /// It cannot be taken as it is; the prompt is pending. The text is for the person.
    Correction(String),
    /// It is ordinary chat.
    NotAnAnswer(NotAnAnswerReason),
}

impl AskUser {
    /// Builds a host.
    pub fn builder() -> AskUserBuilder {
        AskUserBuilder::new()
    }

    /// The plugin that decides.
    pub fn plugin(&self) -> &Plugin {
        &self.inner.plugin
    }

    /// The plugin that decides, for one tenant: cheaper, since an instance may serve several calls of the same tenant.
    pub fn plugin_of(&self, tenant: &TenantId) -> Plugin {
        self.inner.plugin.owned_by(Owner::new(tenant.shared()))
    }

    /// The clock everything goes by.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// The tool as this run may use it, or nothing where it may not ask (ruling 10).
    pub fn definition(&self, run: &Run) -> Result<Option<ToolDefinition>, HostError> {
        Ok(self.plugin_of(&run.tenant).definition(&run.origin)?)
    }

    /// Asks: one call of the tool, with its arguments as JSON text. Returns at once; await
    /// [`PendingPrompt::outcome`] for the tool result.
    pub async fn ask_user(&self, arguments: &str, run: &Run) -> Result<PendingPrompt, AskError> {
        if run.cancellation.is_cancelled() {
            return Err(AskError::Aborted);
        }
        let mut tries = ID_TRIES;
        loop {
            let context = self.context(&run.origin, None)?;
            let decided = self.decide(&run.tenant, |plugin| plugin.ask_user(arguments, &context));
            let prompt = match decided.map_err(HostError::from)? {
                Ok(prompt) => prompt,
                Err(crate::contract::Refusal::InvalidArguments(violations)) => {
                    return Err(AskError::InvalidArguments(violations));
                }
                Err(crate::contract::Refusal::NotAMainSession(standing)) => {
                    return Err(AskError::NotAMainSession(standing));
                }
            };
            if let Err(full) = self.check_quota(&run.tenant).await {
                return match self.made_before(run).await? {
                    Some(prompt) => self.attach(run, prompt).await,
                    None => Err(full.into()),
                };
            }
            // Waited for before it is stored, so that however early it ends, whoever watches the run learns it.
            let news = self.inner.waiters.begin(&run.tenant, &prompt.id);
            let (prompt, inserted) = self.insert(&run.tenant, prompt, Door::Tool).await?;
            if inserted == Inserted::New {
                let pending = self.pending(run, prompt);
                pending.watch_run(news);
                return Ok(pending);
            }
            self.inner.waiters.tell(&run.tenant, &prompt.id, &News::Gone);
            match inserted {
                Inserted::Attached(prompt) => return self.attach(run, prompt).await,
                Inserted::SessionBusy(other) => self.make_way(&run.tenant, &other).await?,
                Inserted::New | Inserted::IdInUse => {
                    tries -= 1;
                    if tries == 0 {
                        return Err(HostError::IdsRepeat { id: prompt.id.clone() }.into());
                    }
                }
            }
        }
    }

    /// Registers a prompt of a gateway client. Unlike the tool's there may be many in a session.
    pub async fn request(
        &self,
        tenant: &TenantId,
        params: &RequestParams,
        origin: &Origin,
        id: Option<String>,
    ) -> Result<Arc<Prompt>, RequestError> {
        let context = self.context(origin, id)?;
        fits(&(params, &context.id, origin))?;
        let decided = self.decide(tenant, |plugin| plugin.request(params, &context));
        let prompt = decided.map_err(HostError::from)?.map_err(RequestError::Invalid)?;
        self.check_quota(tenant).await?;
        let (mut prompt, mut inserted) = self.insert(tenant, prompt, Door::Client).await?;
        if inserted != Inserted::New && self.made_room(tenant, &prompt.id).await? {
            (prompt, inserted) = self.insert(tenant, Prompt::clone(&prompt), Door::Client).await?;
        }
        match inserted {
            Inserted::New => Ok(prompt),
            _ => Err(RequestError::IdInUse { id: prompt.id.clone() }),
        }
    }

    /// Waits until a prompt has ended.
    pub async fn wait(&self, principal: &Principal, id: &str) -> Result<Arc<Prompt>, WaitError> {
        match self.get(principal, id).await {
            Ok(prompt) if prompt.settlement.is_some() => Ok(prompt),
            Ok(_) => self.wait_in(&principal.tenant, id).await,
            Err(FindError::NotFound { id }) => Err(WaitError::NotFound { id }),
            Err(FindError::Host(error)) => Err(error.into()),
        }
    }

    /// A prompt of the caller's, pending or settled. One whose deadline has passed is ended first.
    pub async fn get(&self, principal: &Principal, id: &str) -> Result<Arc<Prompt>, FindError> {
        let prompt = self.find(principal, id).await?.ok_or_else(|| FindError::NotFound { id: id.into() })?;
        let now = self.inner.clock.now();
        if prompt.settlement.is_none() && prompt.is_overdue(now) {
            self.expire(&principal.tenant, &prompt, now).await?;
            return self.find(principal, id).await?.ok_or_else(|| FindError::NotFound { id: id.into() });
        }
        if prompt.settlement.is_some() {
            // Another process may have ended it; whoever waits here learns it now.
            self.inner.waiters.tell(&principal.tenant, id, &News::Settled(Arc::clone(&prompt)));
        }
        Ok(prompt)
    }

    /// A page of the caller's prompts; pending ones unless the query says otherwise (ruling 24).
    pub async fn list(&self, principal: &Principal, query: &Query) -> Result<Page, HostError> {
        let mut query = query.clone();
        if !principal.scopes.questions {
            if query.requester.as_ref().is_some_and(|requester| *requester != principal.subject) {
                return Ok(Page::default());
            }
            query.requester = Some(principal.subject.clone());
        }
        let mut page = self.inner.store.list(&principal.tenant, &query, self.inner.clock.now()).await?;
        let now = self.inner.clock.now();
        page.prompts.retain(|prompt| {
            principal.may_answer(prompt) && !self.is_past_retention(&principal.tenant, prompt, now)
        });
        Ok(page)
    }

    /// Answers a prompt. The first valid answer wins.
    pub async fn resolve(
        &self,
        principal: &Principal,
        id: &str,
        submission: Submission,
    ) -> Result<Accepted, SettleError> {
        let resolved_by = self.answerer(principal, submission.answered_by)?;
        let resolution =
            Resolution { answers: submission.answers, resolved_by, resolution_id: submission.resolution_id };
        fits(&resolution)?;
        loop {
            let prompt =
                self.find(principal, id).await?.ok_or_else(|| SettleError::NotFound { id: id.into() })?;
            let now = self.inner.clock.now();
            let policy = self.inner.policy;
            let verdict =
                self.decide(&principal.tenant, |plugin| plugin.resolve(&prompt, &resolution, policy, now));
            match verdict.map_err(HostError::from)? {
                Ok(Verdict::Settle(resolved)) => {
                    match self.commit(&principal.tenant, id, &resolved.settlement).await? {
                        Settled::Committed(prompt) => {
                            return Ok(Accepted { prompt, warning: resolved.warning });
                        }
                        // Somebody was faster, or time ran out on the way: look again, and learn which.
                        Settled::Before(_) | Settled::Untimely(_) => {}
                        Settled::NotFound => return Err(SettleError::NotFound { id: id.into() }),
                    }
                }
                Ok(Verdict::Repeated(_)) => return Ok(Accepted { prompt, warning: None }),
                Err(ResolveError::InvalidAnswers(errors)) => return Err(SettleError::InvalidAnswers(errors)),
                Err(ResolveError::AlreadySettled) => {
                    return Err(SettleError::AlreadyTerminal { id: id.into() });
                }
                Err(ResolveError::Overdue) => {
                    self.expire(&principal.tenant, &prompt, now).await?;
                    return Err(SettleError::AlreadyTerminal { id: id.into() });
                }
            }
        }
    }

    /// Offers a message that was typed in a session. It counts for the session's oldest pending prompt that this
    /// person may answer; without one it is ordinary chat.
    pub async fn reply(
        &self,
        principal: &Principal,
        session: &str,
        message: &Message,
    ) -> Result<Reply, HostError> {
        let mut query = Query { session: Some(session.into()), limit: 16, ..Query::default() };
        loop {
            let page = self.list(principal, &query).await?;
            if let Some(prompt) = page.prompts.into_iter().next() {
                return self.reply_to(principal, &prompt, message).await;
            }
            match page.next {
                Some(next) => query.after = Some(next),
                None => return Ok(Reply::NotAnAnswer(NotAnAnswerReason::NotPending)),
            }
        }
    }

    /// Offers a message as the answer to one prompt, such as one that replies to the prompt's own message.
    pub async fn reply_to_prompt(
        &self,
        principal: &Principal,
        id: &str,
        message: &Message,
    ) -> Result<Reply, HostError> {
        match self.find(principal, id).await? {
            Some(prompt) => self.reply_to(principal, &prompt, message).await,
            None => Ok(Reply::NotAnAnswer(NotAnAnswerReason::NotPending)),
        }
    }

    /// Ends a prompt without an answer: `skipped` when the person skips it, `cancelled` when it is called off,
    /// `undeliverable` when it can be shown nowhere.
    pub async fn cancel(
        &self,
        principal: &Principal,
        id: &str,
        reason: NoAnswerReason,
    ) -> Result<Arc<Prompt>, SettleError> {
        self.cancel_as(principal, id, reason, None).await
    }

    /// The same, in the name of somebody else where the caller has the scope to say so (ruling 25).
    pub async fn cancel_as(
        &self,
        principal: &Principal,
        id: &str,
        reason: NoAnswerReason,
        ended_by: Option<String>,
    ) -> Result<Arc<Prompt>, SettleError> {
        let by = self.answerer(principal, ended_by)?;
        let prompt =
            self.find(principal, id).await?.ok_or_else(|| SettleError::NotFound { id: id.into() })?;
        match self.end(&principal.tenant, &prompt, reason, by).await? {
            Some(prompt) => Ok(prompt),
            None => Err(SettleError::AlreadyTerminal { id: id.into() }),
        }
    }

    /// Ends what a run of a session has pending: the run is over and nobody waits any more. How many prompts it were.
    pub async fn cancel_run(&self, tenant: &TenantId, session: &str, run: &str) -> Result<usize, HostError> {
        let query = Query { session: Some(session.into()), run: Some(run.into()), ..Query::default() };
        let mut ended = 0;
        loop {
            let page = self.inner.store.list(tenant, &query, self.inner.clock.now()).await?;
            if page.prompts.is_empty() {
                return Ok(ended);
            }
            for prompt in page.prompts {
                if self
                    .end(tenant, &prompt, NoAnswerReason::Cancelled, Some(RUN_ABORT.into()))
                    .await?
                    .is_some()
                {
                    ended += 1;
                }
            }
        }
    }

    /// Removes a prompt that has ended, with its answers (ruling 24). Whether there was one.
    pub async fn delete(&self, principal: &Principal, id: &str) -> Result<bool, HostError> {
        match self.find(principal, id).await? {
            Some(prompt) if prompt.settlement.is_some() => {
                let deleted = self.inner.store.delete(&principal.tenant, id).await?;
                self.inner.waiters.tell(&principal.tenant, id, &News::Gone);
                Ok(deleted)
            }
            _ => Ok(false),
        }
    }

    /// What is left of a session's prompts, oldest first, also after the prompts themselves are gone.
    pub async fn summaries(&self, tenant: &TenantId, session: &str) -> Result<Vec<Summary>, HostError> {
        Ok(self.inner.store.summaries(tenant, session).await?)
    }

    /// Removes what has ended in a session that is deleted.
    pub async fn forget_session(&self, tenant: &TenantId, session: &str) -> Result<(), HostError> {
        Ok(self.inner.store.forget_session(tenant, session).await?)
    }

    /// What happens from now on to the prompts this principal may see.
    pub fn subscribe(&self, principal: Principal) -> Subscription {
        self.inner.events.subscribe(principal)
    }

    /// Whether an id that is in use is free by now: a prompt that is kept no longer may still have been stored.
    async fn made_room(&self, tenant: &TenantId, id: &str) -> Result<bool, HostError> {
        let now = self.inner.clock.now();
        match self.inner.store.get(tenant, id).await? {
            Some(prompt) if self.is_past_retention(tenant, &prompt, now) => {
                deadlines::purge(self, now).await?;
                Ok(true)
            }
            found => Ok(found.is_none()),
        }
    }

    /// How many prompts are pending: this tenant's, or those of all.
    pub async fn count_pending(&self, tenant: Option<&TenantId>) -> Result<usize, HostError> {
        Ok(self.inner.store.count_pending(tenant, usize::MAX).await?)
    }

    /// Refuses one more prompt of a tenant that has as many as it may have.
    async fn check_quota(&self, tenant: &TenantId) -> Result<(), HostError> {
        match self.inner.pending_limit {
            Some(limit) if self.inner.store.count_pending(Some(tenant), limit).await? >= limit => {
                Err(HostError::TooManyPending { limit })
            }
            _ => Ok(()),
        }
    }

    /// The prompt that this very tool call has made before.
    async fn made_before(&self, run: &Run) -> Result<Option<Arc<Prompt>>, HostError> {
        let Origin { session_key, run: of_run, tool_call: Some(_), .. } = &run.origin else {
            return Ok(None);
        };
        let (session, of_run) = (session_key.clone(), of_run.clone());
        let mut query = Query { status: StatusFilter::All, session, run: of_run, ..Query::default() };
        loop {
            let page = self.inner.store.list(&run.tenant, &query, self.inner.clock.now()).await?;
            let same =
                page.prompts.into_iter().find(|prompt| prompt.origin.tool_call == run.origin.tool_call);
            match (same, page.next) {
                (None, Some(next)) => query.after = Some(next),
                (same, _) => return Ok(same),
            }
        }
    }

    /// One decision of the plugin for a tenant, whose time is observed.
    fn decide<T>(&self, tenant: &TenantId, decision: impl FnOnce(&Plugin) -> T) -> T {
        let plugin = self.plugin_of(tenant);
        let began = Instant::now();
        let decided = decision(&plugin);
        self.inner.observer.decided(began.elapsed().as_secs_f64());
        decided
    }

    fn context(&self, origin: &Origin, id: Option<String>) -> Result<Context, HostError> {
        let id = match id {
            Some(id) => id,
            None => self.inner.ids.prompt()?,
        };
        Ok(Context { now: self.inner.clock.now(), id, origin: origin.clone() })
    }

    /// Stores a prompt and tells everybody. What was stored is told even if the caller has gone meanwhile: no prompt
    /// waits where nobody can see it.
    async fn insert(
        &self,
        tenant: &TenantId,
        prompt: Prompt,
        door: Door,
    ) -> Result<(Arc<Prompt>, Inserted), HostError> {
        let (host, tenant, prompt) = (self.clone(), tenant.clone(), Arc::new(prompt));
        complete(async move {
            let inner = &host.inner;
            inner.events.announce(&tenant, &prompt.id);
            let inserted = inner.store.insert(&tenant, &prompt, door).await;
            if matches!(inserted, Ok(Inserted::New)) {
                inner.observer.asked(&prompt);
                inner.events.requested(&tenant, Arc::clone(&prompt));
                if prompt.expires_at < inner.next_wake.load(Ordering::SeqCst) {
                    inner.earlier_deadline.notify_one();
                }
            } else {
                inner.events.not_requested(&tenant, &prompt.id);
            }
            Ok((prompt, inserted?))
        })
        .await
    }

    fn pending(&self, run: &Run, prompt: Arc<Prompt>) -> PendingPrompt {
        PendingPrompt {
            host: self.clone(),
            tenant: run.tenant.clone(),
            prompt,
            cancellation: run.cancellation.clone(),
        }
    }

    /// Takes up a prompt that the same tool call had made before.
    async fn attach(&self, run: &Run, prompt: Arc<Prompt>) -> Result<PendingPrompt, AskError> {
        let pending = self.pending(run, prompt);
        let news = self.inner.waiters.begin(&run.tenant, pending.id());
        match self.inner.store.get(&run.tenant, pending.id()).await.map_err(HostError::from)? {
            Some(current) if current.settlement.is_none() => pending.watch_run(news),
            Some(current) => {
                self.inner.waiters.tell(&run.tenant, pending.id(), &News::Settled(current));
            }
            None => self.inner.waiters.tell(&run.tenant, pending.id(), &News::Gone),
        }
        Ok(pending)
    }

    /// Ends the prompt that stands in a session's way, if it is overdue or its run is known to be dead (ruling 11).
    async fn make_way(&self, tenant: &TenantId, other: &Prompt) -> Result<(), AskError> {
        let now = self.inner.clock.now();
        if other.is_overdue(now) {
            self.expire(tenant, other, now).await?;
        } else if (self.inner.liveness)(tenant, &other.origin) == Liveness::Dead {
            self.end(tenant, other, NoAnswerReason::Cancelled, Some(RUN_ABORT.into())).await?;
        } else {
            return Err(AskError::AlreadyPending { id: other.id.clone() });
        }
        Ok(())
    }

    async fn find(&self, principal: &Principal, id: &str) -> Result<Option<Arc<Prompt>>, HostError> {
        let now = self.inner.clock.now();
        let found = self.inner.store.get(&principal.tenant, id).await?;
        Ok(found.filter(|prompt| {
            principal.may_answer(prompt) && !self.is_past_retention(&principal.tenant, prompt, now)
        }))
    }

    /// Whether a prompt has been over for longer than prompts are kept. It may still be stored, and counts as gone.
    fn is_past_retention(&self, tenant: &TenantId, prompt: &Prompt, now: Timestamp) -> bool {
        let retention = self.inner.retention.of(tenant);
        let gone_at = |settlement: &Settlement| settlement.at.saturating_add(retention);
        prompt.settlement.as_ref().is_some_and(|settlement| gone_at(settlement) <= now)
    }

    fn answerer(&self, principal: &Principal, named: Option<String>) -> Result<Option<String>, SettleError> {
        match named {
            named if self.inner.attribution == Attribution::AsNamed => Ok(named),
            Some(name) if name == principal.subject || principal.scopes.name_answerer => Ok(Some(name)),
            Some(_) => Err(SettleError::MayNotNameAnswerer),
            None => Ok(Some(principal.subject.clone())),
        }
    }

    async fn reply_to(
        &self,
        principal: &Principal,
        prompt: &Prompt,
        message: &Message,
    ) -> Result<Reply, HostError> {
        let not_pending = Reply::NotAnAnswer(NotAnAnswerReason::NotPending);
        let now = self.inner.clock.now();
        if prompt.settlement.is_none() && prompt.is_overdue(now) {
            self.expire(&principal.tenant, prompt, now).await?;
            return Ok(not_pending);
        }
        fits(message)?;
        let (tenant, sender) = (&principal.tenant, principal.subject.as_str());
        let draft =
            self.inner.store.draft(tenant, &prompt.id, sender).await?.map(|answers| Draft { answers });
        let policy = self.inner.policy;
        let meaning =
            self.decide(tenant, |plugin| plugin.interpret(prompt, message, draft.as_ref(), policy))?;
        match meaning {
            Interpretation::Answers(complete) => {
                let accepted = self.resolve(principal, &prompt.id, Submission::of(complete.answers)).await;
                match accepted {
                    Ok(accepted) => {
                        let warning = complete.warning.or(accepted.warning);
                        Ok(Reply::Answered(Accepted { prompt: accepted.prompt, warning }))
                    }
                    Err(SettleError::InvalidAnswers(errors)) => {
                        let messages: Vec<_> = errors.into_iter().map(|error| error.message).collect();
                        Ok(Reply::Correction(messages.join("\n")))
                    }
                    Err(SettleError::Host(error)) => Err(error),
                    // It ended on the way: the message is ordinary chat.
                    Err(_) => Ok(not_pending),
                }
            }
            Interpretation::Incomplete(incomplete) => {
                self.inner.store.keep_draft(tenant, &prompt.id, sender, &incomplete.draft.answers).await?;
                Ok(Reply::Incomplete { correction: incomplete.correction, missing: incomplete.missing })
            }
            Interpretation::Correction(correction) => Ok(Reply::Correction(correction)),
            Interpretation::Skip => {
                let by = Some(sender.to_owned());
                match self.end(tenant, prompt, NoAnswerReason::Skipped, by).await? {
                    Some(prompt) => Ok(Reply::Skipped(prompt)),
                    None => Ok(not_pending),
                }
            }
            Interpretation::NotAnAnswer(reason) => Ok(Reply::NotAnAnswer(reason)),
        }
    }

    /// Ends the prompt of an aborted run, whoever may answer it. Nothing happens to one that has ended.
    async fn abort_in(&self, tenant: &TenantId, id: &str) -> Result<(), HostError> {
        if let Some(prompt) = self.inner.store.get(tenant, id).await? {
            self.end(tenant, &prompt, NoAnswerReason::Cancelled, Some(RUN_ABORT.into())).await?;
        }
        Ok(())
    }

    /// Ends a prompt without an answer; nothing if it had ended before, or its deadline has passed.
    async fn end(
        &self,
        tenant: &TenantId,
        prompt: &Prompt,
        reason: NoAnswerReason,
        by: Option<String>,
    ) -> Result<Option<Arc<Prompt>>, HostError> {
        let now = self.inner.clock.now();
        let cancellation = Cancellation { reason: Some(reason), resolved_by: by };
        match self.decide(tenant, |plugin| plugin.cancel(prompt, &cancellation, now))? {
            Ok(settlement) => match self.commit(tenant, &prompt.id, &settlement).await? {
                Settled::Committed(prompt) => Ok(Some(prompt)),
                Settled::Before(_) | Settled::Untimely(_) | Settled::NotFound => Ok(None),
            },
            Err(ResolveError::Overdue) => {
                self.expire(tenant, prompt, now).await?;
                Ok(None)
            }
            Err(ResolveError::AlreadySettled | ResolveError::InvalidAnswers(_)) => Ok(None),
        }
    }

    /// Ends a prompt whose deadline has passed. Somebody else may have done so already.
    async fn expire(&self, tenant: &TenantId, prompt: &Prompt, now: Timestamp) -> Result<(), HostError> {
        if let Some(settlement) = self.decide(tenant, |plugin| plugin.expire(prompt, now))? {
            self.commit(tenant, &prompt.id, &settlement).await?;
        }
        Ok(())
    }

    /// Commits an end and tells everybody. What was committed is told even if the caller has gone meanwhile.
    async fn commit(
        &self,
        tenant: &TenantId,
        id: &str,
        settlement: &Settlement,
    ) -> Result<Settled, HostError> {
        let (host, tenant, id) = (self.clone(), tenant.clone(), id.to_owned());
        let settlement = settlement.clone();
        let committing = async move {
            let settled = host.inner.store.settle(&tenant, &id, &settlement).await?;
            if let Settled::Committed(prompt) = &settled {
                host.inner.observer.settled(prompt);
                host.inner.waiters.tell(&tenant, &id, &News::Settled(Arc::clone(prompt)));
                host.inner.events.resolved(&tenant, Arc::clone(prompt));
            }
            Ok(settled)
        };
        complete(committing).await
    }

    async fn wait_in(&self, tenant: &TenantId, id: &str) -> Result<Arc<Prompt>, WaitError> {
        let news = self.inner.waiters.begin(tenant, id);
        let prompt = self.inner.store.get(tenant, id).await.map_err(HostError::from)?;
        let Some(prompt) = prompt else {
            self.inner.waiters.tell(tenant, id, &News::Gone);
            return Err(WaitError::NotFound { id: id.into() });
        };
        if prompt.settlement.is_some() {
            self.inner.waiters.tell(tenant, id, &News::Settled(Arc::clone(&prompt)));
            return Ok(prompt);
        }
        match news.await {
            Ok(News::Settled(prompt)) => Ok(prompt),
            Ok(News::Gone) => Err(WaitError::NotFound { id: id.into() }),
            Err(_) => Err(HostError::ShuttingDown.into()),
        }
    }
}

/// Whether something is small enough to be part of a record: a plugin can work with a page of them, and wants memory for
/// several times what it works with.
fn fits(part: &impl serde::Serialize) -> Result<(), HostError> {
    match postcard::serialize_with_flavor(part, postcard::ser_flavors::Size::default()) {
        Ok(size) if size > Query::MAX_BYTES => Err(HostError::TooLarge { size, limit: Query::MAX_BYTES }),
        _ => Ok(()),
    }
}

/// Runs to its end even if whoever awaits it goes away. What can be done at once is; a task is made for the rest in the
/// same breath, so there is no moment at which it could be dropped.
async fn complete<T: Send + 'static>(
    work: impl Future<Output = Result<T, HostError>> + Send + 'static,
) -> Result<T, HostError> {
    let mut work = Box::pin(work);
    let begun = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await;
    if let Poll::Ready(done) = begun {
        return done;
    }
    match tokio::spawn(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(HostError::ShuttingDown),
        },
    }
}
