// What the channel does, tested without the sandbox: its functions are pure. `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { channel } from "./src/channel.js";

const TAPS = "https://host.example/taps";
const [descriptor] = channel.channels();

function question(labels, more) {
  const choices = labels.map((label) => ({ label, description: null }));
  const basics = { id: "target", header: "Deploy", text: "Where to?" };
  return { ...basics, choices, multiSelect: null, isOther: true, isSecret: null, url: null, ...more };
}

function prompt(...questions) {
  return { id: `ask_${"0".repeat(32)}`, questions, settlement: null };
}

function target(more) {
  return { address: "mytopic", shared: false, requester: null, callbackUrl: TAPS, words: said(), ...more };
}

const lines = (texts, kind = "text") => texts.map((text) => ({ kind, text }));

/** What the host has to say, in the form that it has. */
function said(more) {
  const labels = { other: "Other…", skip: "Skip", submit: "Submit" };
  const asks = { howToTap: "Tap a button, or reply.", typeOwn: "Please type your own answer." };
  return { body: [], howTo: "", ...asks, ...labels, message: null, ...more };
}

/** What it has to say about a pending prompt of plain text on one line, with `marks` before its choices. */
function about({ questions }, marks = ["1.", "2.", "3."]) {
  const blocks = questions.map(({ text, choices }) => {
    const shown = choices.map(({ label }, index) => `${marks[index]} ${label}`);
    return [...lines(["", text, ...(shown.length > 0 ? ["", "Choose one:"] : [])]), ...lines(shown, "choice")];
  });
  const intro = lines([`A question for you · ${questions[0].header}`], "title");
  return said({
    body: [...intro, ...blocks.flat()],
    howTo: "Reply with a number, an option or your own words. To skip, reply /skip.",
  });
}

function ended(asked) {
  return { ...asked, settlement: { outcome: { tag: "no-answer", val: "skipped" } } };
}

function render(asked, where) {
  const { calls, bindings } = channel.render(asked, "ntfy", target({ words: about(asked), ...where }));
  return { calls, bindings, bodies: calls.map((call) => JSON.parse(call.body)) };
}

/** How a prompt looks that ended as `message` says. */
function settled(asked, message, messages = ["xE73Iyuabi"]) {
  const [call] = channel.renderSettled(ended(asked), "ntfy", target({ words: said({ message }) }), messages);
  return { call, body: JSON.parse(call.body) };
}

/** The error of the contract that `call` ends with. */
function refused(call) {
  try {
    call();
  } catch (error) {
    assert.ok(!(error instanceof Error), `not an error of the contract: ${error.stack}`);
    return error.tag;
  }
  assert.fail("it was not refused");
}

test("two choices and Skip are buttons, and every tap comes back", () => {
  const asked = prompt(question(["Staging", "Production"]));
  const { calls, bindings, bodies } = render(asked, { requester: { id: "ada" } });
  assert.equal(calls.length, 1);
  assert.equal(calls[0].method, "POST /");
  const { topic, title, message, actions } = bodies[0];
  assert.equal(topic, "mytopic");
  assert.equal(title, "A question for you · Deploy");
  assert.equal(message, "Where to?\n\nChoose one:\n1. Staging\n2. Production\n\nTap a button, or reply.");
  assert.deepEqual(actions.map((action) => action.label), ["Staging", "Production", "Skip"]);
  assert.deepEqual(bindings.map((binding) => binding.target.tag), ["choice", "choice", "skip"]);
  for (const [index, action] of actions.entries()) {
    assert.equal(action.url, TAPS);
    const tap = channel.interpretInteraction("ntfy", action.body);
    assert.deepEqual(tap.action, { tag: "choose", val: [bindings[index].token] });
    assert.deepEqual([tap.sender, tap.conversation], ["ada", "mytopic"]);
  }
});

test("the text for where there are no buttons does not speak of any", () => {
  const { calls } = render(prompt(question(["Staging", "Production"])));
  assert.match(calls[0].text, /^A question for you · Deploy\n\nWhere to\?/);
  assert.match(calls[0].text, /Reply with a number, an option or your own words\. To skip, reply \/skip\.$/);
});

