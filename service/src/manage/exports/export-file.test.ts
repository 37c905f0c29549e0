import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { openPool } from "../../postgres/pool.ts";
import { brandAs, type Instant } from "../../words/brand.ts";
import { TIME_MAX } from "../../words/timestamp.ts";
import { entryRuns } from "./entry-runs.ts";
import { exportFile } from "./export-file.ts";
import type { Source } from "./source.ts";

/** Passes everything by, without an end. */
async function* passBy(): AsyncGenerator<readonly []> {
  for (;;) {
    yield [];
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("an export that finds nothing ends with its reader", async () => {
  const { database, project } = await setupManage();
  const cell = openPool({ url: database.url, name: "test", sizeMax: 1, onIdleError: () => {} });
  onTestFinished(() => cell.end());
  const source: Source<never> = {
    kind: "grants",
    about: "",
    columns: [],
    readPosition: () => null,
    pages: passBy,
  };
  const reader = new AbortController();
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
      ended: reader.signal,
    },
  );
  const ended = once(content, "close");
  content.on("error", () => {}).resume();
  await new Promise((resolve) => setTimeout(resolve, 50));
  content.destroy();
  reader.abort();
  await ended;
  expect(content.destroyed).toBe(true);
});

test("a file of entries can be ended while it passes customers by", async () => {
  const { cell, project, topUp } = await setupManage();
  await topUp("ada", 1);
  const { environmentId } = project.test;
  const runs = await Array.fromAsync(entryRuns({ cell, environmentId, from: brandAs<Instant>(0) }, null));
  expect(runs.map(({ length }) => length)).toEqual([0, 1]);
});
