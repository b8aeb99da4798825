// The same random scenarios, played to the real OpenClaw gateway and to ours: all that a client can tell apart is
// compared, after ids and times are made the same. ASK_USER_SEED and ASK_USER_SCENARIOS choose others.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { Frames } from "./lib/frames.mjs";
import { startOpenClaw, startOurs } from "./lib/gateways.mjs";

const SEED = Number(process.env.ASK_USER_SEED ?? 20260906);
const SCENARIOS = Number(process.env.ASK_USER_SCENARIOS ?? 2000);
const AGENT = "dev";
// Who there is, and with which scopes. Those who may not ask hear nothing and are refused in the same way.
const CLIENTS = {
  a: ["operator.questions"],
  b: ["operator.questions", "operator.read"],
  admin: ["operator.admin"],
  reader: ["operator.read"],
  writer: ["operator.write"],
};

// Those who hear of questions. Whatever the others hear would be seen as well.
const LISTENERS = ["a", "b", "admin"];
// Scenarios that are played at the same time. Each has connections of its own, and ids of its own.
const AT_ONCE = 8;
// How long the two sides get to have told the same.
const PATIENCE_MS = 5000;

const sides = {};
before(async () => {
  sides.openclaw = { gateway: await startOpenClaw({ agent: AGENT }), players: [] };
  sides.ours = { gateway: await startOurs({ compatibility: "openclaw", agent: AGENT }), players: [] };
  sides.better = { gateway: await startOurs({ agent: AGENT }), players: [] };
  for (const { gateway, players } of Object.values(sides)) {
    for (let player = 0; player < AT_ONCE; player++) {
      const clients = {};
      for (const [name, scopes] of Object.entries(CLIENTS)) clients[name] = await Frames.connect(gateway.url, scopes);
      players.push(clients);
    }
  }
});
after(async () => {
  for (const { gateway, players } of Object.values(sides)) {
    for (const client of players.flatMap((clients) => Object.values(clients))) client.close();
    await gateway.stop();
  }
});

// A small generator of numbers that is the same everywhere (mulberry32).
function randomness(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
  const pick = (list) => list[Math.floor(next() * list.length)];
  return { pick, chance: (share) => next() < share };
}

const LABELS = ["Staging", "Prod", "Yes", "No", "🚀 Go", "a, b", "2", "Staging (Recommended)", " Prod ", "prod", ""];
const TEXTS = [...LABELS, "own text", "  spaces  ", "line\nline", "\u0000x", "\u00a0", "Ünïcode", "1"];
const QUESTION_IDS = ["target", "when", "x1", "constructor", "Bad", "1st", ""];

function question({ pick, chance }, id) {
  const options = [];
  const count = chance(0.9) ? pick([0, 2, 2, 2, 3, 4]) : pick([1, 5]);
  while (options.length < count) {
    // Mostly labels that differ.
    const option = { label: chance(0.95) ? LABELS[options.length] : pick(LABELS) };
    if (chance(0.2)) option.description = pick(["", "why", "why", "why", 5]);
    options.push(option);
  }
  const made = { questionId: id, header: chance(0.95) ? pick(["Deploy", "", "twelve chars"]) : "thirteen chars!", question: chance(0.97) ? "Where?" : "", options };
  if (chance(0.5)) made.isOther = chance(0.95) ? pick([true, true, false]) : null;
  if (chance(0.3)) made.multiSelect = chance(0.95) ? pick([true, false]) : "yes";
  if (chance(0.05)) made.url = pick(["https://example.org/x", "http://user@example.org", "ftp://example.org", "nothing"]);
  if (chance(0.03)) made.extra = 1;
  if (chance(0.03)) delete made[pick(Object.keys(made))];
  return made;
}

// Most scenarios begin with a question that is as it should be, so that there is something to answer.
function scenarioOf(random) {
  const { pick, chance } = random;
  const ids = pick([["one"], ["one"], ["one", "two"]]);
  const steps = Array.from({ length: pick([3, 5, 7, 9]) }, () => step(random, ids));
  if (chance(0.8)) {
    const options = [{ label: "Staging" }, { label: "Prod" }];
    const asked = { questionId: "target", header: "Deploy", question: "Where?", options, isOther: chance(0.7) };
    if (chance(0.3)) asked.multiSelect = true;
    steps.unshift({ as: "a", method: "question.request", params: { id: ids[0], questions: [asked] } });
  }
  return steps;
}