test("there are no buttons for more than fits, without a place for taps, or where others read", () => {
  const pair = question(["a", "b"]);
  const cases = [
    [prompt(question(["a", "b", "c"]))],
    [prompt(question([]))],
    [prompt(question(["a", "b"], { multiSelect: true }))],
    [prompt(pair, { ...pair, id: "second" })],
    [prompt(pair), { callbackUrl: null }],
    [prompt(pair), { callbackUrl: `https://host.example/${"x".repeat(500)}` }],
    [prompt(pair), { shared: true }],
    [{ ...prompt(pair), id: "x".repeat(70) }],
  ];
  for (const [asked, where] of cases) {
    const { bindings, bodies } = render(asked, where);
    assert.deepEqual(bindings, []);
    assert.ok(!("actions" in bodies.at(-1)));
    assert.match(bodies.at(-1).message, /To skip, reply \/skip\.$/);
  }
});

test("buttons that could be mistaken for one another have the marks of the text", () => {
  const labels = (given, marks) => {
    const asked = prompt(question(given));
    return render(asked, { words: about(asked, marks) }).bindings.map((binding) => binding.label);
  };
  assert.deepEqual(labels(["Prod", "prod "]), ["1. Prod", "2. prod", "Skip"]);
  assert.deepEqual(labels(["\u200b", "SKIP"]), ["1.", "2. SKIP", "Skip"]);
  const lettered = labels(["3000", "x".repeat(60)], ["a)", "b)"]);
  assert.deepEqual(lettered, ["a) 3000", `b) ${"x".repeat(36)}…`, "Skip"]);
});

test("no title is taken for a header of HTTP, and right-to-left text ends where it is cut", () => {
  const title = (header) => render(prompt(question([], { header }))).bodies[0].title;
  assert.equal(title("=?utf-8?q?=07?="), "A question for you · = ?utf-8?q?=07?=");
  const long = title(`\u2068${"שלום ".repeat(100)}\u2069`);
  assert.ok(long.endsWith("…\u2069"), long);
  assert.ok(Buffer.byteLength(long) <= 100, long);
});

test("a long prompt takes several messages, loses nothing, and has its buttons on the last", () => {
  const typed = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
  const { calls, bodies, bindings } = render(prompt(question(["Yes", "No"], { text: typed.join(" ") })));
  assert.ok(calls.length > 50);
  for (const call of calls) assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most);
  assert.deepEqual(bodies.flatMap((body) => body.message.match(/\bw\d+\b/g) ?? []), typed);
  assert.deepEqual(bodies.filter((body) => body.actions).length, 1);
  assert.equal(bodies.at(-1).actions.length, bindings.length);
  assert.match(bodies[1].title, new RegExp(` · 2/${calls.length}$`));
});

test("how to answer never makes a message too long", () => {
  const fits = (asked, words) => {
    const { calls } = render(asked, { words });
    for (const call of calls) assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most, call.text);
  };
  for (let length = 1300; length < 1700; length++) {
    for (const labels of [["Yes", "No"], []]) {
      const asked = prompt(question(labels, { text: "x".repeat(length) }));
      fits(asked, about(asked));
    }
  }
  const several = prompt(question([]), question([]));
  fits(several, { ...about(several), howTo: `A line each, as in “${"x".repeat(5000)}: 1”.` });
});

test("no text is cut inside a character", () => {
  const family = "👩‍👩‍👧";
  const { bodies } = render(prompt(question([], { text: family.repeat(500) })));
  assert.ok(bodies.length > 2);
  for (const { message } of bodies.slice(0, -1)) assert.match(message, /^(?:… )?(?:👩‍👩‍👧)+$/u);
});

test("any push fits into the 4,096 bytes that Apple takes", () => {
  const callbackUrl = `https://host.example/${"x".repeat(60)}`;
  for (const character of ["a", '"', "\\", "é", "部", "🚀"]) {
    const long = question([character.repeat(5000), `b${character.repeat(5000)}`], {
      header: character.repeat(100),
      text: character.repeat(5000),
    });
    const { bodies } = render(prompt(long), { address: "t".repeat(64), callbackUrl });
    // What is escaped twice leaves no room for buttons.
    assert.equal(bodies.at(-1).actions?.length, '"\\'.includes(character) ? undefined : 3);
    for (const body of bodies) assert.ok(Buffer.byteLength(push(body)) <= 4096, character);
  }
});

/** What ntfy makes of a message for Apple (toFirebaseMessage in its server/server_firebase.go). */
function push({ topic, title, message, priority, tags, actions = [] }) {
  const alert = { title, body: Buffer.from(message).subarray(0, 100).toString() };
  return JSON.stringify({
    aps: { "mutable-content": 1, sound: "default", alert },
    ...{ id: "012345678901", time: "1800000000", event: "message", topic, sequence_id: "012345678901" },
    ...{ click: "", icon: "", content_type: "", encoding: "", title, message },
    ...{ priority: `${priority}`, tags: tags.join(",") },
    actions: JSON.stringify(actions.map((action) => ({ id: "0123456789", clear: false, ...action }))),
  });
}

