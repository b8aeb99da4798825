// Who is let in, and what is answered to what is no request: the same as by the real OpenClaw.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Frames } from "./lib/frames.mjs";
import { startOpenClaw, startOurs, TOKEN } from "./lib/gateways.mjs";

const AGENT = "dev";
let openclaw;
let ours;
before(async () => {
  openclaw = await startOpenClaw({ agent: AGENT });
  ours = await startOurs({ compatibility: "openclaw", agent: AGENT });
});
after(async () => {
  await openclaw.stop();
  await ours.stop();
});

// What both say to the same, without their wording.
async function bothSay(say) {
  const [theirs, own] = await Promise.all([openclaw, ours].map(({ url }) => say(url)));
  return { theirs, own };
}

function refusal({ code, details = null }) {
  return { code, details };
}

async function letIn(url, params) {
  const { frames, welcome } = await Frames.greet(url, params);
  frames.close();
  if (!welcome.ok) return refusal(welcome.error);
  const { role, scopes } = welcome.payload.auth;
  return { role, scopes };
}

const SECRETS = [
  { token: TOKEN },
  { token: ` ${TOKEN}\n` },
  { token: `\u00a0${TOKEN}\ufeff` },
  { token: `\u0085${TOKEN}` },
  { token: "wrong" },
  { token: " " },
  { token: "" },
  { token: "", password: "" },
  { token: "", password: " " },
  { password: "" },
  { password: TOKEN },
  { password: "wrong" },
  { password: " " },
  { token: "", password: TOKEN },
  { token: " ", password: "wrong" },
  { token: "wrong", password: TOKEN },
  { token: TOKEN, deviceToken: "any" },
  { token: " ", deviceToken: "any" },
  { deviceToken: "any" },
  { bootstrapToken: "any" },
  {},
];

for (const auth of SECRETS) {
  test(`with ${JSON.stringify(auth)}`, async () => {
    const { theirs, own } = await bothSay((url) => letIn(url, { auth, scopes: ["operator.questions"] }));
    assert.deepEqual(own, theirs);
  });
}

const COPILOT = "openclaw-browser-copilot";
const CLIENTS = [
  ...["webchat", "webchat-ui", "openclaw-control-ui", "openclaw-tui", "cli", "fingerprint"].flatMap((id) =>
    ["webchat", "ui", "backend", "cli"].map((mode) => ({ id, mode })),
  ),
  { id: "node-host", mode: "webchat" },
  { id: COPILOT, mode: "backend" },
  { id: COPILOT, mode: "ui" },
  { id: COPILOT, mode: "ui", caps: ["run-tool-bindings", "session-scoped-events"] },
];

for (const { caps = [], ...names } of CLIENTS) {
  test(`as ${names.id} in the mode ${names.mode}${caps.length > 0 ? ` with ${caps}` : ""}`, async () => {
    const client = { ...names, version: "1.0.0", platform: "linux" };
    for (const role of ["operator", "node"]) {
      for (const auth of [{ token: TOKEN }, { token: "wrong" }, {}]) {
        const { theirs, own } = await bothSay((url) =>
          letIn(url, { client, caps, role, auth, scopes: ["operator.admin"] }),
        );
        assert.deepEqual(own, theirs, `${role} ${JSON.stringify(auth)}`);
      }
    }
  });
}

const OTHERS = [
  ...["null", "true", "[1]", '{"a":1}', '""', "0", "-0", "1e2", "1.50", "1e400", '"\\u0041"'].map(
    (id) => `{"type":"req","id":${id},"method":5}`,
  ),
  '{"type":"req","method":"question.list"}',
  '{"type":"req","id":"x","method":"question.list","params":{},"expectedProfileId":"somebody"}',
  '{"type":"req","id":"x","method":"question.nothing","expectedProfileId":"somebody"}',
  '{"type":"req","id":"x","method":"question.list","expectedProfileId":""}',
  '{"type":"req","id":"x","method":"question.list","more":1}',
  "[]",
  "5",
];

for (const text of OTHERS) {
  test(`what is answered to ${text}`, async () => {
    const { theirs, own } = await bothSay(async (url) => {
      const frames = await Frames.connect(url, ["operator.questions"]);
      const { id, ok, error } = await frames.send(text);
      frames.close();
      return { id, ok, ...refusal(error) };
    });
    assert.deepEqual(own, theirs);
  });
}

for (const sessionKey of ["global", "unknown", " UNKNOWN ", "main", "AGENT:Dev:x"]) {
  test(`the session ${JSON.stringify(sessionKey)} is stored as`, async () => {
    const { theirs, own } = await bothSay(async (url) => {
      const frames = await Frames.connect(url, ["operator.questions"]);
      const options = [{ label: "Yes" }, { label: "No" }];
      const questions = [{ questionId: "sure", header: "Sure", question: "Are you?", options }];
      const { payload } = await frames.call("question.request", { questions, sessionKey });
      const { question } = (await frames.call("question.get", { id: payload.id })).payload;
      frames.close();
      return { sessionKey: question.sessionKey, agentId: question.agentId };
    });
    assert.deepEqual(own, theirs);
  });
}