function step(random, ids) {
  const { pick, chance } = random;
  const as = chance(0.92) ? pick(["a", "a", "b", "admin"]) : pick(["reader", "writer"]);
  const id = pick(ids);
  const by = chance(0.2) ? { resolvedBy: pick(["ada", "run-abort", "", 7]) } : {};
  if (chance(0.02)) return { as, method: pick(["question.nothing", "question", "Question.list"]), params: {} };
  switch (pick(["request", "request", "request", "resolve", "resolve", "resolve", "cancel", "get", "list", "wait"])) {
    case "request": {
      const count = chance(0.95) ? pick([1, 1, 1, 2, 3]) : pick([0, 4]);
      const questions = Array.from({ length: count }, (_, index) =>
        question(random, chance(0.95) ? (QUESTION_IDS[index] ?? "x1") : pick(QUESTION_IDS)),
      );
      const params = { id, questions };
      if (chance(0.3)) params.sessionKey = chance(0.9) ? pick(["main", "agent:dev:main", "agent:DEV:x", "agent:other:x", " "]) : pick(["agent::x", ""]);
      if (chance(0.1)) params.agentId = pick(["dev", "DEV", "nobody", ""]);
      if (chance(0.3)) params.runId = chance(0.9) ? "run-1" : pick(["", 5]);
      if (chance(0.3)) params.timeoutMs = chance(0.9) ? pick([60000, 900000.0, 3e9]) : pick([0, -1, 1.5, "60000"]);
      if (chance(0.03)) params.extra = true;
      return { as, method: "question.request", params };
    }
    case "resolve": {
      const answers = {};
      for (const key of pick([["target"], ["target"], ["target"], ["target", "when"], ["target", "when", "x1"], ["other"], []])) {
        answers[key] = Array.from({ length: chance(0.9) ? 1 : pick([0, 2]) }, () => pick(TEXTS));
      }
      const params = { id, answers: { answers }, ...by };
      if (chance(0.2)) params.resolutionId = chance(0.8) ? pick(["mark", "x".repeat(128)]) : pick(["x".repeat(129), "", 5]);
      if (chance(0.03)) params.cancel = true;
      if (chance(0.03)) params.secretStoreAllowedHosts = ["example.org"];
      return { as, method: "question.resolve", params };
    }
    case "cancel":
      return { as, method: "question.resolve", params: { id, cancel: chance(0.9) ? true : pick([false, "true"]), ...by } };
    case "get":
      return { as, method: "question.get", params: chance(0.95) ? { id } : pick([{}, { id: 5 }, { id, extra: 1 }]) };
    case "list":
      return { as, method: "question.list", params: chance(0.95) ? {} : { extra: 1 } };
    case "wait":
      return { as, method: "question.waitAnswer", params: { id, timeoutMs: chance(0.9) ? 1 : pick([0, "1"]), ...(chance(0.3) && { includeResolutionId: pick([true, false, 1]) }) } };
    default:
      throw new Error("there is no such kind of call");
  }
}

// What can be told apart, with ids and times made the same. Wording is not compared.
function seen(value, prefix) {
  if (Array.isArray(value)) return value.map((item) => seen(item, prefix));
  if (typeof value === "string") return value.startsWith(prefix) ? value.slice(prefix.length) : value;
  if (value === null || typeof value !== "object") return value;
  const made = value.createdAtMs;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, item]) => {
        if (key === "createdAtMs") return [key, typeof item];
        if (key === "expiresAtMs") return [key, made === undefined ? typeof item : item - made];
        return [key, seen(item, prefix)];
      }),
  );
}

function outcome({ ok, payload, error }, prefix) {
  if (ok) {
    // One server serves all scenarios, so a list holds what others left.
    const own = payload.questions && { questions: payload.questions.filter((record) => record.id.startsWith(prefix)) };
    return { ok, payload: seen({ ...payload, ...own }, prefix) };
  }
  return { ok, code: error.code, details: seen(error.details ?? null, prefix) };
}

// Makes one call, and tells what came back.
async function make({ as, method, params }, clients, prefix) {
  const call = { ...params, ...(params.id === undefined || typeof params.id !== "string" ? {} : { id: prefix + params.id }) };
  const response = outcome(await clients[as].call(method, call), prefix);
  // Whoever hears of it has mostly heard of it before their own next call comes back.
  await Promise.all(LISTENERS.map((name) => clients[name].call("question.get", { id: "none" })));
  return response;
}

// What came back of each call of a scenario on one side, one call after the other.
async function play(side, prefix, scenario) {
  const played = [];
  for (const call of scenario) played.push(await make(call, side.players[0], prefix));
  return played;
}

// What everybody has heard that was not compared yet.
function heard(clients, prefix) {
  return Object.fromEntries(
    Object.entries(clients).map(([name, { events }]) => [
      name,
      seen(events.filter(({ payload }) => payload.id.startsWith(prefix)), prefix),
    ]),
  );
}

