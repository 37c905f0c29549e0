import { expect, test } from "vitest";
import { connectTo, type TestDatabase } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";
import { lastMonths } from "../../test/months.ts";
import { ask } from "../../test/usage.ts";
import { openWatchedPool } from "../../test/watched-pool.ts";
import { verifyCommand } from "../commands/verify.ts";
import { keepPartitions } from "../jobs/keep-partitions.ts";
import { single } from "../postgres/transaction.ts";
import { brandAs, type CustomerNumber, type Instant } from "../primitives/brand.ts";
import { findLastBefore } from "../store/cell/ledger-balances.ts";
import { reverseConsume } from "./credits/reverse-consume.ts";
import { watchReversals } from "./refuse-detached-ledger.ts";

/** Moves all ledger entries except reversals to the given time. */
async function moveLedger(database: TestDatabase, at: string): Promise<void> {
  await database.query("set session_replication_role = replica");
  await database.query(
    "update cell.ledger set recorded_at = $1::timestamptz, effective_at = null where kind <> 5",
    [at],
  );
  await database.query("set session_replication_role = origin");
}

test("monthly statements, usage by metadata and wallet proofs are rejected if they need a detached month", async () => {
  const { manage, consume, database, cell } = await setupManage();
  const { body: charge } = await consume({
    customerId: "ada",
    feature: "image.render",
    idempotencyKey: "k",
  });
  await manage("POST", `customers/ada/consumes/${charge["consumeId"]}/reverse`, { body: {} });
  const [before = "", last = "", month = ""] = lastMonths(3);
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  await keepPartitions(cell);
  await moveLedger(database, `${last}-15T00:00:00.000Z`);
  expect((await manage("GET", `months/${before}`)).status).toBe(200);

  await detach(database, last);
  for (const lost of [before, last]) {
    const { status, body } = await manage("GET", `months/${lost}`);
    expect([status, body["detail"]]).toEqual([409, expect.stringContaining(`before ${month}-01T00:00`)]);
  }
  expect((await manage("GET", `months/${month}`)).status).toBe(200);
  // Usage by metadata needs the detached month too.
  const byMetadata = (from: string, source = "charges") =>
    manage(
      "GET",
      `usage?source=${source}&groupBy=metadata&metadataField=x&from=${from}-01T00:00:00Z&to=${month}-02T00:00:00Z`,
    );
  expect((await byMetadata(last)).text).toContain("months, which are detached");
  expect([(await byMetadata(month)).status, (await byMetadata(last, "events")).status]).toEqual([200, 200]);
  await database.query(`alter table cell.events detach partition cell.events_${last.replace("-", "_")}`);
  expect((await byMetadata(last, "events")).status).toBe(400);
  // The proof call is rejected. It does not report the wallet as unsound.
  const proof = await manage("GET", "customers/ada/proof");
  expect([proof.status, proof.body["detail"]]).toEqual([409, expect.stringContaining("are detached")]);
  await manage("PUT", "customers/new", { body: {} });
  expect((await manage("GET", "customers/new/proof")).body).toMatchObject({ isSound: true });
  const verified = verifyCommand({ databaseUrl: database.url, print: () => {} });
  await expect(verified).rejects.toThrow("attach them first");
  // A wallet whose entries are all attached is still reported as unsound.
  await manage("POST", "customers/new/credits", { body: { credits: 5, kind: "manual", note: "x" } });
  await database.query(
    "update cell.wallets set balance = balance + 1 where customer_number = (select number from cell.customers where customer_id = 'new')",
  );
  expect((await manage("GET", "customers/new/proof")).body).toMatchObject({ isSound: false });
  // The month of the reversal is attached, but the month of its charge is not.
  const { body: ledger } = await manage("GET", "customers/ada/ledger");
  expect(ledger["items"]).toContainEqual(expect.objectContaining({ sequence: 3, reverses: null }));
  const { status, text } = await manage("GET", "exports/ledger?format=ndjson");
  expect([status, text.split("\n")[0]]).toEqual([200, expect.stringContaining(`"sequence":3`)]);
});

