// The channel `ntfy`: push notifications of ntfy.sh or a server of one's own (https://docs.ntfy.sh/publish/).
//
// An address is a topic, and a call publishes to it as JSON. One topic is one person: whoever knows its name
// reads what is asked and can tap. Text is plain, since `markdown` is never set.
//
// - Taps: an `http` action posts a body of our choice to `target.callback-url`; see controls.js.
// - Length: a message of more than 4,096 bytes becomes an attachment. But Apple takes 4,096 bytes for all
//   that a push holds, and drops larger ones unseen. So a message has less than half of that, and a long
//   prompt is several messages.
// - Ends: a message with the `sequence_id` of another takes its place, buttons and all, on Android and in
//   browsers. On iOS, and with servers before 2.16, it is one more message.
// - Own text: ntfy has no place to type it beside a notification; people type it wherever the host listens.
//
// All functions are pure. Nothing but an error of the contract may leave them: anything else is a trap.

import { controls, isToken, LABEL, tapBody, TOKEN } from "./controls.js";
import { askedLines, header, howTo, joined, questionLines, statusLines } from "./form.js";
import { beginning, spread } from "./pages.js";
import { clean, cost, cutToCost, cutToUnits } from "./text.js";
import { language } from "./words.js";

const NAME = "ntfy";
const EXAMPLE_TOPIC = "mytopic";
/** A topic, and what ntfy takes for a `sequence_id`. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
/** Longest message with its title, in bytes. */
const TEXT = 1700;
/** What the header of a question may cost in a title, and a page number behind it. */
const HEADER = 80;
const PAGE_NUMBER = 16;
/** Vibrates, and wakes a phone that saves power: somebody is waiting. */
const HIGH_PRIORITY = 4;
/** No sound: nobody has to do anything about it. */
const LOW_PRIORITY = 2;
/** Brackets beyond which a payload is none of ours. Deep JSON overflows the stack, which cannot be caught. */
const MOST_BRACKETS = 1000;

function channels() {
  return [
    {
      name: NAME,
      text: { most: TEXT, unit: "bytes" },
      label: { most: LABEL, unit: "utf16" },
      tokenBytes: TOKEN,
      natives: {
        buttons: true,
        edits: true,
        privateFeedback: false,
        composer: false,
        multiSelect: false,
        reactions: false,
      },
      markup: [],
      exampleAddress: EXAMPLE_TOPIC,
      exampleTap: tapBody("{token}", "{sender}", EXAMPLE_TOPIC),
    },
  ];
}

function render(prompt, channel, target) {
  known(channel);
  if (prompt.settlement) throw refusal("unshowable", "the prompt has ended; only its end can be shown");
  if (prompt.questions.length === 0) throw refusal("unshowable", "the prompt has no questions");
  const topic = topicOf(target);
  const words = wordsFor(prompt, target);
  const { bindings, actions } = controls(prompt, target, words);

  const count = prompt.questions.length;
  const title = titled(prompt, count === 1 ? words.oneQuestion : words.questions(count));
  const said = howTo(prompt, words);
  const shown = actions.length > 0 ? words.tap : said;
  const room = roomBelow(title) - PAGE_NUMBER;
  const pages = spread(questionLines(prompt, words), room, Math.max(cost(said), cost(shown)));

  const calls = pages.map((page, index) => {
    const isLast = index === pages.length - 1;
    const heading = pages.length === 1 ? title : `${title} · ${index + 1}/${pages.length}`;
    const message = {
      topic,
      title: heading,
      message: below(page, isLast ? shown : ""),
      priority: HIGH_PRIORITY,
      tags: ["question"],
    };
    if (isLast && actions.length > 0) message.actions = actions;
    return publish(message, below(page, isLast ? said : ""));
  });
  return { calls, bindings };
}

