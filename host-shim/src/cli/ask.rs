//! `ask-user ask`: runs the tool once.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::failure::Failure;
use super::replies::{MessageEnd, Replies};
use super::{AskArgs, output, runs, setup};
use crate::contract::{
    Answer, AnswerErrorKind, CredentialPolicy, Message, NoAnswerReason, Policy, Prompt, RepeatPolicy,
    Resolution, ResolveError, Rule, Target, ToolResult, Violation,
};
use crate::ids::{Ids, RandomIds};
use crate::questions::{
    AskError, AskUser, FindError, HostError, PendingPrompt, Principal, Reply, Run, SettleError, Submission,
    WaitError,
};
use crate::store::TenantId;
use crate::terminal::{Action, Panel};

/// The conversation that this terminal is.
const CONVERSATION: &str = "terminal";
/// Arguments beyond this are not even read to the end; the tool's own limit is far lower.
const LARGEST_ARGUMENTS: u64 = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// How often the store is looked at for what another process did.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How the prompt is answered.
enum Way {
    Skip,
    Messages(Vec<String>),
    Panel,
    StandardInput,
}

pub(super) fn run(args: AskArgs) -> Result<Exit, Failure> {
    let from_stdin = args.file.as_os_str() == "-";
    let way = if args.skip {
        Way::Skip
    } else if !args.reply.is_empty() {
        Way::Messages(args.reply.clone())
    } else if Panel::is_possible() {
        Way::Panel
    } else if from_stdin {
        return Err(Failure::usage(
            "with - standard input holds the arguments, so the reply must come from --reply, --skip or a terminal",
        ));
    } else {
        Way::StandardInput
    };
    let arguments = read_arguments(&args.file)?;
    let plugin = setup::bundled_plugin()?;
    let store = args.store.open()?;
    setup::block_on(async move {
        let host = AskUser::builder()
            .plugin(plugin)
            .shared_store(store)
            .liveness(|_, origin| runs::liveness(origin))
            .start()
            .map_err(|error| Failure::other("start", error))?;
        let person = person();
        let run = run_of(&args, &person)?;
        abort_on_signals(run.cancellation().clone()).map_err(|error| Failure::other("signals", error))?;
        let pending = host.ask_user(&arguments, &run).await.map_err(ask_failure)?;
        let asking = Asking { host, pending, person, locale: args.locale.clone(), json: args.json };
        let result = asking.answer(way, run.cancellation()).await;
        if result.is_err() {
            // Such as a terminal that is gone. Nobody sees the prompt any more, so nobody may go on waiting for it; one
            // that has ended already stays as it is.
            let _ = asking.end(NoAnswerReason::Undeliverable).await;
        }
        asking.print(&result?)
    })?
}

/// The arguments of the tool from a file, or from standard input for `-`.
pub(super) fn read_arguments(file: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if file.as_os_str() == "-" {
        io::stdin().lock().take(LARGEST_ARGUMENTS).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|opened| opened.take(LARGEST_ARGUMENTS).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::other("input", format!("cannot read {}: {error}", file.display())))?;
    // Editors on Windows put a byte order mark in front, which is no part of the text.
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    // JSON is UTF-8; anything else would be changed by reading it all the same.
    String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        let (allowed, received) = ("text in UTF-8".to_owned(), format!("other bytes at byte {place}"));
        let message = format!("arguments: {allowed}; received {received}");
        Failure::refused(&[Violation {
            path: "arguments".into(),
            rule: Rule::Json,
            allowed,
            received,
            message,
        }])
    })
}

/// Who sits at this terminal.
fn person() -> Principal {
    let name = ["USER", "LOGNAME", "USERNAME"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
        .unwrap_or_else(|| CONVERSATION.into());
    Principal::speaker(TenantId::default(), name, CONVERSATION)
}

fn run_of(args: &AskArgs, person: &Principal) -> Result<Run, Failure> {
    let session = match &args.session {
        Some(key) => key.clone(),
        None => {
            let fresh = RandomIds.prompt().map_err(|error| Failure::other("randomness", error))?;
            format!("agent:cli:{fresh}")
        }
    };
    let run = Run::new(session, runs::name_of_this_run())
        .session_kind(args.session_kind.into())
        .requested_by(&person.subject, CONVERSATION);
    Ok(match &args.locale {
        Some(tag) => run.locale(tag),
        None => run,
    })
}

/// Ends the run on Ctrl-C and when the process is asked to end.
fn abort_on_signals(cancellation: CancellationToken) -> io::Result<()> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    #[cfg(unix)]
    let mut hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?;
    tokio::spawn(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
        cancellation.cancel();
    });
    Ok(())
}

