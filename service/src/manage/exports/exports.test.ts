import { connect } from "node:net";
import { expect, test } from "vitest";
import { EXPORTED as KINDS, type Row, read, setupExport, sinceVisit } from "../../../test/exports.ts";
import { connectTo } from "../../../test/harness.ts";
import type { Managed } from "../../../test/manage.ts";

test("each export has the same rows as the corresponding list", async () => {
  const managed = await setupExport();
  const { manage } = managed;
  const listed = async (path: string): Promise<Row[]> =>
    (await manage("GET", `${path}?limit=200`)).body["items"] as Row[];
  const events = await read(managed, "events?format=ndjson");
  // Only the list includes the customer's name.
  const withoutName = ({ customerName: _, ...event }: Row) => event;
  expect(events.map(({ cursor: _, ...event }) => event).reverse()).toEqual(
    (await listed("events")).map(withoutName),
  );

  const ledger = await read(managed, "ledger?format=ndjson");
  const ofAda = ledger.filter(({ customerId }) => customerId === "ada");
  const shared = [
    "sequence",
    "kind",
    "amount",
    "balanceAfter",
    "consumeId",
    "reverses",
    "metadata",
    "feature",
  ];
  const pick = (row: Row) => Object.fromEntries(shared.map((name) => [name, row[name]]));
  expect(ofAda.map(pick).reverse()).toEqual((await listed("customers/ada/ledger")).map(pick));

  const charges = await read(managed, "charges?format=ndjson");
  expect(charges.map(({ customerId, credits }) => [customerId, credits])).toEqual([
    ["ada", 10],
    ["ada", 10],
    ["ada", 10],
    ["bob", 10],
  ]);
  expect(charges[2]).toMatchObject({ idempotencyKey: "undone", reversedQuantity: 1, reversedCredits: 10 });

  const grants = await read(managed, "grants?format=ndjson");
  expect(grants.map(({ customerId, grant, credits }) => [customerId, grant, credits])).toEqual([
    ["ada", 1, 100],
    ["ada", 2, 20],
    ["ada", 3, 20],
    ["bob", 1, 100],
    ["bob", 2, 20],
  ]);
});

test("CSV and NDJSON have the same rows; formulas are escaped and negative numbers stay numbers", async () => {
  const managed = await setupExport();
  for (const kind of KINDS) {
    const csv = await read(managed, `${kind}?format=csv`);
    const json = await read(managed, `${kind}?format=ndjson`);
    expect(csv.map(Object.keys)).toEqual(json.map(Object.keys));
    const sameNumbers = ["amount", "quantity", "credits", "sequence", "grant"];
    for (const name of sameNumbers) {
      const text = json.map((row) => (row[name] === undefined ? undefined : String(row[name] ?? "")));
      expect(csv.map((row) => row[name])).toEqual(text);
    }
  }
  const [visit] = await read(managed, "events?format=csv");
  expect(visit).toMatchObject({ customerId: "'-carol", featureId: "", metadata: "" });
  const [charge] = await read(managed, "charges?format=csv");
  expect(charge?.["idempotencyKey"]).toMatch(/^'=0\./);
});

test("an export resumes after any row without gaps or duplicates, even if rows were written since", async () => {
  const managed = await setupExport();
  for (const kind of KINDS) {
    const whole = await read(managed, `${kind}?format=ndjson`);
    expect(whole.length).toBeGreaterThan(3);
    await managed.record({
      customerId: "ada",
      event: "late",
      quantity: 1,
      timestamp: sinceVisit(3_600_000),
    });
    await managed.consume({ customerId: "ada", feature: "export", idempotencyKey: `later-${kind}` });
    await managed.topUp("ada", 1);
    for (const [index, { cursor }] of whole.entries()) {
      const rest = await read(managed, `${kind}?format=ndjson&cursor=${cursor}`);
      expect(rest, `${kind} after row ${index}`).toEqual(whole.slice(index + 1));
    }
    const [first] = whole;
    const text = (await managed.manage("GET", `exports/${kind}?cursor=${first?.cursor}`)).text;
    expect(text.startsWith("eventId") || text.startsWith("customerId,")).toBe(false);
    expect((await read(managed, `${kind}?format=ndjson`)).length).toBeGreaterThan(whole.length);
  }
});

/** Copies every event, with a time one minute later. */
const COPY = `insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id)
  select e.recorded_at, gen_random_uuid(), e.occurred_at + interval '1 minute', e.customer_number, e.environment_id, 1, 'copy', ''
  from cell.events as e
  where e.event <> 'copy'`;

const eventsIn = (rows: Row[]): unknown[] => rows.map(({ eventId }) => eventId);

test("rows not yet committed when an export starts are included only in later exports", async () => {
  const managed = await setupExport();
  const writer = await connectTo(managed.database);
  await writer.query("begin");
  await writer.query(COPY);
  // Written later but committed before the export starts, so it is included.
  await managed.record({ customerId: "ada", event: "over", quantity: 1 });
  const whole = await read(managed, "events?format=ndjson");
  expect(whole.map(({ event }) => event)).toEqual(["visits", "tokens", "tokens", "tokens", "over"]);
  await writer.query("commit");
  for (const [index, { cursor }] of whole.entries()) {
    const rest = await read(managed, `events?format=ndjson&cursor=${cursor}`);
    expect(eventsIn(rest), `after row ${index}`).toEqual(eventsIn(whole.slice(index + 1)));
  }
  expect(await read(managed, "events?format=ndjson")).toHaveLength(9);
});

test("an event that is retried with its first recording time does not enter a running export", async () => {
  const managed = await setupExport();
  const whole = await read(managed, "events?format=ndjson");
  // Simulates a retry after a commit with an unknown outcome: `recorded_at` is from the first attempt.
  await managed.database.query(COPY);
  for (const [index, { cursor }] of whole.entries()) {
    const rest = await read(managed, `events?format=ndjson&cursor=${cursor}`);
    expect(eventsIn(rest), `after row ${index}`).toEqual(eventsIn(whole.slice(index + 1)));
  }
});

test("an export shows the start of the history window", async () => {
  const managed = await setupExport();
  const start = async () =>
    (await managed.manage("GET", "exports/grants")).headers.get("purser-window-start");
  expect(await start()).toBe("none");
  await managed.database.query("update control.workspace_plans set history_days_max = 1");
  expect(Date.now() - Date.parse(String(await start()))).toBeLessThan(86_400_000 + 60_000);
});

test("`from` and `to` limit an export by the time at which the rows took effect", async () => {
  const managed = await setupExport();
  const visits = await read(managed, `events?format=ndjson&to=${sinceVisit(1)}`);
  expect(visits.map(({ event }) => event)).toEqual(["visits"]);
  for (const kind of KINDS) {
    expect(await read(managed, `${kind}?format=ndjson&from=2030-01-01T00:00:00Z`)).toEqual([]);
    expect(await read(managed, `${kind}?format=ndjson&to=2020-01-01T00:00:00Z`)).toEqual([]);
  }
});

test("an export response is a download with an estimated row count, and is recorded in the audit log", async () => {
  const managed = await setupExport();
  const { manage, database, tokens } = managed;
  await database.query("analyze cell.events");
  const { headers } = await manage("GET", "exports/events", { token: tokens.viewer });
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(headers.get("content-disposition")).toMatch(
    /^attachment; filename="events-test-\d{4}-\d\d-\d\d\.csv"$/,
  );
  expect(Number(headers.get("purser-rows-estimate"))).toBe(4);
  const { body } = await manage("GET", "audit?action=events.exported");
  expect(body["items"]).toMatchObject([
    { action: "events.exported", actor: { kind: "token", name: "The viewer's" }, after: { format: "csv" } },
  ]);
  // A grant number beyond the column's range.
  const forged = Buffer.from('[1,"9-9","none",1,2147483648]').toString("base64url");
  expect((await manage("GET", `exports/grants?cursor=${forged}`)).status).toBe(400);
  for (const query of ["cursor=nonsense", "cursor=WzEsMl0", "cursor=WzEsMiwieCJd", "format=xml"]) {
    expect((await manage("GET", `exports/events?${query}`)).status, query).toBe(400);
  }
  expect((await manage("HEAD", "exports/events")).status).toBe(404);
});

/** Requests an export and stops reading after the first chunk. */
async function askAndStall({
  service,
  here,
  tokens,
}: Managed): Promise<{ hangUp: () => void; isOpen: () => boolean }> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => {});
  socket.write(
    `GET ${here}/exports/events?format=ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.owner}\r\n\r\n`,
  );
  const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  socket.pause();
  expect(first.toString()).toMatch(/^HTTP\/1.1 200 /);
  return { hangUp: () => socket.destroy(), isOpen: () => socket.readyState === "open" };
}