function interpretInteraction(channel, payload) {
  known(channel);
  if ((payload.match(/[[{]/g) ?? []).length > MOST_BRACKETS) throw refusal("not-ours");
  const tap = parsed(payload);
  if (!isToken(tap?.token)) throw refusal("not-ours");
  if (typeof tap.sender !== "string" || tap.sender === "" || !tap.sender.isWellFormed()) {
    throw refusal("malformed", "sender is missing or is not text");
  }
  if (!isTopic(tap.topic)) throw refusal("malformed", "topic is missing or is not the name of a topic");
  return {
    action: { tag: "choose", val: [tap.token] },
    sender: tap.sender,
    conversation: tap.topic,
    message: null,
    handle: "",
  };
}

function renderComposer(_prompt, channel) {
  known(channel);
  throw refusal("unshowable", "ntfy has no place to type own text");
}

function renderSettled(prompt, channel, target, messages) {
  known(channel);
  if (!prompt.settlement) throw refusal("unshowable", "the prompt is pending; it has no end to show");
  const topic = topicOf(target);
  const words = wordsFor(prompt, target);
  const { tag, val } = prompt.settlement.outcome;

  const title = titled(prompt, tag === "answered" ? words.answered : words.ended[val]);
  const room = roomBelow(title);
  const status = cutToCost(statusLines(prompt, target.shared, words).join("\n"), room);
  const rest = beginning(askedLines(prompt, words), room - cost(status) - cost("\n\n"));
  const message = { topic, title, message: below([status], rest.join("\n")), priority: LOW_PRIORITY };
  const last = messages.at(-1);
  if (isTopic(last)) message.sequence_id = last;
  return [publish(message)];
}

/** Nothing for what the end of the prompt says better, a message for what a person has to know. */
function renderFeedback(channel, target, feedback) {
  known(channel);
  const topic = topicOf(target);
  const message = language(target.locale).feedback[feedback];
  return message ? [publish({ topic, message })] : [];
}

/** A call that publishes a message. `text` is what it says where it has no buttons. */
function publish(message, text = message.message) {
  return { method: "POST /", body: JSON.stringify(message), text: below([message.title ?? ""], text) };
}

/** A title: our own words and the header of a prompt's only question. */
function titled(prompt, ours) {
  const name = prompt.questions.length === 1 ? header(prompt.questions[0], HEADER) : "";
  // The server takes titles for headers of HTTP, and would decode what looks like an encoded word of those.
  return joined(ours, name.replaceAll("=?", "= ?"));
}

/** What a message may cost below this title. */
function roomBelow(title) {
  return TEXT - cost(title) - cost("\n\n");
}

/** Lines with another text below them, with an empty line between. */
function below(lines, text) {
  const above = lines.join("\n");
  return above && text ? `${above}\n\n${text}` : above || text;
}

function wordsFor(prompt, target) {
  return language(target.locale ?? prompt.origin.locale);
}

function isTopic(value) {
  return typeof value === "string" && TOPIC.test(value);
}

function topicOf(target) {
  if (isTopic(target.address)) return target.address;
  const received = cutToUnits(clean(target.address), 64);
  throw refusal("bad-target", `address must be a topic of ntfy: ${TOPIC.source}; received “${received}”`);
}

function known(channel) {
  if (channel !== NAME) throw refusal("unknown-channel", cutToUnits(clean(channel), 64));
}

function parsed(payload) {
  try {
    return JSON.parse(payload);
  } catch {
    throw refusal("malformed", "the payload is not JSON");
  }
}

/** An error of the contract: a plain object, since the binding takes no Error for one. */
function refusal(tag, val) {
  return val === undefined ? { tag } : { tag, val };
}

/** Turns a mistake of ours into an error of the contract. */
function guarded(tag, entry) {
  return (...parameters) => {
    try {
      return entry(...parameters);
    } catch (error) {
      throw error instanceof Error ? refusal(tag, `this plugin failed: ${error.message}`) : error;
    }
  };
}

/** The interface `ask-user:plugin/channel`, by the name under which a component has to export it. */
export const channel = {
  channels,
  render: guarded("unshowable", render),
  interpretInteraction: guarded("malformed", interpretInteraction),
  renderComposer: guarded("unshowable", renderComposer),
  renderSettled: guarded("unshowable", renderSettled),
  renderFeedback: guarded("unshowable", renderFeedback),
};