fn ask_failure(error: AskError) -> Failure {
    match error {
        AskError::InvalidArguments(violations) => Failure::refused(&violations),
        AskError::NotAMainSession(_) => Failure::other("not_a_main_session", error),
        AskError::AlreadyPending { ref id } => {
            let id = id.clone();
            Failure::other("already_pending", error).about(&id)
        }
        AskError::Aborted => Failure::aborted(),
        AskError::Host(error) => host_failure(error),
    }
}

fn host_failure(error: HostError) -> Failure {
    Failure::other("host", error)
}

fn wait_failure(error: WaitError) -> Failure {
    match error {
        WaitError::Aborted => Failure::aborted(),
        WaitError::NotFound { .. } => Failure::other("not_found", error),
        WaitError::Host(error) => host_failure(error),
    }
}

/// A prompt that is being answered here.
struct Asking {
    host: AskUser,
    pending: PendingPrompt,
    person: Principal,
    locale: Option<String>,
    json: bool,
}

impl Asking {
    fn prompt(&self) -> &Prompt {
        self.pending.prompt()
    }

    async fn answer(&self, way: Way, cancellation: &CancellationToken) -> Result<ToolResult, Failure> {
        match way {
            Way::Skip => {
                self.end(NoAnswerReason::Skipped).await?;
                self.pending.outcome().await.map_err(wait_failure)
            }
            Way::Messages(texts) => self.answer_with(Replies::given(texts)).await,
            Way::StandardInput => {
                let replies = Replies::standard_input(MessageEnd::for_prompt(self.prompt()))
                    .map_err(|error| Failure::other("input", error))?;
                self.answer_with(replies).await
            }
            Way::Panel => self.answer_on_panel(cancellation).await,
        }
    }

    /// Offers messages until one is taken. When there are no more, nobody is left to answer.
    async fn answer_with(&self, mut replies: Replies) -> Result<ToolResult, Failure> {
        self.show_text()?;
        let outcome = self.pending.outcome();
        tokio::pin!(outcome);
        let mut corrections = Vec::new();
        let result = loop {
            tokio::select! {
                biased;
                ended = &mut outcome => break ended.map_err(wait_failure)?,
                deleted = self.deleted_elsewhere() => return Err(wait_failure(deleted)),
                text = replies.next() => match text {
                    Some(text) => {
                        if let Some(correction) = self.offer(text).await? {
                            self.tell(&correction);
                            corrections.push(correction);
                        }
                    }
                    None => {
                        self.end(NoAnswerReason::Cancelled).await?;
                        break (&mut outcome).await.map_err(wait_failure)?;
                    }
                },
            }
        };
        if self.json && !corrections.is_empty() {
            output::note(&json!({ "corrections": corrections }).to_string());
        }
        Ok(result)
    }

    /// Offers one message; what to tell the person when it was not taken, or beside it when it was.
    async fn offer(&self, text: String) -> Result<Option<String>, Failure> {
        let message = Message { locale: self.locale.clone(), ..Message::typed(text) };
        let id = self.pending.id();
        Ok(match self.host.reply_to_prompt(&self.person, id, &message).await.map_err(host_failure)? {
            Reply::Answered(accepted) => accepted.warning,
            Reply::Incomplete { correction, .. } | Reply::Correction(correction) => Some(correction),
            Reply::Skipped(_) | Reply::NotAnAnswer(_) => None,
        })
    }

    async fn answer_on_panel(&self, cancellation: &CancellationToken) -> Result<ToolResult, Failure> {
        let phrases = self
            .host
            .plugin()
            .phrases(self.locale.as_deref())
            .map_err(HostError::from)
            .map_err(host_failure)?;
        let terminal = |error: io::Error| Failure::other("terminal", error);
        let own_answer = phrases.own_answer.clone();
        let mut panel = Panel::open(self.prompt(), phrases, self.host.clock().clone()).map_err(terminal)?;
        let outcome = self.pending.outcome();
        tokio::pin!(outcome);
        let mut ended_by_person = false;
        let mut warning = None;
        let result = loop {
            tokio::select! {
                biased;
                ended = &mut outcome => break ended,
                deleted = self.deleted_elsewhere() => break Err(deleted),
                action = panel.next() => match action.map_err(terminal)? {
                    Action::Submit(answers) => {
                        match self.host.resolve(&self.person, self.pending.id(), Submission::of(answers)).await {
                            Ok(accepted) => {
                                ended_by_person = true;
                                warning = accepted.warning;
                            }
                            // How it ended instead, the outcome tells.
                            Err(SettleError::AlreadyTerminal { .. }) => {}
                            Err(error) => panel.show_notice(&error.to_string()),
                        }
                    }
                    Action::Skip => {
                        ended_by_person = true;
                        self.end(NoAnswerReason::Skipped).await?;
                    }
                    Action::Abort => {
                        ended_by_person = true;
                        cancellation.cancel();
                    }
                },
            }
        };
        let unsent = if ended_by_person { Vec::new() } else { panel.own_texts() };
        // From here on nothing may stand between an answer that was taken and the agent that gets it.
        if let Err(error) = panel.close() {
            self.tell(&format!("the terminal could not be given back: {error}"));
        }
        if result.is_ok() && !self.json {
            self.show_summary().await;
        }
        self.hand_back(&own_answer, &unsent);
        if let Some(warning) = warning {
            self.tell(&warning);
        }
        result.map_err(wait_failure)
    }