test("a charge whose reversal may be in a detached month is not reversed again", async () => {
  const { manage, consume, database, cell } = await setupManage();
  const { body } = await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "k" });
  const reverse = (id: unknown) =>
    manage("POST", `customers/ada/consumes/${id}/reverse`, { body: { reference: "once" } });
  expect((await reverse(body["consumeId"])).body).toMatchObject({ outcome: "reversed" });
  // The charge is from last month, and its reversal is from this month.
  const [last = "", month = ""] = lastMonths(2);
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  await moveLedger(database, `${last}-15T00:00:00.000Z`);
  const { body: ledger } = await manage("GET", "customers/ada/ledger");
  const charge = (ledger["items"] as { consumeId?: string }[]).find(({ consumeId }) => consumeId)?.consumeId;
  expect((await reverse(charge)).body).toMatchObject({ outcome: "already_reversed" });
  const balance = async () => (await manage("GET", "customers/ada")).body["balances"];
  const before = await balance();

  const attach = await detach(database, month);
  const preview = () => manage("POST", `customers/ada/consumes/${charge}/reverse/preview`, { body: {} });
  for (const call of [() => reverse(charge), preview]) {
    const { status, body: told } = await call();
    expect([status, told["detail"]]).toEqual([409, expect.stringContaining("are detached")]);
  }
  expect(await balance()).toEqual(before);
  await attach();
  expect((await reverse(charge)).body).toMatchObject({ outcome: "already_reversed" });
});

test("detaching or attaching a month while reversals are being read never hides a reversal", async () => {
  const { database, cell } = await setupManage();
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  const [last = ""] = lastMonths(2);
  const chargedAt = brandAs<Instant>(Date.parse(`${last}-15T00:00:00Z`));
  const refusal = (change: () => Promise<unknown>) =>
    single(cell, async (tx) => {
      const refuseUnknown = await watchReversals(tx, chargedAt);
      await change();
      return refuseUnknown();
    });
  const detached = { code: "ledger_detached" };
  await refusal(async () => {});
  let attach: () => Promise<unknown> = async () => null;
  const goes = refusal(async () => {
    attach = await detach(database, last);
  });
  await expect(goes).rejects.toMatchObject(detached);
  await expect(refusal(async () => {})).rejects.toMatchObject(detached);
  await expect(refusal(attach)).rejects.toMatchObject(detached);
  await refusal(async () => {});
});

test("attaching a month during a reversal does not allow a second reversal", async () => {
  const { manage, consume, database, cell, context } = await setupManage();
  const { body } = await consume({
    customerId: "ada",
    feature: "image.render",
    quantity: 4,
    idempotencyKey: "k",
  });
  const input = { quantity: 1, reference: "once" };
  await reverseConsume(cell, context, { consumeId: String(body["consumeId"]), ...input });
  const [last = "", month = ""] = lastMonths(2);
  await database.query("select cell.ensure_monthly_partitions(1, 0)");
  await keepPartitions(cell);
  await moveLedger(database, `${last}-15T00:00:00.000Z`);
  const { body: ledger } = await manage("GET", "customers/ada/ledger?kind=consume");
  const [charge] = ledger["items"] as { consumeId: string }[];
  const consumeId = charge?.consumeId ?? "";

  let attach: (() => Promise<unknown>) | null = await detach(database, month);
  let before = "";
  // Attaches the month after the lookup by reference found nothing.
  const watched = openWatchedPool(database.serviceUrl, async (name) => {
    if (before === "ledger.list_reversals") {
      await attach?.();
      attach = null;
    }
    before = name;
  });
  const reversed = reverseConsume(watched, context, { consumeId, ...input });
  await expect(reversed).rejects.toMatchObject({ code: "ledger_detached" });
  expect(attach).toBeNull();
  expect(await reverseConsume(cell, context, { consumeId, ...input })).toMatchObject({
    kind: "already_reversed",
  });
  expect(await database.count("cell.ledger", "kind = 5")).toBe(1);
});

