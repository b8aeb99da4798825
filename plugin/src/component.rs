//! The border: the world `ask-user-plugin`, translated to the pure modules. Nothing is decided here.

use exports::ask_user::plugin::{
    channel as wit_channel, question as wit_question, reply as wit_reply, tool as wit_tool, types as wit,
};

use crate::{catalogue, channel, model, question, reply, tool, words};

wit_bindgen::generate!({ path: "../wit", world: "ask-user-plugin" });

/// The contract this component is built for. A host reads it from the file before it instantiates anything.
#[used]
#[unsafe(link_section = "ask-user:contract")]
static CONTRACT: [u8; 21] = *b"ask-user:plugin@0.1.0";

struct Component;

export!(Component);

impl wit_tool::Guest for Component {
    fn definition(origin: wit::Origin) -> Option<wit_tool::ToolDefinition> {
        tool::definition(&origin.translate()).translate()
    }

    fn ask_user(arguments: String, context: wit::Context) -> Result<wit::Prompt, wit_tool::Refusal> {
        tool::ask_user(&arguments, context.translate()).translate()
    }

    fn outcome(prompt: wit::Prompt) -> Option<wit_tool::ToolResult> {
        tool::outcome(&prompt.translate()).translate()
    }
}

impl wit_question::Guest for Component {
    fn request(
        params: wit_question::RequestParams,
        context: wit::Context,
    ) -> Result<wit::Prompt, Vec<wit::Violation>> {
        question::request(params.translate(), context.translate()).translate()
    }

    fn get(prompt: wit::Prompt, form: wit_question::RecordForm, now: wit::Timestamp) -> String {
        question::get(&prompt.translate(), form.translate(), now)
    }

    fn list(prompts: Vec<wit::Prompt>, form: wit_question::RecordForm, now: wit::Timestamp) -> String {
        let prompts: Vec<model::Prompt> = prompts.translate();
        question::list(&prompts, form.translate(), now)
    }

    fn resolve(
        prompt: wit::Prompt,
        resolution: wit_question::Resolution,
        policy: wit::Policy,
        now: wit::Timestamp,
    ) -> Result<wit_question::Verdict, wit_question::ResolveError> {
        question::resolve(&prompt.translate(), resolution.translate(), &policy.translate(), now).translate()
    }

    fn expire(prompt: wit::Prompt, now: wit::Timestamp) -> Option<wit::Settlement> {
        question::expire(&prompt.translate(), now).translate()
    }

    fn cancel(
        prompt: wit::Prompt,
        cancellation: wit_question::Cancellation,
        now: wit::Timestamp,
    ) -> Result<wit::Settlement, wit_question::ResolveError> {
        question::cancel(&prompt.translate(), cancellation.translate(), now).translate()
    }
}

impl wit_reply::Guest for Component {
    fn interpret(
        prompt: wit::Prompt,
        message: wit_reply::Message,
        draft: Option<wit_reply::Draft>,
        policy: wit::Policy,
    ) -> wit_reply::Interpretation {
        let draft: Option<Vec<model::Answer>> = draft.map(|draft| draft.answers.translate());
        reply::interpret(&prompt.translate(), &message.translate(), draft.as_deref(), &policy.translate())
            .translate()
    }

    fn in_words(about: wit_reply::About, locale: Option<String>, shared: bool) -> wit::Words {
        words::words(&about.translate(), locale.as_deref(), shared).translate()
    }

    fn phrases(locale: Option<String>) -> wit_reply::PhraseBook {
        let language = catalogue::language(locale.as_deref());
        let (controls, status) = (&language.controls, &language.status);
        wit_reply::PhraseBook {
            locale: language.tag.into(),
            other: controls.other.into(),
            own_answer: controls.own_answer.into(),
            skip: controls.skip.into(),
            skip_command: controls.skip_command.into(),
            next: controls.next.into(),
            back: controls.back.into(),
            submit: controls.submit.into(),
            choose_one: controls.choose_one.into(),
            choose_any: controls.choose_any.into(),
            step: controls.step.into(),
            seconds_left: controls.seconds_left.into(),
            answered: status.answered.into(),
            skipped: status.skipped.into(),
            expired: status.expired.into(),
            cancelled: status.cancelled.into(),
        }
    }
}

impl wit_channel::Guest for Component {
    fn channels() -> Vec<wit_channel::Descriptor> {
        channel::channels().translate()
    }

    fn render(
        prompt: wit::Prompt,
        channel: String,
        target: wit_channel::Target,
    ) -> Result<wit_channel::Rendering, wit_channel::ChannelError> {
        channel::render(&prompt.translate(), &channel, &target.translate()).translate()
    }

    fn interpret_interaction(
        channel: String,
        payload: String,
    ) -> Result<wit_channel::Interaction, wit_channel::ChannelError> {
        channel::interpret_interaction(&channel, &payload).translate()
    }

