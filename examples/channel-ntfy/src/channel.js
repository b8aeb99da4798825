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
// - Words: the host gives them, cleaned, in the right language and with marks that work when they are typed.
//
// All functions are pure. Nothing but an error of the contract may leave them: anything else is a trap.

import { controls, isToken, LABEL, tapBody, TOKEN } from "./controls.js";
import { beginning, spread } from "./pages.js";
import { clean, cost, cutToCost, cutToUnits, isBlank } from "./text.js";

const NAME = "ntfy";
const EXAMPLE_TOPIC = "mytopic";
/** A topic, and what ntfy takes for a `sequence_id`. */
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
/** Longest message with its title, in bytes. */
const TEXT = 1700;
/** What a title may cost, which a push holds twice, and a page number behind it. */
const TITLE = 100;
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
  const words = wordsOf(target);
  const { bindings, actions } = controls(prompt, target, words);

  const [intro, ...lines] = words.body.map((line) => line.text);
  const title = titled(intro);
  const room = roomBelow(title) - PAGE_NUMBER;
  const hasButtons = actions.length > 0;
  const closing = Math.max(cost(words.howTo), cost(words.howToTap));
  const pages = hasButtons ? spread(lines, room, closing) : spread([...lines, "", words.howTo], room, 0);

  const calls = pages.map((page, index) => {
    const text = page.join("\n");
    const heading = pages.length === 1 ? title : `${title} · ${index + 1}/${pages.length}`;
    const message = { topic, title: heading, message: text, priority: HIGH_PRIORITY, tags: ["question"] };
    if (!hasButtons || index < pages.length - 1) return publish(message);
    return publish({ ...message, message: below(text, words.howToTap), actions }, below(text, words.howTo));
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
  const status = wordsOf(target).message;
  const asked = quoted(prompt);

  const isTitle = asked.length > 0 && !status.includes("\n") && cost(status) <= TITLE;
  const head = isTitle ? titled(status) : cutToCost(status, TEXT);
  const rest = beginning(asked, roomBelow(head)).join("\n");
  const message = { topic, message: isTitle ? rest : below(head, rest), priority: LOW_PRIORITY };
  if (isTitle) message.title = head;
  const last = messages.at(-1);
  if (isTopic(last)) message.sequence_id = last;
  return [publish(message)];
}

/** Nothing for what the end of the prompt says better, a message for what a person has to know. */
function renderFeedback(channel, target, feedback) {
  known(channel);
  const topic = topicOf(target);
  const { message } = wordsOf(target);
  return feedback === "received" || feedback === "accepted" ? [] : [publish({ topic, message })];
}

/** A call that publishes a message. `text` is what it says where it has no buttons. */
function publish(message, text = message.message) {
  return { method: "POST /", body: JSON.stringify(message), text: below(message.title ?? "", text) };
}

/** A title. The server takes it for a header of HTTP, and would decode what looks like an encoded word. */
function titled(line) {
  return cutToCost(line.replaceAll("=?", "= ?"), TITLE);
}

/** What more may stand below this, with an empty line between. */
function roomBelow(above) {
  return TEXT - cost(above) - cost("\n\n");
}

/** A text with another one below it, with an empty line between. */
function below(above, text) {
  return above && text ? `${above}\n\n${text}` : above || text;
}

/** What was asked, set in so that no line of it passes for ours. */
function quoted(prompt) {
  const texts = prompt.questions.map((question) => clean(question.text, "\n"));
  return texts
    .filter((text) => !isBlank(text))
    .flatMap((text) => text.split("\n").map((line) => `> ${line}`.trimEnd()));
}

/** What there is to say, which the host gives to every channel that is not its own. */
function wordsOf(target) {
  if (!target.words) throw refusal("unshowable", "the host gave no words");
  return target.words;
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
