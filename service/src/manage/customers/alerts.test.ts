import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";
import { expectDone, setupNotified, startReceiver } from "../../../test/webhooks.ts";
import { verifyDatabase } from "../../commands/verify/verify-database.ts";

const RULE = { below: 50, credits: 200, monthlyMax: 2 };

/** Customer `ada` has 100 credits, and an image costs 10. A webhook receives all types. */
async function setup() {
  const notified = await setupNotified();
  const receiver = await startReceiver();
  await notified.listen(receiver);
  const { manage } = notified;
  const buy = async (credits: number) =>
    expectDone(await manage("POST", "customers/ada/credits", { body: { kind: "purchase", credits } }));
  const put = (pools: object, customer = "ada") =>
    manage("PUT", `customers/${customer}/alerts`, { body: { pools } });
  return {
    ...notified,
    receiver,
    buy,
    put,
    setRule: async (topUp: object | null = RULE, customer = "ada") =>
      expectDone(await put({ credits: { topUp } }, customer)),
    read: async (customer = "ada") => (await manage("GET", `customers/${customer}/alerts`)).body,
    asked: () =>
      notified.database.query(
        "select details::jsonb - 'pool' as details from cell.notices where type = 'topup.due' order by number",
      ),
  };
}

test("rules are shown on the customer and in the audit log, and setting them again changes nothing", async () => {
  const { put, read, manage, database } = await setup();
  const pools = { credits: { lowBalances: [20, 80], topUp: RULE } };
  const set = expectDone(await put(pools));
  const shown = {
    pools: { credits: { lowBalances: [80, 20], topUp: { ...RULE, requestedThisMonth: 0, open: null } } },
  };
  expect(set).toMatchObject({ outcome: "changed", customer: { alerts: shown } });
  expect(await read()).toEqual(shown);
  expect(expectDone(await put(pools))).toMatchObject({ outcome: "unchanged" });
  const { body } = await manage("GET", "audit?limit=3");
  expect(body["items"]).toMatchObject([
    { action: "alerts.set", before: { alerts: { pools: {} } }, after: { alerts: shown } },
    { action: "webhook.created" },
    { action: "pool.defined" },
  ]);
  expect(expectDone(await put({}))).toMatchObject({
    outcome: "changed",
    customer: { alerts: { pools: {} } },
  });
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
});

test("an open request is shown until a purchase closes it", async () => {
  const { setRule, read, render, buy, asked, database } = await setup();
  await setRule();
  await render(6);
  const open = {
    topUpId: expect.stringMatching(/^top_[0-9a-z]{26}$/),
    attempt: 1,
    requestedAt: expect.stringMatching(/Z$/),
    isNeeded: true,
  };
  expect(await read()).toMatchObject({ pools: { credits: { topUp: { requestedThisMonth: 1, open } } } });
  const [first] = await asked();
  expect(first?.["details"]).toMatchObject({ below: 50, balance: 40, credits: 200, attempt: 1 });
  await buy(200);
  expect(await read()).toMatchObject({
    pools: { credits: { topUp: { requestedThisMonth: 1, open: null } } },
  });
  await render(20);
  const requests = (await asked()).map(({ details }) => details as { topUpId: string });
  expect(new Set(requests.map(({ topUpId }) => topUpId)).size).toBe(2);
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
});

test("a rule that is removed and set again continues its request", async () => {
  const { setRule, read, render, asked, database } = await setup();
  await setRule();
  await render(6);
  const shown = await read();
  await setRule(null);
  expect(await read()).toEqual({ pools: {} });
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
  await render(1);
  await setRule();
  expect(await read()).toEqual(shown);
  expect(await asked()).toHaveLength(1);
});

test("a customer's own thresholds replace those of the pool", async () => {
  const { put, render, receiver } = await setup();
  expectDone(await put({ credits: { lowBalances: [70] } }));
  await render(6);
  await expect.poll(() => receiver.received).toHaveLength(1);
  expect(receiver.received).toMatchObject([{ type: "balance.low", data: { threshold: 70, balance: 40 } }]);
});

test("a purchase that is moved to a customer closes that customer's request", async () => {
  const { setRule, read, manage, buy, assign, render } = await setup();
  await assign("bob");
  await setRule(RULE, "bob");
  await render(6, "bob");
  await buy(300);
  expectDone(await manage("POST", "customers/ada/grants/2/move", { body: { to: "bob" } }));
  expect(await read("bob")).toMatchObject({ pools: { credits: { topUp: { open: null } } } });
});

test("an erasure removes the rules, and requests nothing", async () => {
  const { setRule, manage, database, asked } = await setup();
  await setRule({ ...RULE, below: 1_000 });
  expect(await asked()).toHaveLength(1);
  expectDone(await manage("DELETE", "customers/ada"));
  const [wallet] = await database.query("select state from cell.wallets");
  const [, , told] = JSON.parse(String(wallet?.["state"])).slice(-1)[0];
  expect(told).toEqual([]);
  expect(await asked()).toEqual([]);
  expect((await verifyDatabase(database.url)).mismatch).toBeNull();
});

test("rules with unknown pools or fields are rejected", async () => {
  const { put, manage } = await setupManage().then((managed) => ({
    ...managed,
    put: (pools: unknown, customer = "ada") =>
      managed.manage("PUT", `customers/${customer}/alerts`, { body: { pools } }),
  }));
  for (const [pools, status, code] of [
    [{ nothing: { topUp: RULE } }, 422, "unknown_key"],
    [{ credits: { topUp: { ...RULE, below: 0 } } }, 400, "invalid_request"],
    [{ credits: { topUp: { ...RULE, monthlyMax: 0 } } }, 400, "invalid_request"],
    [{ credits: { topUp: { below: 1, credits: 1 } } }, 400, "invalid_request"],
    [{ credits: { lowBalances: [1, 1] } }, 400, "invalid_request"],
    [{ credits: { lowBalances: Array.from({ length: 11 }, (_, n) => n + 1) } }, 400, "invalid_request"],
    [{ credits: { autoCharge: true } }, 400, "invalid_request"],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, {}])), 400, "invalid_request"],
    [undefined, 400, "invalid_request"],
  ] as const)
    expect(await put(pools), JSON.stringify(pools)).toMatchObject({ status, body: { code } });
  expect(await put({}, "nobody")).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect((await manage("GET", "customers/nobody/alerts")).status).toBe(404);
});

test("rules are rejected until an upgrade is finished", async () => {
  const { put, database } = await setup();
  await database.query("update cell.identity set data_format = 1");
  const refused = await put({ credits: { topUp: RULE } });
  expect(refused).toMatchObject({ status: 409, body: { code: "upgrade_unfinished" } });
  expect((await put({})).body).toMatchObject({ outcome: "unchanged" });
});

test("a damaged request for a top-up is reported by verify", async () => {
  const { setRule, render, buy, database } = await setup();
  await setRule();
  await render(6);
  const [wallet] = await database.query("select state from cell.wallets");
  await buy(200);
  const reopened = String(wallet?.["state"]).match(/,(\[\[\],\[\],\[.*)\]$/)?.[1];
  expect(reopened).toBeDefined();
  await database.query(
    "update cell.wallets set state = regexp_replace(state, ',\\[\\[\\],\\[\\],\\[.*$', ',' || $1 || ']')",
    [reopened],
  );
  const { mismatch } = await verifyDatabase(database.url);
  expect(mismatch?.text).toMatch(
    /^a request for a top-up in pool \d+ is open, but a purchase has closed it$/,
  );
});