test("when a ledger month is detached, entries and brought-forward amounts still add up to the balance", async () => {
  const managed = await setupManage();
  const { consume, topUp, assign, manage, database, cell, project } = managed;
  await assign("bob");
  await topUp("ada", 1_000);
  for (let i = 0; i < 30; i++)
    await consume({ customerId: "ada", feature: "image.render", idempotencyKey: `k-${i}` });
  const [older = "", last = "", month = ""] = lastMonths(3);
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  await keepPartitions(cell);
  await scatter(database, [`${older}-10`, `${last}-10`, `${month}-01`]);

  type Ledger = { items: { amount: number }[]; broughtForward: { amount: number; before: string }[] };
  const sum = (some: readonly { amount: number }[]) => some.reduce((total, { amount }) => total + amount, 0);
  const shown = async (customer: string) => {
    const { items, broughtForward } = await ask<Ledger>(managed, `customers/${customer}/ledger?limit=100`);
    return { entries: items.length, total: sum(items) + sum(broughtForward), broughtForward };
  };
  const history = (from: string) =>
    `customers/ada/balance-history?from=${from}-01T00:00:00Z&to=${month}-28T00:00:00Z`;
  const ada = await shown("ada");
  const bob = await shown("bob");
  const told = await ask<{ opening: number }>(managed, history(month));
  expect(told.opening).toBeGreaterThan(0);

  const [number] = await database.query("select number from cell.customers where customer_id = 'ada'");
  const name = {
    environmentId: project.test.environmentId,
    customerNumber: brandAs<CustomerNumber>(Number(number?.["number"])),
  };
  const findStart = (since: string, isWholeSince: boolean) => {
    const at = brandAs<Instant>(Date.parse(`${since}-01T00:00:00Z`));
    return single(cell, (tx) => findLastBefore(tx, name, { last: ada.entries, at, isWholeSince }));
  };
  const starts = [await findStart(last, true), await findStart(month, true)];

  const attach = await detach(database, last);
  expect(await findStart(month, true)).toBe(starts[1]);
  // An export includes the attached months before and after the detached month.
  expect(await findStart(month, false)).toBe(starts[0]);
  const before = `${month}-01T00:00:00.000Z`;
  const cut = await shown("ada");
  expect(cut).toMatchObject({ total: ada.total, broughtForward: [{ before }] });
  expect([cut.entries > 0, cut.entries < ada.entries]).toEqual([true, true]);
  // For a customer without later entries, the whole balance is brought forward.
  expect(await shown("bob")).toMatchObject({ entries: 0, total: bob.total });
  expect(await ask(managed, history(month))).toMatchObject(told);
  for (const from of [older, last])
    expect((await manage("GET", history(from))).body).toMatchObject({ status: 409, code: "ledger_detached" });
  for (const days of [1, 45, 400]) {
    await database.query("update control.workspace_plans set history_days_max = $1", [days]);
    expect(await shown("ada")).toMatchObject({ total: ada.total });
    expect(await shown("bob")).toMatchObject({ entries: 0, total: bob.total });
  }
  await database.query("update control.workspace_plans set history_days_max = null");
  await attach();
  expect(await shown("ada")).toEqual(ada);
  expect((await manage("GET", history(older))).status).toBe(200);
});

test("a denial shows its open grants if all ledger entries before it, or all entries after it, are attached", async () => {
  const { manage, consume, topUp, database, cell } = await setupManage();
  const spend = (idempotencyKey: string, quantity: number) =>
    consume({ customerId: "ada", feature: "image.render", quantity, idempotencyKey });
  await spend("k-1", 9);
  await spend("k-2", 9);
  await topUp("ada", 1_000);
  await spend("k-3", 1);
  const [older = "", last = "", month = ""] = lastMonths(3);
  await database.query("select cell.ensure_monthly_partitions(3, 0)");
  await keepPartitions(cell);
  // Entries before the denial are in the first month, later entries in the other two months.
  await scatter(database, [`${older}-10`, `${last}-10`, `${month}-01`]);
  const { body } = await manage("GET", "keys/k-2");
  const { denialId } = body["denial"] as { denialId: string };
  const held = async () => (await manage("GET", `denials/${denialId}`)).body["openGrants"];
  const whole = await held();
  expect(whole).toMatchObject([{ kind: "allowance", remaining: 10 }]);
  for (const [months, told] of [
    [[older], whole],
    [[month], whole],
    [[older, month], null],
  ] as const) {
    const back = [];
    for (const one of months) back.push(await detach(database, one));
    expect([months, await held()]).toEqual([months, told]);
    for (const attach of back) await attach();
  }
});

/** Spreads each customer's entries over three days (bob's over the first two), and moves all grants to the first day. */
async function scatter(database: TestDatabase, days: readonly string[]): Promise<void> {
  const client = await connectTo(database);
  await client.query("set session_replication_role = replica");
  await client.query(
    `update cell.ledger as l
     set effective_at = null, recorded_at = ($1::timestamptz[])[t.third] + l.sequence * interval '1 millisecond'
     from (
       select e.customer_number, e.sequence,
         case c.customer_id when 'bob' then least(2, t.third) else t.third end as third
       from cell.ledger as e
       join cell.customers as c on c.number = e.customer_number
       cross join lateral (
         select 1 + (3 * (e.sequence - 1)) / (select max(m.sequence) from cell.ledger as m where m.customer_number = e.customer_number) as third
       ) as t
     ) as t
     where t.customer_number = l.customer_number and t.sequence = l.sequence`,
    [days.map((day) => `${day}T00:00:00Z`)],
  );
  await client.query("update cell.grants set effective_at = $1::timestamptz", [`${days[0]}T00:00:00Z`]);
}

/** Detaches a month of the ledger and returns a function that attaches it again. */
async function detach(database: TestDatabase, month: string): Promise<() => Promise<unknown>> {
  const partition = `cell.ledger_${month.replace("-", "_")}`;
  const [row] = await database.query(
    `select pg_get_expr(relpartbound, oid) as bound from pg_class where oid = '${partition}'::regclass`,
  );
  await database.query(`alter table cell.ledger detach partition ${partition}`);
  return () => database.query(`alter table cell.ledger attach partition ${partition} ${row?.["bound"]}`);
}