// OpenClaw may tell of an answer after it has answered later calls, so both sides get a while to have said the same.
async function haveHeardTheSame({ openclaw, ours }, prefix, told) {
  for (let left = PATIENCE_MS; ; left -= 20) {
    const [theirs, own] = [heard(openclaw, prefix), heard(ours, prefix)];
    if (isDeepStrictEqual(own, theirs)) break;
    if (left <= 0) assert.deepEqual(own, theirs, told);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const client of [...Object.values(openclaw), ...Object.values(ours)]) client.takeEvents();
}

test(`${SCENARIOS} random scenarios are the same on both sides (seed ${SEED})`, async (context) => {
  let steps = 0;
  const kinds = new Map();
  let next = 0;
  const one = async (player, number) => {
    const scenario = scenarioOf(randomness(SEED + number));
    const prefix = `s${number}-`;
    const [openclaw, ours] = [sides.openclaw.players[player], sides.ours.players[player]];
    for (const [index, call] of scenario.entries()) {
      const told = `scenario ${number} (seed ${SEED + number}), step ${index}: ${call.as} ${JSON.stringify(call)}`;
      const [theirs, own] = await Promise.all([make(call, openclaw, prefix), make(call, ours, prefix)]);
      assert.deepEqual(own, theirs, told);
      await haveHeardTheSame({ openclaw, ours }, prefix, told);
      const kind = `${call.method} ${theirs.ok ? "ok" : (theirs.details?.reason ?? theirs.code)}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      steps++;
    }
  };
  const players = Array.from({ length: AT_ONCE }, async (_, player) => {
    while (next < SCENARIOS) await one(player, next++);
  });
  await Promise.all(players);
  context.diagnostic(`${SCENARIOS} scenarios, ${steps} calls, no difference`);
  for (const [kind, count] of [...kinds].sort()) context.diagnostic(`${count} × ${kind}`);
  // A generator that only makes refusals would compare nothing.
  for (const kind of ["question.request ok", "question.resolve ok", "question.resolve QUESTION_ALREADY_TERMINAL", "question.waitAnswer ok"]) {
    assert.ok(kinds.get(kind) > SCENARIOS / 20, `too few: ${kind}`);
  }
});

// Where our defaults are better than OpenClaw, they differ here, and with its profile they do not.
const BETTER = {
  "the same submission once more is no error": [
    { as: "a", method: "question.resolve", params: { id: "q", answers: { answers: { target: ["Prod"] } }, resolutionId: "mark" } },
    { as: "a", method: "question.resolve", params: { id: "q", answers: { answers: { target: ["Prod"] } }, resolutionId: "mark" } },
  ],
  "who answered is who they are, not who they say": [
    { as: "a", method: "question.resolve", params: { id: "q", cancel: true, resolvedBy: "somebody else" } },
    { as: "b", method: "question.get", params: { id: "q" } },
  ],
  "why a question is called off can be said": [
    { as: "a", method: "question.resolve", params: { id: "q", cancel: true, reason: "undeliverable" } },
  ],
};

for (const [ruling, steps] of Object.entries(BETTER)) {
  test(`only by default, ${ruling}`, async () => {
    const options = [{ label: "Staging" }, { label: "Prod" }];
    const asked = { questionId: "target", header: "Deploy", question: "Where?", options };
    const scenario = [{ as: "a", method: "question.request", params: { id: "q", questions: [asked] } }, ...steps];
    const prefix = `better-${Object.keys(BETTER).indexOf(ruling)}-`;
    const [theirs, ours, better] = await Promise.all(
      [sides.openclaw, sides.ours, sides.better].map((side) => play(side, prefix, scenario)),
    );
    assert.deepEqual(ours, theirs);
    assert.deepEqual(better.slice(0, -1), theirs.slice(0, -1));
    assert.notDeepEqual(better.at(-1), theirs.at(-1));
  });
}

test("the comparison sees a difference", () => {
  const response = { ok: true, payload: { id: "s1-a", createdAtMs: 5, expiresAtMs: 15 } };
  const same = { ok: true, payload: { id: "s2-a", createdAtMs: 6, expiresAtMs: 16 } };
  assert.deepEqual(outcome(response, "s1-"), outcome(same, "s2-"));
  assert.notDeepEqual(outcome(response, "s1-"), outcome({ ok: true, payload: { ...same.payload, expiresAtMs: 17 } }, "s2-"));
  const refused = (reason) => outcome({ ok: false, error: { code: "INVALID_REQUEST", message: "m", details: { reason } } }, "s1-");
  assert.notDeepEqual(refused("QUESTION_NOT_FOUND"), refused("QUESTION_ID_IN_USE"));
});