    /// Own text that was being typed when the prompt ended by itself went with the screen, so it is printed: whoever
    /// wrote it may still want it (B43).
    fn hand_back(&self, own_answer: &str, unsent: &[String]) {
        for text in unsent.iter().filter(|text| !self.may_be_credential(text)) {
            self.tell(&format!("{own_answer}:\n{text}"));
        }
    }

    /// Whether the text would be refused as a credential, which is not repeated either (ruling 17), or nobody can tell.
    /// Asked of the prompt as it was when it was pending.
    fn may_be_credential(&self, text: &str) -> bool {
        let prompt = self.prompt();
        let answer = |id: &String| Answer { question_id: id.clone(), values: vec![text.to_owned()] };
        let resolution = Resolution {
            answers: prompt.questions.iter().map(|question| answer(&question.id)).collect(),
            resolved_by: None,
            resolution_id: None,
        };
        let policy = Policy {
            credentials: CredentialPolicy::Refuse,
            own_text_limit: None,
            repeats: RepeatPolicy::FirstResult,
        };
        match self.host.plugin().resolve(prompt, &resolution, policy, prompt.created_at) {
            Ok(Err(ResolveError::InvalidAnswers(errors))) => {
                errors.iter().any(|error| error.kind == AnswerErrorKind::Credential)
            }
            Ok(_) => false,
            Err(_) => true,
        }
    }

    /// Ends the prompt. One that has ended meanwhile keeps its end.
    async fn end(&self, reason: NoAnswerReason) -> Result<(), Failure> {
        match self.host.cancel(&self.person, self.pending.id(), reason).await {
            Ok(_) | Err(SettleError::AlreadyTerminal { .. }) => Ok(()),
            Err(error) => Err(Failure::other("cancel", error)),
        }
    }

    /// Looks at the prompt again and again, since one in a file may be ended by another process; then looking is enough,
    /// and whoever waits here is told. Returns only if it is not there any more.
    async fn deleted_elsewhere(&self) -> WaitError {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Err(FindError::NotFound { id }) = self.host.get(&self.person, self.pending.id()).await {
                return WaitError::NotFound { id };
            }
        }
    }

    fn target(&self) -> Target {
        Target::private(self.locale.clone())
    }

    /// Shows the prompt as text.
    fn show_text(&self) -> Result<(), Failure> {
        let plugin = self.host.plugin();
        match plugin
            .channel()
            .render(self.prompt(), "text", &self.target())
            .map_err(HostError::from)
            .map_err(host_failure)?
        {
            Ok(rendering) => {
                for call in rendering.calls {
                    self.tell(&call.text);
                }
                Ok(())
            }
            // It has ended already; the outcome tells how.
            Err(_) => Ok(()),
        }
    }

    /// Leaves a line on the terminal that says how the prompt ended. Without it the result is as good.
    async fn show_summary(&self) {
        let Ok(ended) = self.host.get(&self.person, self.pending.id()).await else { return };
        let Ok(Ok(calls)) = self.host.plugin().channel().render_settled(&ended, "text", &self.target(), &[])
        else {
            return;
        };
        for call in calls {
            self.tell(&call.text);
        }
    }

    /// Tells the person something; a script gets JSON and nothing else.
    fn tell(&self, text: &str) {
        if !self.json {
            output::note(text);
        }
    }

    fn print(&self, result: &ToolResult) -> Result<Exit, Failure> {
        output::result(if self.json { &result.json } else { &result.text })?;
        let answered = serde_json::from_str(&result.json)
            .is_ok_and(|result: serde_json::Value| result["status"] == "answered");
        Ok(if answered { Exit::Done } else { Exit::NoAnswer })
    }
}