    fn render_composer(
        prompt: wit::Prompt,
        channel: String,
        target: wit_channel::Target,
        binding: wit_channel::Binding,
        message: Option<String>,
        tap: wit_channel::Tap,
    ) -> Result<Vec<wit_channel::Call>, wit_channel::ChannelError> {
        let (prompt, target) = (prompt.translate(), target.translate());
        let (binding, tap) = (binding.translate(), tap.translate());
        channel::render_composer(&prompt, &channel, &target, &binding, message.as_deref(), &tap).translate()
    }

    fn render_settled(
        prompt: wit::Prompt,
        channel: String,
        target: wit_channel::Target,
        messages: Vec<String>,
    ) -> Result<Vec<wit_channel::Call>, wit_channel::ChannelError> {
        channel::render_settled(&prompt.translate(), &channel, &target.translate(), &messages).translate()
    }

    fn render_feedback(
        channel: String,
        target: wit_channel::Target,
        feedback: wit_channel::Feedback,
        tap: Option<wit_channel::Tap>,
    ) -> Result<Vec<wit_channel::Call>, wit_channel::ChannelError> {
        let tap: Option<channel::Tap> = tap.translate();
        channel::render_feedback(&channel, &target.translate(), feedback.translate(), tap.as_ref())
            .translate()
    }
}

/// Moves a value across the border, between the generated records and those of the pure modules.
trait Translate<T> {
    fn translate(self) -> T;
}

macro_rules! unchanged {
    ($($kind:ty),*) => { $(impl Translate<$kind> for $kind { fn translate(self) -> $kind { self } })* };
}

unchanged!(String, bool, u32, u64);

impl<A: Translate<B>, B> Translate<Option<B>> for Option<A> {
    fn translate(self) -> Option<B> {
        self.map(Translate::translate)
    }
}

impl<A: Translate<B>, B> Translate<Vec<B>> for Vec<A> {
    fn translate(self) -> Vec<B> {
        self.into_iter().map(Translate::translate).collect()
    }
}

impl<A: Translate<B>, B, E: Translate<F>, F> Translate<Result<B, F>> for Result<A, E> {
    fn translate(self) -> Result<B, F> {
        self.map(Translate::translate).map_err(Translate::translate)
    }
}

/// A record: the same fields on both sides.
macro_rules! record {
    ($from:path => $to:path { $($field:ident),* $(,)? }) => {
        impl Translate<$to> for $from {
            fn translate(self) -> $to {
                let $from { $($field),* } = self;
                $to { $($field: $field.translate()),* }
            }
        }
    };
}

/// An enum: the same cases on both sides.
macro_rules! cases {
    ($from:path => $to:path { $($case:ident $(($value:ident))?),* $(,)? }) => {
        impl Translate<$to> for $from {
            fn translate(self) -> $to {
                use $from as From;
                use $to as To;
                match self { $(From::$case $(($value))? => To::$case $(($value.translate()))?),* }
            }
        }
    };
}

macro_rules! record_both_ways {
    ($a:path, $b:path, $fields:tt) => { record!($a => $b $fields); record!($b => $a $fields); };
}

macro_rules! cases_both_ways {
    ($a:path, $b:path, $cases:tt) => { cases!($a => $b $cases); cases!($b => $a $cases); };
}

record_both_ways!(wit::Choice, model::Choice, { label, description });
record_both_ways!(wit::Question, model::Question, {
    id, header, text, choices, multi_select, is_other, is_secret, url,
});
cases_both_ways!(wit::SessionKind, model::SessionKind, { Main, Subagent, Acp, Scheduled, Heartbeat });
record_both_ways!(wit::Origin, model::Origin, {
    agent, session_key, session_kind, run, tool_call, requester, conversation, locale,
});
record!(wit::Context => model::Context { now, id, origin });
record_both_ways!(wit::Answer, model::Answer, { question_id, values });
cases_both_ways!(wit::NoAnswerReason, model::NoAnswerReason, { Expired, Skipped, Cancelled, Undeliverable });
cases_both_ways!(wit::Outcome, model::Outcome, { Answered(answers), NoAnswer(reason) });
record_both_ways!(wit::Settlement, model::Settlement, { outcome, at, resolved_by, resolution_id });
record_both_ways!(wit::Prompt, model::Prompt, { id, questions, origin, created_at, expires_at, settlement });
cases!(model::Rule => wit::Rule {
    Json, WrongType, Missing, UnknownMember, Count, Pattern, Blank, TooLong, Duplicate, Reserved, Integer, Unsupported,
    More,
});
record!(model::Violation => wit::Violation { path, rule, allowed, received, message });
cases!(wit::CredentialPolicy => model::CredentialPolicy { Refuse, Warn, Accept });
cases!(wit::RepeatPolicy => model::RepeatPolicy { FirstResult, Refuse });
record!(wit::Policy => model::Policy { credentials, own_text_limit, repeats });

