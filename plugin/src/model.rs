//! The records of the contract, as the rules work with them. `wit/types.wit` documents every field.
//!
//! The modules of the rules are pure and know nothing of WebAssembly; `component.rs` translates at the border.

/// Milliseconds since the Unix epoch.
pub type Timestamp = u64;

/// One authored option of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the person picks and what the agent gets back, unchanged.
    pub label: String,
    /// More about the choice.
    pub description: Option<String>,
}

/// One item of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Answer key, unique within its prompt.
    pub id: String,
    /// Short label.
    pub header: String,
    /// The question itself.
    pub text: String,
    /// None, or 2 to 4.
    pub choices: Vec<Choice>,
    /// Whether several answers may be given, as it was said.
    pub multi_select: Option<bool>,
    /// Whether free text is an answer besides the choices, as it was said.
    pub is_other: Option<bool>,
    /// Kept for the wire; never `Some(true)` in a prompt.
    pub is_secret: Option<bool>,
    /// An address that belongs to the question.
    pub url: Option<String>,
}

impl Question {
    /// Whether several answers may be given.
    pub fn takes_many(&self) -> bool {
        self.multi_select == Some(true)
    }

    /// Whether own text is an answer: where it is said, and where there is nothing to choose from.
    pub fn takes_own_text(&self) -> bool {
        self.is_other == Some(true) || self.choices.is_empty()
    }
}

/// What kind of session a run belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionKind {
    /// The session a person talks to.
    Main,
    /// Started by another agent run.
    Subagent,
    /// Driven over the Agent Client Protocol.
    Acp,
    /// Started by a schedule.
    Scheduled,
    /// Started by a heartbeat.
    Heartbeat,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The agent's name.
    pub agent: Option<String>,
    /// The session's key.
    pub session_key: Option<String>,
    /// The session's kind as the caller declares it.
    pub session_kind: Option<SessionKind>,
    /// The run that asks.
    pub run: Option<String>,
    /// The tool call that asks.
    pub tool_call: Option<String>,
    /// The person whose message started the run.
    pub requester: Option<String>,
    /// Where that message came from.
    pub conversation: Option<String>,
    /// Language of our own words.
    pub locale: Option<String>,
}

/// What a decision may depend on besides its own input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The time of the decision.
    pub now: Timestamp,
    /// A fresh id for the prompt that may be made.
    pub id: String,
    /// Who asks.
    pub origin: Origin,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The question's id.
    pub question_id: String,
    /// Labels and own text.
    pub values: Vec<String>,
}

/// Why a prompt ended without an answer (ruling 20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoAnswerReason {
    /// Its deadline passed.
    Expired,
    /// The person skipped it.
    Skipped,
    /// The run ended, or somebody called it off.
    Cancelled,
    /// It could be shown nowhere.
    Undeliverable,
}

impl NoAnswerReason {
    /// The word in the tool result and in our records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Undeliverable => "undeliverable",
        }
    }
}

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One answer a question, in the order of the questions.
    Answered(Vec<Answer>),
    /// No answer, and why.
    NoAnswer(NoAnswerReason),
}

/// The end of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// How it ended.
    pub outcome: Outcome,
    /// When it was settled.
    pub at: Timestamp,
    /// Who settled it.
    pub resolved_by: Option<String>,
    /// The caller's own mark of its submission.
    pub resolution_id: Option<String>,
}

/// What one ask creates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Unique within its tenant.
    pub id: String,
    /// 1 to 3.
    pub questions: Vec<Question>,
    /// Who asked.
    pub origin: Origin,
    /// When it was made.
    pub created_at: Timestamp,
    /// From this moment on it is expired.
    pub expires_at: Timestamp,
    /// How it ended.
    pub settlement: Option<Settlement>,
}

impl Prompt {
    /// Whether the deadline has passed (ruling 21: `expires_at <= now`). Says nothing about a settlement.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }

    /// The question of this id.
    pub fn question(&self, id: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.id == id)
    }
}

/// Which rule a piece of input broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Not JSON, or JSON that nests too deep.
    Json,
    /// Another JSON type than the one allowed.
    WrongType,
    /// A member that must be there is missing.
    Missing,
    /// A member that nobody knows.
    UnknownMember,
    /// Fewer or more items than allowed.
    Count,
    /// Text that does not have the form asked for.
    Pattern,
    /// Text with nothing to see in it.
    Blank,
    /// Text or data beyond its limit.
    TooLong,
    /// The same as an earlier one where each must be different.
    Duplicate,
    /// A word that is kept for something automatic.
    Reserved,
    /// Not a whole number, or one outside its range.
    Integer,
    /// Something this contract does not offer.
    Unsupported,
    /// More violations were found than are listed.
    More,
}

/// One thing that is wrong with the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where, as in `questions[1].options`.
    pub path: String,
    /// Which rule.
    pub rule: Rule,
    /// What is allowed there, in words.
    pub allowed: String,
    /// What came, shortened and cleaned.
    pub received: String,
    /// All of it as one sentence.
    pub message: String,
}

/// What to do with own text that looks like a credential (ruling 17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialPolicy {
    /// Refuse it.
    Refuse,
    /// Take it and say that it does not belong here.
    Warn,
    /// Take it.
    Accept,
}

/// What to do with a resolve that repeats the one that won (ruling 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatPolicy {
    /// The same mark and the same answers give the first result again.
    FirstResult,
    /// Everything late is refused.
    Refuse,
}

/// What the operator decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Text that looks like a credential.
    pub credentials: CredentialPolicy,
    /// Longest own text in bytes of UTF-8.
    pub own_text_limit: Option<u32>,
    /// A repeated resolve.
    pub repeats: RepeatPolicy,
}