test("at most two exports run at once, a slow reader slows only its own export, and a disconnect lets another start", {
  timeout: 60_000,
}, async () => {
  const managed = await setupExport();
  const { manage, database } = managed;
  await database.query(
    `insert into cell.events (recorded_at, id, occurred_at, customer_number, environment_id, quantity, event, request_id, metadata)
     select e.recorded_at, gen_random_uuid(), e.occurred_at, e.customer_number, e.environment_id, 1, 'many', '',
       jsonb_build_object('text', repeat('x', 1000))
     from cell.events as e
     cross join generate_series(1, 6000) as n`,
  );
  const [one, two] = [await askAndStall(managed), await askAndStall(managed)];
  const ask = async (): Promise<number> => (await manage("GET", "exports/grants")).status;
  await expect.poll(ask, { timeout: 10_000 }).toBe(503);
  // Both exports wait for their readers, so no rows are read. An idle connection may report its earlier reads seconds
  // later.
  const reads = async (): Promise<number> => {
    const [row] = await database.query("select sum(idx_tup_read)::integer as n from pg_stat_user_indexes");
    return Number(row?.["n"]);
  };
  const readsMeanwhile = async (): Promise<number> => {
    const before = await reads();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return (await reads()) - before;
  };
  await expect.poll(readsMeanwhile, { timeout: 30_000 }).toBeLessThan(2_000);
  one.hangUp();
  await expect.poll(ask, { timeout: 10_000 }).toBe(200);
  // The second export ends when the service stops, because the service does not wait for resumable work.
  expect(two.isOpen()).toBe(true);
});

test("a disconnect before the first byte also lets another export start", { timeout: 30_000 }, async () => {
  const managed = await setupExport();
  const { service, here, tokens, manage } = managed;
  const writer = await connectTo(managed.database);
  await writer.query("begin");
  await writer.query("lock table cell.audit in access exclusive mode");
  const hangUp = new AbortController();
  const asked = [1, 2].map(() =>
    fetch(`${service.url}${here}/exports/events`, {
      headers: { authorization: `Bearer ${tokens.owner}` },
      signal: hangUp.signal,
    }).catch(() => null),
  );
  const ask = async (): Promise<number> => (await manage("GET", "exports/grants")).status;
  await expect
    .poll(() => managed.database.count("pg_locks", "relation = 'cell.audit'::regclass and not granted"))
    .toBe(2);
  hangUp.abort();
  await writer.query("rollback");
  expect(await Promise.all(asked)).toEqual([null, null]);
  await expect.poll(ask, { timeout: 5_000 }).toBe(200);
  expect(await Promise.all([ask(), ask()])).toEqual([200, 200]);
});
