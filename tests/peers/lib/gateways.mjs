// Gateways as programs of their own: ours, and the real OpenClaw's.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";

export const TOKEN = "a token that nobody guesses";

// A folder that is there for as long as a test needs it.
export function folder() {
  const path = mkdtempSync(join(tmpdir(), "ask-user-peers-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

// An environment in which OpenClaw finds nothing of the person who runs this.
export function openclawEnvironment(home) {
  const { PATH } = process.env;
  return {
    PATH,
    HOME: home,
    OPENCLAW_STATE_DIR: join(home, "state"),
    OPENCLAW_CONFIG_PATH: join(home, "openclaw.json"),
    OPENCLAW_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
  };
}

// Ours, with the profile that is asked for.
export async function startOurs({ compatibility = "better", agent = "main" } = {}) {
  const { path, remove } = folder();
  const config = join(path, "ask-user.toml");
  writeFileSync(
    config,
    `compatibility = "${compatibility}"\ndefault-agent = "${agent}"\nagents = ["${agent}"]\n` +
      `[[token]]\ntoken = "${TOKEN}"\nsubject = "operator"\nscopes = ["operator.admin"]\n`,
  );
  const args = ["serve", "--listen", "127.0.0.1:0", "--config", config];
  const child = spawn(process.env.ASK_USER_PROGRAM, args, { stdio: ["ignore", "ignore", "pipe"] });
  const listening = await line(child, child.stderr, /listening on (ws:\S+)/);
  return { url: listening[1], stop: () => stop(child, "SIGTERM").then(remove) };
}

// The real one, with one agent and nothing that reaches out.
export async function startOpenClaw({ agent = "main" } = {}) {
  const { path, remove } = folder();
  const port = await freePort();
  const config = {
    agents: {
      defaults: { workspace: join(path, "workspace"), skipBootstrap: true },
      list: [{ id: agent, default: true }],
    },
    gateway: { mode: "local", bind: "loopback", port, auth: { mode: "token", token: TOKEN } },
  };
  const environment = openclawEnvironment(path);
  writeFileSync(environment.OPENCLAW_CONFIG_PATH, JSON.stringify(config));
  const child = spawn("openclaw", ["gateway", "run", "--port", String(port)], {
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
  const url = `ws://127.0.0.1:${port}`;
  for (let tries = 0; ; tries++) {
    if (await listens(port)) break;
    if (child.exitCode !== null || tries > 600) throw new Error(`OpenClaw did not start:\n${Buffer.concat(said)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  // It drains for minutes when asked to end; there is nothing here to drain.
  const kill = async () => {
    process.kill(-child.pid, "SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    remove();
  };
  return { url, stop: kill };
}

function line(child, stream, pattern) {
  let text = "";
  return new Promise((resolve, reject) => {
    stream.on("data", (chunk) => {
      text += chunk;
      const found = pattern.exec(text);
      if (found) resolve(found);
    });
    child.on("exit", () => reject(new Error(`it ended without ${pattern}:\n${text}`)));
  });
}

async function stop(child, signal) {
  if (child.exitCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

async function listens(port) {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
    return answer.ok;
  } catch {
    return false;
  }
}
