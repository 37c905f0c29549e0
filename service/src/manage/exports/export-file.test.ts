import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { openTestPool } from "../../../test/seed.ts";
import { brandAs, type Instant } from "../../primitives/brand.ts";
import { TIME_MAX } from "../../primitives/timestamp.ts";
import { entryRuns } from "./entry-sources.ts";
import { type Ends, exportFile } from "./export-file.ts";
import type { Source } from "./source.ts";

/** Yields empty pages without end. */
async function* passBy(): AsyncGenerator<readonly []> {
  for (;;) {
    yield [];
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function startExport(ends: Partial<Ends>) {
  const { database, project } = await setupManage();
  const cell = openTestPool(database.url);
  onTestFinished(() => cell.end());
  const source: Source<never> = {
    kind: "grants",
    about: "",
    columns: [],
    readPosition: () => null,
    pages: passBy,
  };
  const { content } = await exportFile(
    cell,
    {
      projectId: project.projectId,
      environmentId: project.test.environmentId,
      actor: { kind: "system", id: null, requestId: null },
    },
    source,
    {
      format: "ndjson",
      from: brandAs<Instant>(0),
      to: brandAs<Instant>(TIME_MAX),
      windowStart: null,
      about: "",
      resume: null,
      ended: new AbortController().signal,
      admitAgain: async () => {},
      ...ends,
    },
  );
  return content;
}

test("an export without rows ends when its reader disconnects", async () => {
  const reader = new AbortController();
  const content = await startExport({ ended: reader.signal });
  const ended = once(content, "close");
  content.on("error", () => {}).resume();
  await new Promise((resolve) => setTimeout(resolve, 50));
  content.destroy();
  reader.abort();
  await ended;
  expect(content.destroyed).toBe(true);
});

test("an export ends when its reader loses access", async () => {
  let pages = 0;
  const admitAgain = async (): Promise<void> => {
    pages += 1;
    if (pages === 3) throw new Error("your token was revoked");
  };
  const content = await startExport({ admitAgain });
  await expect(content.toArray()).rejects.toThrow("your token was revoked");
});

test("an export of ledger entries can be stopped while it skips customers", async () => {
  const { cell, project, topUp } = await setupManage();
  await topUp("ada", 1);
  const { environmentId } = project.test;
  const runs = await Array.fromAsync(entryRuns({ cell, environmentId, from: brandAs<Instant>(0) }, null));
  expect(runs.map(({ length }) => length)).toEqual([0, 1]);
});
