// The real program `openclaw gateway call`, unchanged, against our gateway.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { folder, openclawEnvironment, startOurs, TOKEN } from "./lib/gateways.mjs";

const run = promisify(execFile);
let gateway, home;
before(async () => {
  gateway = await startOurs();
  home = folder();
});
after(async () => {
  await gateway.stop();
  home.remove();
});

async function call(method, params = {}) {
  const args = ["gateway", "call", method, "--json", "--params", JSON.stringify(params)];
  const where = ["--url", gateway.url, "--token", TOKEN];
  const { stdout } = await run("openclaw", [...args, ...where], { env: openclawEnvironment(home.path) });
  return JSON.parse(stdout.slice(stdout.indexOf("{")));
}

test("a question is asked, listed, answered and read again", async () => {
  const options = [{ label: "Staging" }, { label: "Production" }];
  const questions = [{ questionId: "target", header: "Deploy", question: "Where to?", options }];
  assert.deepEqual(await call("question.list"), { questions: [] });
  assert.equal((await call("question.request", { id: "one", questions })).id, "one");
  const { questions: listed } = await call("question.list");
  assert.deepEqual(listed.map(({ id, status }) => [id, status]), [["one", "pending"]]);
  assert.deepEqual(await call("question.waitAnswer", { id: "one", timeoutMs: 1 }), { status: "pending" });
  const answers = { answers: { target: ["Production"] } };
  assert.deepEqual(await call("question.resolve", { id: "one", answers }), { status: "answered", answers });
  assert.deepEqual(await call("question.waitAnswer", { id: "one" }), { status: "answered", answers });
  assert.equal((await call("question.get", { id: "one" })).question.status, "answered");
});

test("a refusal is an error of the program", async () => {
  await assert.rejects(call("question.get", { id: "none" }), (error) => {
    assert.equal(error.code, 1);
    assert.match(error.stderr + error.stdout, /there is no question/);
    return true;
  });
});
