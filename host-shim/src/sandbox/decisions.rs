//! The functions of the contract, one call each. `wit/` says what they decide.
//!
//! The types of every function are checked once, when a component is loaded. wasmtime's generated bindings check all of
//! them again for every instance, which would cost more than the instance itself.

use std::sync::Arc;

use wasmtime::Store;
use wasmtime::component::{
    Component, ComponentExportIndex, ComponentNamedList, Instance, Lift, Lower, TypedFunc,
};

use super::inspect::interface_name;
use super::limits::CallState;
use super::{CallError, ChannelPlugin, Plugin};
use crate::contract::{
    About, Binding, Call, Cancellation, ChannelError, Context, Descriptor, Draft, Feedback, Interaction,
    Interpretation, Message, Origin, PhraseBook, Policy, Prompt, RecordForm, Refusal, Rendering,
    RequestParams, Resolution, ResolveError, Settlement, Tap, Target, Timestamp, ToolDefinition, ToolResult,
    Verdict, Violation, Words,
};

/// Finds a function and checks its types, in an instance that is made for that.
fn checked<Params, Return>(
    component: &Component,
    instance: Instance,
    store: &mut Store<CallState>,
    interface: &str,
    name: &str,
) -> wasmtime::Result<ComponentExportIndex>
where
    Params: ComponentNamedList + Lower,
    Return: ComponentNamedList + Lift,
{
    let missing = || wasmtime::Error::msg(format!("{interface} has no function {name}"));
    let exported = component.get_export_index(None, &*interface_name(interface)).ok_or_else(missing)?;
    let index = component.get_export_index(Some(&exported), name).ok_or_else(missing)?;
    instance
        .get_typed_func::<Params, Return>(store, &index)
        .map_err(|error| error.context(format!("{interface}.{name}")))?;
    Ok(index)
}

/// Declares each function once: where it is, its types, and the method of `$plugin` that calls it. So the types that are
/// checked are the types that are used.
macro_rules! decisions {
    ($functions:ident of $plugin:ident: $(
        $(#[$doc:meta])*
        $method:ident: $interface:literal $name:literal ($($argument:ident: $kind:ty),*) -> $return:ty;
    )*) => {
        /// Where functions of one component are, all of them checked.
        pub(super) struct $functions {
            $($method: ComponentExportIndex,)*
        }

        impl $functions {
            /// Finds and checks the functions.
            #[allow(clippy::extra_unused_lifetimes)]
            pub(super) fn of<'a>(
                component: &Component,
                instance: Instance,
                store: &mut Store<CallState>,
            ) -> wasmtime::Result<Self> {
                Ok(Self {
                    $($method: checked::<($($kind,)*), ($return,)>(component, instance, store, $interface, $name)?,)*
                })
            }
        }

        impl $plugin {
            $($(#[$doc])*
            #[allow(clippy::extra_unused_lifetimes, clippy::needless_lifetimes)]
            pub fn $method<'a>(&self, $($argument: $kind),*) -> Result<$return, CallError> {
                self.call(|functions: &$functions, instance, store| {
                    let function = instance
                        .get_func(&mut *store, &functions.$method)
                        .ok_or_else(|| wasmtime::Error::msg(concat!($interface, ".", $name, " is gone")))?;
                    // SAFETY: `of` has checked this very function of this very component against these very types.
                    let function = unsafe { TypedFunc::<($($kind,)*), ($return,)>::new_unchecked(function) };
                    let (decision,) = function.call(store, ($($argument,)*))?;
                    Ok(decision)
                })
            })*
        }
    };
}

decisions! {
    RuleFunctions of Plugin:

    /// The tool as this origin may use it, or nothing where it may not ask.
    definition: "tool" "definition" (origin: &'a Origin) -> Option<ToolDefinition>;

    /// Decides about one call of the tool.
    ask_user: "tool" "ask-user" (arguments: &'a str, context: &'a Context) -> Result<Prompt, Refusal>;

    /// What the tool returns for a prompt; nothing while it is pending.
    outcome: "tool" "outcome" (prompt: &'a Prompt) -> Option<ToolResult>;

    /// Decides about a request of a gateway client.
    request: "question" "request" (params: &'a RequestParams, context: &'a Context) -> Result<Prompt, Vec<Violation>>;

    /// The record of a prompt as JSON text.
    record: "question" "get" (prompt: &'a Prompt, form: RecordForm, now: Timestamp) -> String;

    /// The records of a page as the JSON text of an array.
    records: "question" "list" (prompts: &'a [Arc<Prompt>], form: RecordForm, now: Timestamp) -> String;

    /// Decides about an answer.
    resolve: "question" "resolve" (prompt: &'a Prompt, resolution: &'a Resolution, policy: Policy, now: Timestamp)
        -> Result<Verdict, ResolveError>;

    /// The end of a prompt whose deadline has passed; nothing when it has not.
    expire: "question" "expire" (prompt: &'a Prompt, now: Timestamp) -> Option<Settlement>;

    /// Decides about ending a prompt without an answer.
    cancel: "question" "cancel" (prompt: &'a Prompt, cancellation: &'a Cancellation, now: Timestamp)
        -> Result<Settlement, ResolveError>;

    /// Decides what a typed message means.
    interpret: "reply" "interpret" (prompt: &'a Prompt, message: &'a Message, draft: Option<&'a Draft>, policy: Policy)
        -> Interpretation;

    /// What there is to say, for channels that do not bring their own words.
    in_words: "reply" "in-words" (about: &'a About, locale: Option<&'a str>, shared: bool) -> Words;

    /// Our own words in a language.
    phrases: "reply" "phrases" (locale: Option<&'a str>) -> PhraseBook;
}

decisions! {
    ChannelFunctions of ChannelPlugin:

    /// The channels of this plugin.
    channels: "channel" "channels" () -> Vec<Descriptor>;

    /// A pending prompt for a target.
    render: "channel" "render" (prompt: &'a Prompt, channel: &'a str, target: &'a Target)
        -> Result<Rendering, ChannelError>;

    /// What a service's callback payload means.
    interpret_interaction: "channel" "interpret-interaction" (channel: &'a str, payload: &'a str)
        -> Result<Interaction, ChannelError>;

    /// A place to type own text, after a tap on a control that asks for it.
    render_composer: "channel" "render-composer" (prompt: &'a Prompt, channel: &'a str, target: &'a Target,
        binding: &'a Binding, message: Option<&'a str>, tap: &'a Tap) -> Result<Vec<Call>, ChannelError>;

    /// How a prompt that has ended looks.
    render_settled: "channel" "render-settled" (prompt: &'a Prompt, channel: &'a str, target: &'a Target,
        messages: &'a [String]) -> Result<Vec<Call>, ChannelError>;

    /// What to tell a person.
    render_feedback: "channel" "render-feedback" (channel: &'a str, target: &'a Target, feedback: Feedback,
        tap: Option<&'a Tap>) -> Result<Vec<Call>, ChannelError>;
}