test("the end takes the place of the last message, and has no buttons", () => {
  const asked = prompt(question(["Staging", "Production"], { text: "Where to?\r\n1. Nowhere" }));
  const { call, body } = settled(asked, "Deploy · Answered: Staging", ["first", "last"]);
  assert.equal(body.sequence_id, "last");
  assert.equal(body.title, "Deploy · Answered: Staging");
  assert.equal(body.message, "> Where to?\n> 1. Nowhere");
  assert.ok(!call.body.includes("nt1:"));
  assert.ok(!("sequence_id" in settled(asked, "Deploy · Skipped", []).body));
});

test("an end that is no title, or has nothing below it, is the message", () => {
  const asked = prompt(question(["a", "b"]));
  for (const status of ["Deploy · Answered: a\nWhen · Answered: b", "x".repeat(150)]) {
    const { title, message } = settled(asked, status).body;
    assert.deepEqual([title, message], [undefined, `${status}\n\n> Where to?`]);
  }
  const { title, message } = settled(prompt(question([], { text: "\u200b" })), "Skipped").body;
  assert.deepEqual([title, message], [undefined, "Skipped"]);
});

test("an end of any length fits", () => {
  const long = "部".repeat(50_000);
  const asked = prompt(question([long, "b"], { text: long, header: long }));
  for (const status of ["Skipped", "部".repeat(500), `${long} · Answered: ${long}`]) {
    const { call } = settled(asked, status);
    assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most);
  }
});

test("feedback is a message, or nothing where the end of the prompt says it", () => {
  const words = said({ message: "Deze vraag is verlopen." });
  const tell = (feedback) => channel.renderFeedback("ntfy", target({ words }), feedback, null);
  for (const feedback of ["received", "accepted"]) assert.deepEqual(tell(feedback), []);
  for (const feedback of ["already-answered", "expired", "not-allowed", "nothing-chosen", "try-again"]) {
    assert.deepEqual(tell(feedback).map(({ body }) => JSON.parse(body)), [
      { topic: "mytopic", message: "Deze vraag is verlopen." },
    ]);
  }
});

test("what is no tap of ours is refused", () => {
  const interpret = (payload) => refused(() => channel.interpretInteraction("ntfy", payload));
  for (const payload of ["", "tap", '{"token":', "\0"]) assert.equal(interpret(payload), "malformed");
  for (const payload of ["null", "1", "[]", '{"token":"tgq1:1"}', '{"token":7}', "[".repeat(5000)]) {
    assert.equal(interpret(payload), "not-ours");
  }
  const tap = JSON.parse(descriptor.exampleTap.replace("{token}", "nt1:ask_1:0"));
  const senders = ["", 7, "\ud800", undefined].map((sender) => ({ sender }));
  const topics = ["", "a b", undefined].map((topic) => ({ topic }));
  for (const wrong of [...senders, ...topics]) {
    assert.equal(interpret(JSON.stringify({ ...tap, ...wrong })), "malformed");
  }
});

test("unknown names, addresses and states are refused by their kind", () => {
  const asked = prompt(question(["a", "b"]));
  const over = ended(asked);
  const wordless = target({ words: null });
  const kinds = [
    ["unknown-channel", () => channel.render(asked, "fax", target())],
    ["bad-target", () => channel.render(asked, "ntfy", target({ address: "../admin" }))],
    ["bad-target", () => channel.renderFeedback("ntfy", target({ address: "" }), "received", null)],
    ["unshowable", () => channel.render(over, "ntfy", target())],
    ["unshowable", () => channel.renderSettled(asked, "ntfy", target(), [])],
    ["unshowable", () => channel.renderComposer(asked, "ntfy", target(), {}, null, {})],
    ["unshowable", () => channel.render(null, "ntfy", target())],
    ["unshowable", () => channel.render(asked, "ntfy", wordless)],
    ["unshowable", () => channel.renderSettled(over, "ntfy", wordless, [])],
    ["unshowable", () => channel.renderFeedback("ntfy", wordless, "expired", null)],
  ];
  for (const [kind, call] of kinds) assert.equal(refused(call), kind);
});
