// What the channel does, tested without the sandbox: its functions are pure. `npm test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { channel } from "./src/channel.js";

const TAPS = "https://host.example/taps";
const [descriptor] = channel.channels();

function question(labels, more) {
  const choices = labels.map((label) => ({ label, description: null }));
  const words = { id: "target", header: "Deploy", text: "Where to?" };
  return { ...words, choices, multiSelect: null, isOther: true, isSecret: null, url: null, ...more };
}

function prompt(...questions) {
  return { id: `ask_${"0".repeat(32)}`, questions, origin: { locale: null }, settlement: null };
}

function target(more) {
  return { address: "mytopic", locale: null, shared: false, requester: null, callbackUrl: TAPS, ...more };
}

function ended(asked, tag, val) {
  return { ...asked, settlement: { outcome: { tag, val } } };
}

function render(asked, where) {
  const { calls, bindings } = channel.render(asked, "ntfy", target(where));
  return { calls, bindings, bodies: calls.map((call) => JSON.parse(call.body)) };
}

function settled(asked, where, messages = ["xE73Iyuabi"]) {
  const [call] = channel.renderSettled(asked, "ntfy", target(where), messages);
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

test("buttons that could be mistaken for one another show their numbers", () => {
  const labels = (...given) => render(prompt(question(given))).bindings.map((binding) => binding.label);
  assert.deepEqual(labels("Prod", "prod "), ["1. Prod", "2. prod", "Skip"]);
  assert.deepEqual(labels("\u200b", "Overslaan"), ["1.", "2. Overslaan", "Skip"]);
  assert.deepEqual(labels("3000", "x".repeat(60)), ["a) 3000", `b) ${"x".repeat(36)}…`, "Skip"]);
});

test("labels that are numbers are lettered, and no label is the letter of another choice", () => {
  const marks = (...labels) => {
    const { message } = render(prompt(question(labels))).bodies[0];
    const line = (label) => message.split("\n").find((line) => line.endsWith(` ${label}`));
    return labels.map((label) => line(label).split(" ")[0]);
  };
  assert.deepEqual(marks("3000", "8080", "x"), ["a)", "b)", "c)"]);
  assert.deepEqual(marks("1", "🚀 a (Recommended)", "c."), ["d)", "e)", "f)"]);
  assert.deepEqual(marks("2 weeks", "v2.0", "50%"), ["1.", "2.", "3."]);
});

test("what the agent wrote cannot pass for a line of ours", () => {
  const asked = question(["a\n2. b", "c\u202ed\0"], { text: "Look:\r\n1. Yes\n\n\n\n2. No\u2028" });
  const { message } = render(prompt(asked)).bodies[0];
  assert.ok(message.startsWith("> Look:\n> 1. Yes\n>\n> 2. No\n\nChoose one:\n1. a 2. b\n2. cd\n"), message);
  const title = render(prompt(question([], { header: "=?utf-8?q?=07?=" }))).bodies[0].title;
  assert.ok(!title.includes("=?"), title);
});

test("a long prompt takes several messages, loses nothing, and has its buttons on the last", () => {
  const words = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
  const { calls, bodies, bindings } = render(prompt(question(["Yes", "No"], { text: words.join(" ") })));
  assert.ok(calls.length > 50);
  for (const call of calls) assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most);
  assert.deepEqual(bodies.flatMap((body) => body.message.match(/\bw\d+\b/g) ?? []), words);
  assert.deepEqual(bodies.filter((body) => body.actions).length, 1);
  assert.equal(bodies.at(-1).actions.length, bindings.length);
  assert.match(bodies[1].title, new RegExp(` · 2/${calls.length}$`));
});

test("how to answer never makes a message too long", () => {
  for (let length = 1300; length < 1700; length++) {
    const { calls } = render(prompt(question(["Yes", "No"], { text: "x".repeat(length) })));
    for (const call of calls) assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most, `${length}`);
  }
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
  const asked = prompt(question(["Staging", "Production"]));
  const answers = [{ questionId: "target", values: ["Staging"] }];
  const { call, body } = settled(ended(asked, "answered", answers), {}, ["first", "last"]);
  assert.equal(body.sequence_id, "last");
  assert.equal(body.title, "Answered · Deploy");
  assert.equal(body.message, "Answered: Staging\n\nWhere to?");
  assert.ok(!call.body.includes("nt1:"));
  const late = settled(ended(asked, "no-answer", "expired"));
  assert.equal(late.body.title, "Expired without an answer · Deploy");
  assert.ok(!("sequence_id" in settled(ended(asked, "no-answer", "skipped"), {}, []).body));
});

test("own text is repeated to nobody but the person who typed it", () => {
  const answers = [{ questionId: "target", values: ["a", "my own"] }];
  const asked = ended(prompt(question(["a", "b"])), "answered", answers);
  assert.match(settled(asked).body.message, /^Answered: a, my own\n/);
  assert.match(settled(asked, { shared: true }).body.message, /^Answered: a, …\n/);
});

test("an end of any length fits", () => {
  const long = "部".repeat(50_000);
  const asked = prompt(question([long, "b"], { text: long, header: long }));
  const { call } = settled(ended(asked, "answered", [{ questionId: "target", values: [long] }]));
  assert.ok(Buffer.byteLength(call.text) <= descriptor.text.most);
});

test("feedback is a message, or nothing where the end of the prompt says it", () => {
  const tell = (feedback) => channel.renderFeedback("ntfy", target({ locale: "nl-NL" }), feedback, null);
  for (const feedback of ["received", "accepted"]) assert.deepEqual(tell(feedback), []);
  assert.equal(tell("expired")[0].body, '{"topic":"mytopic","message":"Deze vraag is verlopen."}');
  for (const feedback of ["already-answered", "not-allowed", "nothing-chosen", "try-again"]) {
    assert.equal(tell(feedback).length, 1);
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
  const over = ended(asked, "no-answer", "skipped");
  const kinds = [
    ["unknown-channel", () => channel.render(asked, "fax", target())],
    ["bad-target", () => channel.render(asked, "ntfy", target({ address: "../admin" }))],
    ["bad-target", () => channel.renderFeedback("ntfy", target({ address: "" }), "received", null)],
    ["unshowable", () => channel.render(over, "ntfy", target())],
    ["unshowable", () => channel.renderSettled(asked, "ntfy", target(), [])],
    ["unshowable", () => channel.renderComposer(asked, "ntfy", target(), {}, null, {})],
    ["unshowable", () => channel.render(null, "ntfy", target())],
  ];
  for (const [kind, call] of kinds) assert.equal(refused(call), kind);
});

test("the target chooses the language, and the prompt where it does not", () => {
  const asked = { ...prompt(question(["a", "b"])), origin: { locale: "id_ID" } };
  const title = (locale) => render(asked, { locale }).bodies[0].title;
  assert.equal(title(null), "Satu pertanyaan untuk Anda · Deploy");
  assert.equal(title("nl"), "Een vraag voor je · Deploy");
  assert.equal(title("fr"), "A question for you · Deploy");
});
