//! The functions of the contract, one call each. `wit/` says what they decide.

use super::{CallError, Plugin};
use crate::contract::{
    Call, Cancellation, ChannelError, Context, Descriptor, Draft, Feedback, Interaction, Interpretation,
    Message, Origin, PhraseBook, Policy, Prompt, RecordForm, Refusal, Rendering, RequestParams, Resolution,
    ResolveError, Settlement, Target, Timestamp, ToolDefinition, ToolResult, Verdict, Violation,
};

impl Plugin {
    /// The tool as this origin may use it, or nothing where it may not ask.
    pub fn definition(&self, origin: &Origin) -> Result<Option<ToolDefinition>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_tool().call_definition(store, origin))
    }

    /// Decides about one call of the tool.
    pub fn ask_user(&self, arguments: &str, context: &Context) -> Result<Result<Prompt, Refusal>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_tool().call_ask_user(store, arguments, context))
    }

    /// What the tool returns for a prompt; nothing while it is pending.
    pub fn outcome(&self, prompt: &Prompt) -> Result<Option<ToolResult>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_tool().call_outcome(store, prompt))
    }

    /// Decides about a request of a gateway client.
    pub fn request(
        &self,
        params: &RequestParams,
        context: &Context,
    ) -> Result<Result<Prompt, Vec<Violation>>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_question().call_request(store, params, context))
    }

    /// The record of a prompt as JSON text.
    pub fn record(&self, prompt: &Prompt, form: RecordForm, now: Timestamp) -> Result<String, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_question().call_get(store, prompt, form, now))
    }

    /// The records of a page as the JSON text of an array.
    pub fn records(&self, prompts: &[Prompt], form: RecordForm, now: Timestamp) -> Result<String, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_question().call_list(store, prompts, form, now))
    }

    /// Decides about an answer.
    pub fn resolve(
        &self,
        prompt: &Prompt,
        resolution: &Resolution,
        policy: Policy,
        now: Timestamp,
    ) -> Result<Result<Verdict, ResolveError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_question().call_resolve(store, prompt, resolution, policy, now)
        })
    }

    /// The end of a prompt whose deadline has passed; nothing when it has not.
    pub fn expire(&self, prompt: &Prompt, now: Timestamp) -> Result<Option<Settlement>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_question().call_expire(store, prompt, now))
    }

    /// Decides about ending a prompt without an answer.
    pub fn cancel(
        &self,
        prompt: &Prompt,
        cancellation: &Cancellation,
        now: Timestamp,
    ) -> Result<Result<Settlement, ResolveError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_question().call_cancel(store, prompt, cancellation, now)
        })
    }

    /// Decides what a typed message means.
    pub fn interpret(
        &self,
        prompt: &Prompt,
        message: &Message,
        draft: Option<&Draft>,
        policy: Policy,
    ) -> Result<Interpretation, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_reply().call_interpret(store, prompt, message, draft, policy)
        })
    }

    /// Our own words in a language.
    pub fn phrases(&self, locale: Option<&str>) -> Result<PhraseBook, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_reply().call_phrases(store, locale))
    }

    /// The channels of this plugin.
    pub fn channels(&self) -> Result<Vec<Descriptor>, CallError> {
        self.call(|plugin, store| plugin.ask_user_plugin_channel().call_channels(store))
    }

    /// A pending prompt for a target.
    pub fn render(
        &self,
        prompt: &Prompt,
        channel: &str,
        target: &Target,
    ) -> Result<Result<Rendering, ChannelError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_channel().call_render(store, prompt, channel, target)
        })
    }

    /// What a service's callback payload means.
    pub fn interpret_interaction(
        &self,
        channel: &str,
        payload: &str,
    ) -> Result<Result<Interaction, ChannelError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_channel().call_interpret_interaction(store, channel, payload)
        })
    }

    /// How a prompt that has ended looks.
    pub fn render_settled(
        &self,
        prompt: &Prompt,
        channel: &str,
        target: &Target,
    ) -> Result<Result<Vec<Call>, ChannelError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_channel().call_render_settled(store, prompt, channel, target)
        })
    }

    /// What to tell a person.
    pub fn render_feedback(
        &self,
        channel: &str,
        target: &Target,
        feedback: Feedback,
    ) -> Result<Result<Vec<Call>, ChannelError>, CallError> {
        self.call(|plugin, store| {
            plugin.ask_user_plugin_channel().call_render_feedback(store, channel, target, feedback)
        })
    }
}
