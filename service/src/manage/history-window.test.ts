import { expect, test } from "vitest";
import { ageHistory } from "../../test/age-history.ts";
import { prepareOnce } from "../../test/harness.ts";
import { type Facts, HISTORY_LINES, type Look } from "../../test/history-lines.ts";
import { type Managed, setupManage, setupManageOn } from "../../test/manage.ts";
import { lastMonths } from "../../test/months.ts";
import { openTestPool } from "../../test/seed.ts";
import { DAY_MS } from "../../test/wind-back.ts";
import { ProxyWatch } from "../edge/proxy-watch.ts";
import { brandAs, type Instant } from "../primitives/brand.ts";
import { parsePublicId, publicId } from "../primitives/public-id.ts";
import { manageOperations } from "./operations.ts";
import { FailedLogIns } from "./people/failed-log-ins.ts";
import { LiveSessions } from "./people/live-sessions.ts";

const NOWHERE = openTestPool("postgres://localhost:1/none");

/** Operations that never write. */
const READS = manageOperations({
  version: "0",
  publicUrl: null,
  startedAt: brandAs<Instant>(0),
  idempotencyDays: null,
  control: NOWHERE,
  proxies: new ProxyWatch([], () => {}),
  failedLogIns: new FailedLogIns(NOWHERE),
  sessions: new LiveSessions(NOWHERE, 3_600),
  signOn: null,
  cellOf: () => NOWHERE,
  cellNamed: () => NOWHERE,
  stopping: new AbortController().signal,
  webhooks: { allowPrivate: false },
  sandboxRequest: async () => ({ status: 200, isReplay: false, text: "{}" }),
}).filter(({ method, path }) => method === "GET" || /\/(preview|diff)$/.test(path));

test("every read operation declares how it applies the history window", () => {
  expect(Object.keys(HISTORY_LINES).sort()).toEqual(READS.map(({ id }) => id).sort());
});

/** Makes a charge, a denial, and an event that occurred at the given time. */
async function live(managed: Managed, name: string, timestamp?: string): Promise<Facts> {
  const { consume, record, manage } = managed;
  const customer = "ada";
  const feature = "image.render";
  const ask = { customerId: customer, feature };
  const keys = { chargeKey: `${name}-charge`, denialKey: `${name}-denial`, eventKey: `${name}-event` };
  const charge = await consume({ ...ask, idempotencyKey: keys.chargeKey });
  await consume({ ...ask, quantity: 1_000, idempotencyKey: keys.denialKey });
  const event = `${name}.visit`;
  const sent = { customerId: customer, event, quantity: 1, idempotencyKey: keys.eventKey };
  const recorded = await record(timestamp === undefined ? sent : { ...sent, timestamp });
  const { denialId } = (await manage("GET", `keys/${keys.denialKey}`)).body["denial"] as { denialId: string };
  const consumeId = String(charge.body["consumeId"]);
  const eventId = String(recorded.body["eventId"]);
  await expect
    .poll(async () => (await manage("GET", "requests")).text, { timeout: 10_000 })
    .toMatch(new RegExp(`${event}"`));
  return { customer, feature, ...keys, consumeId, denialId, event, eventId };
}

/** Moves all history back by `ms`, and returns the facts with their new IDs. */
async function ageFacts({ database }: Managed, facts: Facts, ms: number): Promise<Facts> {
  await ageHistory(database, ms);
  const rename = (prefix: "con" | "den" | "evt", text: string): string => {
    const id = Buffer.from(parsePublicId(prefix, text) ?? []);
    id.writeUIntBE(id.readUIntBE(0, 6) - ms, 0, 6);
    return publicId(prefix, id);
  };
  return {
    ...facts,
    consumeId: rename("con", facts.consumeId),
    denialId: rename("den", facts.denialId),
    eventId: rename("evt", facts.eventId),
  };
}

const prepareWindow = prepareOnce(async () => {
  const managed = await setupManage();
  const outside = await ageFacts(managed, await live(managed, "outside"), DAY_MS + 1_000);
  const inside = await live(managed, "inside");
  const timestamp = new Date(Date.now() - DAY_MS - 1_000).toISOString();
  const late = await live(managed, "late", timestamp);
  await setWindow(managed, 1);
  await managed.service.stop();
  return { database: managed.database, facts: { outside, inside, late } };
});

/** Sets up a history window of one day, rows before and within it, and an event recorded within it that occurred before it. */
async function setupWindow(): Promise<Managed & { outside: Facts; inside: Facts; late: Facts }> {
  const { template, facts } = await prepareWindow();
  return { ...(await setupManageOn(template)), ...facts };
}

