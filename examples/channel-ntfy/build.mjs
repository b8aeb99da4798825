// Makes dist/channel.wasm of src/channel.js: a component on QuickJS that imports nothing.
// node build.mjs [WIT], where WIT is the folder with the contract.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { resolve } from "node:path";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const wit = resolve(process.argv[2] ?? here("../../wit"));

mkdirSync(here("dist"), { recursive: true });
const parameters = ["componentize", "channel.js", "--wit", wit, "--world-name", "channel-plugin"];
// Without these two the component would import WASI, or need a host with the asynchronous component model.
parameters.push("--backend", "quickjs", "--backend-qjs-stub-wasi", "--backend-qjs-disable-async");
parameters.push("--out", here("dist/channel.wasm"));
// jco wants an absolute path of the contract, and modules that import each other relative to where it runs.
execFileSync(here("node_modules/.bin/jco"), parameters, { cwd: here("src"), stdio: "inherit" });
