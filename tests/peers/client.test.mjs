// OpenClaw's published client, unchanged, against our gateway.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { GatewayClient } from "@openclaw/gateway-client";
import { startOurs, TOKEN } from "./lib/gateways.mjs";

let gateway;
before(async () => (gateway = await startOurs()));
after(() => gateway.stop());

async function connected() {
  const events = [];
  const welcome = Promise.withResolvers();
  const client = new GatewayClient({
    url: gateway.url,
    token: TOKEN,
    minProtocol: 4,
    maxProtocol: 4,
    clientName: "gateway-client",
    mode: "backend",
    scopes: ["operator.questions"],
    onHelloOk: welcome.resolve,
    onConnectError: welcome.reject,
    onEvent: (event) => events.push(event),
  });
  client.start();
  return { client, events, hello: await welcome.promise };
}

const questions = [
  {
    questionId: "target",
    header: "Deploy",
    question: "Where to?",
    options: [{ label: "Staging" }, { label: "Production" }],
    isOther: true,
  },
];

test("it asks, waits, answers, and hears of it", async () => {
  const asker = await connected();
  const answerer = await connected();
  assert.equal(asker.hello.protocol, 4);
  assert.deepEqual(asker.hello.auth.scopes, ["operator.questions"]);
  assert.ok(asker.hello.features.methods.includes("question.waitAnswer"));

  const { id, expiresAtMs } = await asker.client.request("question.request", { questions, sessionKey: "main" });
  assert.ok(expiresAtMs > Date.now());
  const waiting = asker.client.request("question.waitAnswer", { id, includeResolutionId: true }, { timeoutMs: null });
  const listed = await answerer.client.request("question.list", {});
  assert.deepEqual(listed.questions.map((question) => question.id), [id]);
  const answers = { answers: { target: ["Production"] } };
  const resolved = await answerer.client.request("question.resolve", { id, answers, resolutionId: "mine" });
  assert.deepEqual(resolved, { status: "answered", answers });
  assert.deepEqual(await waiting, { status: "answered", answers, resolutionId: "mine" });
  const { question } = await asker.client.request("question.get", { id });
  assert.equal(question.status, "answered");
  await assert.rejects(asker.client.request("question.get", { id: "none" }), (error) => {
    assert.equal(error.details?.reason ?? error.gatewayError?.details?.reason, "QUESTION_NOT_FOUND");
    return true;
  });

  for (const { events } of [asker, answerer]) {
    const told = events.filter(({ event }) => event.startsWith("question."));
    assert.deepEqual(told.map(({ event, payload }) => [event, payload.id]), [
      ["question.requested", id],
      ["question.resolved", id],
    ]);
  }
  for (const { client } of [asker, answerer]) client.stop();
});

test("a wrong token is an error that it understands", async () => {
  const failed = Promise.withResolvers();
  const client = new GatewayClient({
    url: gateway.url,
    token: "the wrong one",
    minProtocol: 4,
    maxProtocol: 4,
    clientName: "gateway-client",
    mode: "backend",
    scopes: ["operator.questions"],
    onHelloOk: () => failed.reject(new Error("it was let in")),
    onConnectError: failed.resolve,
  });
  client.start();
  const error = await failed.promise;
  client.stop();
  assert.match(JSON.stringify({ ...error, message: error.message }), /AUTH_TOKEN_MISMATCH|does not know the token/);
});