async function setWindow({ manage }: Managed, historyDaysMax: number | null): Promise<void> {
  const reply = await manage("PATCH", "/manage/v1/workspace", { body: { limits: { historyDaysMax } } });
  expect(reply.status).toBe(200);
}

function looksFor(facts: Facts): (Look & { readonly id: string })[] {
  return Object.entries(HISTORY_LINES).flatMap(([id, line]) =>
    typeof line === "string" ? [] : line(facts).map((look) => ({ id, ...look })),
  );
}

/** Runs all lookups. Returns one line per lookup: `operation path: words found`. */
async function lookFor({ manage }: Managed, facts: Facts): Promise<string[]> {
  const found: string[] = [];
  for (const { id, path, says } of looksFor(facts)) {
    const { status, text } = await manage("GET", path);
    expect(status, `${id} ${path}: ${text}`).toBeLessThan(405);
    found.push(`${id} ${path}: ${says.filter((word) => status === 200 && text.includes(word))}`);
  }
  return found;
}

const all = (facts: Facts): string[] => looksFor(facts).map(({ id, path, says }) => `${id} ${path}: ${says}`);
const none = (facts: Facts): string[] => looksFor(facts).map(({ id, path }) => `${id} ${path}: `);

test("rows from one second before the history window are hidden everywhere, and a longer window shows them", {
  timeout: 120_000,
}, async () => {
  const managed = await setupWindow();
  const { outside, inside } = managed;
  expect(await lookFor(managed, outside)).toEqual(none(outside));
  expect(await lookFor(managed, inside)).toEqual(all(inside));
  const explained = await managed.manage("GET", `denials/${inside.denialId}`);
  expect(explained.text).not.toContain(outside.consumeId);
  await setWindow(managed, 2);
  expect(await lookFor(managed, outside)).toEqual(all(outside));
  await setWindow(managed, null);
  expect(await lookFor(managed, outside)).toEqual(all(outside));
});

test("the history window hides events by the time they occurred, not the time they were recorded", async () => {
  const managed = await setupWindow();
  const { manage, late } = managed;
  const looks = [
    ["events", late.eventId],
    [`events/${late.eventId}`, late.eventId],
    ["customers/ada/events", late.eventId],
    ["exports/events", late.eventId],
    ["event-keys", late.event],
    ["requests", late.event],
    ["requests?customerId=ada", late.event],
    ["requests/summary?hours=168", late.event],
    ["customers/ada/requests", late.event],
    [`keys/${late.eventKey}`, late.event],
    [`keys/${late.eventKey}`, late.eventId],
    [`/manage/v1/search?q=${late.eventId}`, late.eventId],
    [`/manage/v1/search?q=${late.eventKey}`, late.eventKey],
  ] as const;
  const look = () =>
    Promise.all(looks.map(async ([path, word]) => (await manage("GET", path)).text.includes(word)));
  expect(await look()).toEqual(looks.map(() => false));
  await setWindow(managed, null);
  expect(await look()).toEqual(looks.map(() => true));
});

test("the history window hides an event's key by the time the event occurred, even after a retried write", async () => {
  const managed = await setupWindow();
  const { manage, database, late, inside } = managed;
  // Simulates a retry after a commit with an unknown outcome: the event keeps the time of the first attempt.
  await database.query("set session_replication_role = replica");
  await database.query("update cell.keyed_requests set recorded_at = recorded_at + interval '1 second'");
  await database.query("set session_replication_role = origin");
  const isFound = async ({ eventKey }: Facts): Promise<boolean> =>
    (await manage("GET", `/manage/v1/search?q=${eventKey}`)).text.includes(eventKey);
  expect([await isFound(late), await isFound(inside)]).toEqual([false, true]);
  await setWindow(managed, null);
  expect(await isFound(late)).toBe(true);
  // The time of an event in a detached month is unknown.
  const [month = ""] = lastMonths(1);
  await database.query(`alter table cell.events detach partition cell.events_${month.replace("-", "_")}`);
  const isTold = async ({ eventKey, eventId }: Facts): Promise<boolean> =>
    (await manage("GET", `keys/${eventKey}`)).text.includes(eventId);
  expect(await isTold(late)).toBe(true);
  await setWindow(managed, 1);
  expect(await isTold(late)).toBe(false);
});

