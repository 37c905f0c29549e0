import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { type Managed, setupManage } from "./manage.ts";

export type Row = Record<string, unknown> & { cursor: string };

export const EXPORTED = ["events", "charges", "ledger", "grants"] as const;

/** Reads the rows of an export in NDJSON or CSV. */
export async function read({ manage }: Managed, path: string): Promise<Row[]> {
  const { status, text } = await manage("GET", `exports/${path}`);
  expect([status, text]).toEqual([200, text]);
  if (path.includes("csv")) return parse(text, { columns: true });
  return text === ""
    ? []
    : text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
}

const VISITED_MS = Date.now() - 14 * 24 * 3_600_000;

/** A time relative to the oldest event of `setupExport`. */
export function sinceVisit(ms: number): string {
  return new Date(VISITED_MS + ms).toISOString();
}

/** Creates events, charges, top-ups and a reversal for three customers. */
export async function setupExport(): Promise<Managed> {
  const managed = await setupManage();
  const { consume, record, topUp, assign, manage } = managed;
  await assign("bob");
  for (const customerId of ["ada", "bob", "ada"]) {
    await record({ customerId, event: "tokens", quantity: 3, metadata: { model: "=cmd()" } });
    const ask = { customerId, feature: "image.render", metadata: { job: 7 } };
    await consume({ ...ask, idempotencyKey: `=${Math.random()}` });
    await topUp(customerId, 20);
  }
  await record({ customerId: "-carol", event: "visits", quantity: 1, timestamp: sinceVisit(0) });
  const { body } = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "undone" });
  await manage("POST", `customers/ada/consumes/${body["consumeId"]}/reverse`, { body: {} });
  return managed;
}
