// The program under test, and the components that `run` built for it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** The components by the names of their plugins and channels. */
export const COMPONENTS = { matrix: process.env.MATRIX_COMPONENT, ntfy: process.env.NTFY_COMPONENT };

/** Ten minutes: an unoptimised program takes ten milliseconds for an input of the law suite in JavaScript. */
const LIMIT = 600_000;

/** Runs a command to its end; fails where it does not come to one in time. */
export function ran(command, parameters, { cwd = ROOT, env = {} } = {}) {
  const options = { cwd, env: { ...process.env, ...env }, encoding: "utf8", timeout: LIMIT };
  const { status, stdout, stderr, error } = spawnSync(command, parameters, options);
  if (error) throw error;
  return { code: status, stdout, stderr };
}

/** What `ask-user` says and how it ends. */
export function askUser(...parameters) {
  return ran(process.env.ASK_USER_PROGRAM, parameters);
}

/** The JSON of a command of `ask-user` that succeeds. */
export function told(...parameters) {
  const { code, stdout, stderr } = askUser(...parameters, "--json");
  assert.equal(code, 0, `ask-user ${parameters.join(" ")} failed:\n${stdout}${stderr}`);
  return JSON.parse(stdout);
}
