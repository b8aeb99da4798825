// A host in Node that offers the tool ask_user: node examples/node-host/host.mjs [ask-user]
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const child = spawn(process.argv[2] ?? "ask-user", ["serve", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const calls = new Map();
let asked;
const question = new Promise((resolve) => (asked = resolve));

createInterface({ input: child.stdout }).on("line", (line) => {
  const frame = JSON.parse(line);
  if (frame.event === "question.requested") asked(frame.payload);
  const call = frame.type === "res" && calls.get(frame.id);
  if (call) frame.ok ? call.resolve(frame.payload) : call.reject(new Error(frame.error.message));
});

function call(method, params) {
  const id = String(calls.size + 1);
  child.stdin.write(JSON.stringify({ type: "req", id, method, params }) + "\n");
  return new Promise((resolve, reject) => calls.set(id, { resolve, reject }));
}

const client = { id: "gateway-client", version: "1.0.0", platform: process.platform, mode: "backend" };
const scopes = ["operator.questions", "ask-user.name-answerer"];
await call("connect", { minProtocol: 4, maxProtocol: 4, client, role: "operator", scopes });

const { tool } = await call("askUser.tool", { sessionKey: "main" });
console.log(`The model is offered ${tool.name}.`);

const options = [{ label: "Staging (Recommended)" }, { label: "Production" }];
const args = { questions: [{ id: "target", header: "Deploy", question: "Where should this go?", options }] };
const chat = { sessionKey: "main", conversation: "telegram:42" };
const result = call("askUser.ask", { ...chat, requester: "ada", runId: "run-1", toolCallId: "call-1", arguments: args });
console.log(`Ada is asked: ${(await question).questions[0].question}`);

const { outcome } = await call("askUser.reply", { ...chat, sender: "ada", text: "2" });
console.log(`Her "2" is taken as: ${outcome}.`);
console.log(`The model gets: ${JSON.stringify((await result).result)}`);
child.stdin.end();