record!(tool::Definition => wit_tool::ToolDefinition { name, title, description, parameters, output_schema });
cases!(tool::Refusal => wit_tool::Refusal { InvalidArguments(violations), NotAMainSession(standing) });
cases!(tool::Standing => wit_tool::SessionStanding { NoSession, Subagent, Acp, Scheduled, Heartbeat });
record!(tool::ToolResult => wit_tool::ToolResult { json, text });

record!(wit_question::RequestParams => question::RequestParams { questions, timeout_ms });
record!(wit_question::Resolution => question::Resolution { answers, resolved_by, resolution_id });
record!(wit_question::Cancellation => question::Cancellation { reason, resolved_by });
cases!(wit_question::RecordForm => question::RecordForm { Openclaw, Extended });
record!(question::Resolved => wit_question::Resolved { settlement, warning });
cases!(question::Verdict => wit_question::Verdict { Settle(resolved), Repeated(settlement) });
cases!(question::ResolveError => wit_question::ResolveError { AlreadySettled, Overdue, InvalidAnswers(errors) });
record!(question::AnswerError => wit_question::AnswerError { kind, question_id, message });
cases!(question::AnswerErrorKind => wit_question::AnswerErrorKind {
    UnknownQuestion, Unanswered, Blank, TooManyValues, NotAChoice, TooLong, Credential, ResolutionId,
});

record!(wit_reply::Message => reply::Message { text, transcript, has_media, edited, forwarded, bot_names, locale });
impl Translate<wit_reply::Interpretation> for reply::Interpretation {
    fn translate(self) -> wit_reply::Interpretation {
        match self {
            Self::Answers { answers, warning } => wit_reply::Interpretation::Answers(wit_reply::Complete {
                answers: answers.translate(),
                warning,
            }),
            Self::Incomplete { draft, missing, correction } => {
                let draft = wit_reply::Draft { answers: draft.translate() };
                wit_reply::Interpretation::Incomplete(wit_reply::Incomplete { draft, missing, correction })
            }
            Self::Correction(correction) => wit_reply::Interpretation::Correction(correction),
            Self::Skip => wit_reply::Interpretation::Skip,
            Self::NotAnAnswer(reason) => wit_reply::Interpretation::NotAnAnswer(reason.translate()),
        }
    }
}
cases!(reply::NotAnAnswer => wit_reply::NotAnAnswerReason { NoText, Edited, Forwarded, NotPending });

record!(wit_channel::Person => channel::Person { id, name });
/// Without the words: the channels here know them.
impl Translate<channel::Target> for wit_channel::Target {
    fn translate(self) -> channel::Target {
        let Self { address, thread, locale, shared, extras, requester, callback_url, words: _ } = self;
        let requester = requester.translate();
        channel::Target { address, thread, locale, shared, extras, requester, callback_url }
    }
}
record!(wit_channel::Tap => channel::Tap { sender, handle, acknowledged });
cases!(wit::Feedback => channel::Feedback {
    Received, Accepted, AlreadyAnswered, Expired, NotAllowed, NothingChosen, TryAgain,
});
cases!(wit_reply::About => words::About { Prompt(prompt), Feedback(feedback) });
cases!(words::Kind => wit::LineKind { Title, Text, Choice, Link });
record!(words::Line => wit::Line { kind, text });
record!(words::Words => wit::Words {
    body, how_to, how_to_tap, other, skip, submit, type_own, message,
});
cases!(channel::TextUnit => wit_channel::TextUnit { Utf16, CodePoints, Graphemes, Bytes });
record!(channel::Limit => wit_channel::Limit { most, unit });
record!(channel::Natives => wit_channel::Natives {
    buttons, edits, private_feedback, composer, multi_select, reactions,
});
record!(channel::Descriptor => wit_channel::Descriptor {
    name, text, label, token_bytes, natives, markup, example_address, example_tap,
});
record!(channel::Call => wit_channel::Call { method, body, text });
record_both_ways!(wit_channel::ChoiceRef, channel::ChoiceRef, { question_id, index });
cases_both_ways!(wit_channel::BindingTarget, channel::BindingTarget, {
    Choice(choice), Other(question), Submit(question), Skip,
});
record_both_ways!(wit_channel::Binding, channel::Binding, { token, target, label });
record!(channel::Rendering => wit_channel::Rendering { calls, bindings });
record!(channel::OwnText => wit_channel::OwnText { token, text });
cases!(channel::Action => wit_channel::Action { Choose(tokens), OwnText(text), Nothing });
record!(channel::Interaction => wit_channel::Interaction { action, sender, conversation, message, handle });
cases!(channel::ChannelError => wit_channel::ChannelError {
    UnknownChannel(name), NotOurs, Malformed(why), BadTarget(why), Unshowable(why),
});