test("every list that the window limits shows where the window starts", async () => {
  const managed = await setupManage();
  await managed.topUp("ada", 1);
  const month = new Date().toISOString().slice(0, 7);
  const paths = [
    "events",
    "event-keys",
    "requests",
    "requests/summary",
    `months/${month}`,
    ...["events", "ledger", "proof", "grants", "denials", "requests"].map((list) => `customers/ada/${list}`),
  ];
  const starts = () =>
    Promise.all(paths.map(async (path) => (await managed.manage("GET", path)).body["windowStart"]));
  expect(await starts()).toEqual(paths.map(() => null));
  await setWindow(managed, 1);
  for (const start of await starts()) {
    expect(Math.abs(Date.now() - DAY_MS - Date.parse(String(start)))).toBeLessThan(60_000);
  }
});

type Line = { sequence: number; kind: string; amount: number; reverses: string | null };

/** Reads the ledger in pages of two entries. */
async function readLedger({ manage }: Managed) {
  const entries: Line[] = [];
  const pages: { amount: number }[][] = [];
  for (let cursor = ""; ; ) {
    const { body } = await manage("GET", `customers/ada/ledger?limit=2${cursor}`);
    entries.push(...(body["items"] as Line[]));
    pages.push(body["broughtForward"] as { amount: number }[]);
    if (body["nextCursor"] === null) return { entries, pages };
    cursor = `&cursor=${body["nextCursor"]}`;
  }
}

test("ledger entries before the window are combined into one amount per pool, so that totals match", async () => {
  const managed = await setupWindow();
  const { manage, outside, topUp } = managed;
  await manage("POST", `customers/ada/consumes/${outside.consumeId}/reverse`, { body: {} });
  await topUp("ada", 5);
  // Before the window: 100 granted and 10 charged. Within the window: 10 charged twice, 10 reversed and 5 added.
  const { entries, pages } = await readLedger(managed);
  expect(entries.map(({ amount }) => amount)).toEqual([5, 10, -10, -10]);
  expect(pages).toEqual([[], [expect.objectContaining({ pool: "credits", amount: 90 })]]);
  expect(entries[1]).toMatchObject({ kind: "reverse", reverses: null });
  const { body } = await manage("GET", "customers/ada");
  expect(body["balances"]).toEqual([{ pool: "credits", balance: 85, held: 0, overage: null }]);
  await setWindow(managed, null);
  const whole = await readLedger(managed);
  expect(whole.entries.map(({ amount }) => amount)).toEqual([5, 10, -10, -10, -10, 100]);
  expect(whole.entries[1]).toMatchObject({ reverses: outside.consumeId });
  expect(whole.pages.flat()).toEqual([]);
});

test("a wallet proof checks the whole ledger but counts only entries in the window", async () => {
  const managed = await setupWindow();
  const read = async () => (await managed.manage("GET", "customers/ada/proof")).body;
  expect(await read()).toMatchObject({ isSound: true, entries: 2, pools: [{ ledgerSum: 70, balance: 70 }] });
  await setWindow(managed, null);
  expect(await read()).toMatchObject({ isSound: true, entries: 4, windowStart: null });
});

test("a charge from before the window can be previewed and reversed", async () => {
  const managed = await setupWindow();
  const { manage, outside, inside } = managed;
  const pathOf = ({ consumeId }: Facts) => `customers/ada/consumes/${consumeId}/reverse`;
  const preview = (facts: Facts) => manage("POST", `${pathOf(facts)}/preview`, { body: {} });
  expect(await preview(inside)).toMatchObject({ status: 200, body: { credits: 10 } });
  expect(await preview(outside)).toMatchObject({
    status: 200,
    body: { credits: 10, balanceBefore: 70, balanceAfter: 80 },
  });
  expect(await manage("POST", pathOf(outside), { body: {} })).toMatchObject({ status: 200 });
});

test("grants from before the window are listed only if they have credits left", async () => {
  const managed = await setupManage();
  const { manage, topUp, consume, database } = managed;
  await topUp("bob", 30);
  await topUp("ada", 30);
  await ageHistory(database, DAY_MS + 1_000);
  await topUp("ada", 7);
  // Spends all of bob's credits, and ada's except for the last 7.
  await managed.assign("bob");
  for (const customerId of ["ada", "bob"])
    await consume({ customerId, feature: "image.render", quantity: 13, idempotencyKey: customerId });
  await setWindow(managed, 1);
  const numbers = async (customer: string) =>
    ((await manage("GET", `customers/${customer}/grants`)).body["items"] as object[]).map((grant) =>
      Object.fromEntries(Object.entries(grant).filter(([key]) => key === "grant" || key === "remaining")),
    );
  expect(await numbers("ada")).toEqual([{ grant: 3, remaining: 7 }]);
  expect(await numbers("bob")).toEqual([{ grant: 2, remaining: 0 }]);
  await setWindow(managed, null);
  expect((await numbers("ada")).map(({ grant }) => grant)).toEqual([3, 2, 1]);
});
