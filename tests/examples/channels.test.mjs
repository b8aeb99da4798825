// Channels of other authors: both obey every law, and run in one process with the built-in ones.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { askUser, COMPONENTS, ran, ROOT, told } from "./lib/program.mjs";

/** How hard the suite tries: as by default. */
const INPUTS = 10_000;

let temporary;
let plugins;
before(() => {
  temporary = mkdtempSync(join(tmpdir(), "ask-user-examples-"));
  plugins = join(temporary, "plugins");
});
after(() => rmSync(temporary, { recursive: true, force: true }));

for (const [name, component] of Object.entries(COMPONENTS)) {
  test(`${name} imports nothing and would load`, () => {
    const { imports, contract, channels, world, loads, refusal } = told("plugin", "inspect", component);
    assert.deepEqual(
      { imports, contract, channels, world, loads, refusal },
      {
        imports: [],
        contract: "ask-user:plugin@0.1.0",
        channels: [name],
        world: "channel-plugin",
        loads: true,
        refusal: null,
      },
    );
  });

  test(`${name} obeys every law`, () => {
    const { holds, laws } = told("plugin", "check", component, "--inputs", `${INPUTS}`);
    assert.equal(holds, true);
    assert.equal(laws.length, 12);
    const inputs = laws.reduce((sum, law) => sum + law.inputs, 0);
    assert.ok(inputs >= INPUTS, `only ${inputs} inputs were tried`);
  });
}

test("both are added to one folder, run beside the built-in channels, and are removed", () => {
  for (const [name, component] of Object.entries(COMPONENTS)) {
    const added = told("plugin", "add", component, "--name", name, "--plugins", plugins);
    assert.deepEqual(added, { name, channels: [name], replaces: [], loads: true, refusal: null });
  }
  const listed = told("plugin", "list", "--plugins", plugins);
  assert.deepEqual([listed.loads, listed.refusal], [true, null]);
  assert.deepEqual(listed.plugins.map((plugin) => [plugin.name, plugin.loads]), [["matrix", true], ["ntfy", true]]);

  // Each of these loads all three components, whichever of them it calls.
  const taps = ["--callback-url", "https://host.example/taps", "--requester", "ada"];
  assert.deepEqual(rendered("telegram"), {
    methods: ["sendMessage"],
    does: ["choice", "choice", "other", "skip"],
    tokensInTheLastCall: true,
  });
  const sent = "PUT /_matrix/client/v3/rooms/!abc:example.org/send";
  assert.deepEqual(rendered("matrix"), {
    methods: [
      `${sent}/m.room.message/ask_0123456789abcdef0123456789abcdef.0.!abc:example.org`,
      `${sent}/org.matrix.msc3381.poll.start/ask_0123456789abcdef0123456789abcdef.1.!abc:example.org`,
    ],
    does: ["choice", "choice", "skip"],
    tokensInTheLastCall: true,
  });
  assert.deepEqual(rendered("ntfy", ...taps), {
    methods: ["POST /"],
    does: ["choice", "choice", "skip"],
    tokensInTheLastCall: true,
  });
  // Without an address for taps there are no buttons.
  assert.deepEqual(rendered("ntfy").does, []);
  const ended = shown("ntfy", "--settled", "answered", "--message", "xE73Iyuabi").calls;
  const ends = ended.map(({ body }) => [body.sequence_id, body.title]);
  assert.deepEqual(ends, [["xE73Iyuabi", "Deploy · Answered: Staging (Recommended)"]]);

  for (const name of Object.keys(COMPONENTS)) {
    assert.equal(askUser("plugin", "remove", name, "--plugins", plugins).stdout, `Removed ${name}.\n`);
    const gone = askUser("render", "--channel", name, "--plugins", plugins, "examples/deploy-target.json");
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, new RegExp(`no channel "${name}" here`));
  }
  assert.deepEqual(told("plugin", "list", "--plugins", plugins).plugins, []);
});

/** What a channel of the folder would send. */
function shown(channel, ...more) {
  return told("render", "--channel", channel, "--plugins", plugins, "examples/deploy-target.json", ...more);
}

/** The essence of it. */
function rendered(channel, ...more) {
  const { calls, bindings } = shown(channel, ...more);
  const last = JSON.stringify(calls.at(-1).body);
  return {
    methods: calls.map(({ method }) => method),
    does: bindings.map(({ does }) => does),
    tokensInTheLastCall: bindings.every(({ token }) => last.includes(token)),
  };
}

test("a mistake of an author is found, by the law that it breaks", () => {
  const broken = brokenCopy("sender: tap.sender,", 'sender: "somebody",');
  const { code, stdout } = askUser("plugin", "check", broken, "--inputs", "600", "--json");
  const { holds, laws } = JSON.parse(stdout);
  assert.deepEqual([code, holds], [1, false]);
  const found = laws.filter((law) => !law.holds);
  assert.deepEqual(found.map(({ law }) => law), ["takes every tap back as its choice"]);
  assert.equal(found[0].why, '42 tapped, and the sender is "somebody"');
});

/** The component of a copy of channel-ntfy in which one piece of its source is another. */
function brokenCopy(right, wrong) {
  const original = join(ROOT, "examples/channel-ntfy");
  const copy = join(temporary, "broken-ntfy");
  for (const part of ["src", "build.mjs", "package.json"]) {
    cpSync(join(original, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(original, "node_modules"), join(copy, "node_modules"));
  const path = join(copy, "src/channel.js");
  const [before, after, ...others] = readFileSync(path, "utf8").split(right);
  assert.ok(after !== undefined && others.length === 0, `${right} is not in the source, once`);
  writeFileSync(path, before + wrong + after);
  const { code, stderr } = ran(process.execPath, ["build.mjs", join(ROOT, "wit")], { cwd: copy });
  assert.equal(code, 0, stderr);
  return join(copy, "dist/channel.wasm");
}
