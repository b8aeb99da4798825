// docs/writing-a-channel.md is true: what it quotes stands in the files it names, and its commands say what it shows.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { COMPONENTS, ran, ROOT, told } from "./lib/program.mjs";

const GUIDE = readFileSync(join(ROOT, "docs/writing-a-channel.md"), "utf8");

let desk;
// Where the guide's commands are run: with both components and the examples at hand.
before(() => {
  desk = mkdtempSync(join(tmpdir(), "ask-user-guide-"));
  symlinkSync(join(ROOT, "examples"), join(desk, "examples"));
  for (const [name, component] of Object.entries(COMPONENTS)) cpSync(component, join(desk, `${name}.wasm`));
});
after(() => rmSync(desk, { recursive: true, force: true }));

/** The fenced blocks: their language, the line above, and their text without the indentation of the block. */
function blocks() {
  const found = GUIDE.matchAll(/^(.*)\n( *)```(\w+)\n([^]*?)^ *```$/gm);
  return [...found].map(([, above, indent, language, text]) => ({
    language,
    above: above.trim(),
    text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }));
}

function blocksOf(language) {
  const found = blocks().filter((block) => block.language === language);
  assert.ok(found.length > 0, `the guide has no block of ${language}`);
  return found.map(({ text }) => text);
}

/** The cells of the table with this first heading. */
function table(heading) {
  const lines = GUIDE.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`| ${heading} |`));
  assert.ok(start >= 0, `the guide has no table of ${heading}`);
  const rows = lines.slice(start + 2);
  return rows.slice(0, rows.findIndex((line) => !line.startsWith("|"))).map((row) => row.split(" | "));
}

function bash(command, cwd) {
  const line = `ask-user() { "$ASK_USER_PROGRAM" "$@"; }\n${command} 2>&1`;
  return ran("bash", ["-c", line], { cwd, env: { ASK_USER_PLUGINS: "plugins" } });
}

test("every excerpt stands in the file that it is from", () => {
  assert.equal(blocks().length, GUIDE.match(/```\w/g).length, "a block was not found");
  const excerpts = blocks().filter(({ language }) => !["console", "sh", "toml"].includes(language));
  assert.ok(excerpts.length >= 5);
  for (const { above, text } of excerpts) {
    const path = above.match(/^From `(.+)`:$/)?.[1];
    assert.ok(path, `this block does not say where it is from:\n${text}`);
    assert.ok(readFileSync(join(ROOT, path), "utf8").includes(text), `this is not in ${path}:\n${text}`);
  }
});

test("every command prints what is shown below it", () => {
  for (const block of blocksOf("console")) {
    for (const shown of block.split(/^\$ /m).slice(1)) {
      const [command, ...output] = shown.split("\n");
      assert.equal(bash(command, desk).stdout, output.join("\n"), command);
      if (command.startsWith("ask-user plugin add matrix")) sameManifest(join(desk, "plugins/matrix/plugin.toml"));
    }
  }
});

/** The guide's `plugin.toml`, but for its comments and the digest, is what was written. */
function sameManifest(path) {
  const plain = (text) => text.replaceAll(/ #.*$/gm, "").replaceAll(/^\n/gm, "").replace(/sha256 = ".*"/, "sha256");
  assert.equal(plain(blocksOf("toml")[0]), plain(readFileSync(path, "utf8")));
}

test("the laws are those of the suite, in its order and words", () => {
  const { laws } = told("plugin", "check", COMPONENTS.matrix, "--inputs", "1");
  const named = table("law").map(([law]) => law.replace("| ", ""));
  assert.deepEqual(named, laws.map(({ law }) => law));
});

test("choices have the marks that the guide says they have", () => {
  for (const row of table("labels")) {
    const [labels, marks] = row.map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text));
    const options = labels.map((label) => ({ label }));
    const questions = [{ id: "marks", header: "Marks", question: "Which?", options }];
    const { stdout } = ran("bash", ["-c", `"$ASK_USER_PROGRAM" render --json - <<<"$ARGUMENTS"`], {
      env: { ARGUMENTS: JSON.stringify({ questions }) },
    });
    const lines = JSON.parse(stdout).calls[0].text.split("\n");
    for (const [index, label] of labels.entries()) {
      assert.ok(lines.includes(`${marks[index]} ${label}`), `${marks[index]} ${label} is not in ${lines}`);
    }
  }
});

test("the lighter command for JavaScript makes a component that loads", () => {
  const command = blocksOf("sh").find((text) => text.includes("componentize-qjs"));
  const component = join(desk, "light.wasm");
  const folder = join(ROOT, "examples/channel-ntfy");
  const { code, stdout } = bash(command.replace("dist/channel.wasm\n", component), folder);
  assert.equal(code, 0, stdout);
  const { imports, channels, loads, size } = told("plugin", "inspect", component);
  assert.deepEqual({ imports, channels, loads }, { imports: [], channels: ["ntfy"], loads: true });
  assert.ok(size < told("plugin", "inspect", COMPONENTS.ntfy).size);
});
