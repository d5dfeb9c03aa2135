// Runs the example against the real binary, over both doors.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { call, connect } from "./client.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "sb-"));
const socket = join(folder, "door.sock");
const doors = {};
let server;

before(async () => {
  const binary = process.env.SIGNALBOX_BIN;
  assert.ok(binary, "SIGNALBOX_BIN names no binary");
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith("SIGNALBOX_"));
  server = spawn(
    binary,
    ["serve", "--listen", "127.0.0.1:0", "--uds", socket, "--model", "none"].concat([
      "--catalog",
      join(here, "../../catalogs/starter"),
    ]),
    {
      env: { ...Object.fromEntries(clean), SIGNALBOX_ADMIN__LISTEN: "" },
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  for await (const line of createInterface({ input: server.stdout })) {
    const listening = line.match(/^listening on (127\.0\.0\.1:\d+)$/);
    if (listening) doors.tcp = listening[1];
    if (line.startsWith("ready")) break;
  }
  doors.unix = `unix:${socket}`;
});

after(async () => {
  server.kill("SIGTERM");
  const [code] = await once(server, "exit");
  rmSync(folder, { recursive: true });
  assert.equal(code, 0);
});

for (const door of ["tcp", "unix"]) {
  test(`the example runs over ${door}`, async () => {
    const { stdout } = await promisify(execFile)("node", ["example.js"], {
      cwd: here,
      env: { ...process.env, SIGNALBOX_TARGET: doors[door] },
    });
    assert.match(stdout, /git-branch/);
    assert.match(stdout, /sees run_command\n/);
    assert.match(stdout, /ended: TERMINATION_REASON_STUCK/);
    assert.match(stdout, /\d+ terminated\n$/);
  });

  test(`a mistake is an error with its code over ${door}`, async () => {
    const signalbox = connect(doors[door]);
    await assert.rejects(call(signalbox.route, "Route", { prompt: "" }), (error) => {
      assert.equal(error.code, 3);
      assert.match(error.details, /prompt/);
      return true;
    });
    signalbox.close();
  });
}
