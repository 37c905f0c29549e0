import fc from "fast-check";
import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

const FEATURE = { name: "F", unit: null, pool: "credits", cost: { credits: 1, per: 1 } };
const ALLOWANCE = { pool: "credits", credits: 1, period: "month", rollover: 0, overage: 0 };
const PLAN = { name: "P", allowances: [ALLOWANCE], features: [{ feature: "export", limit: null }] };
const withCost = (cost: unknown) => ({ ...FEATURE, cost });
const withAllowance = (change: object) => ({ ...PLAN, allowances: [{ ...ALLOWANCE, ...change }] });
const withLimit = (limit: unknown) => ({ ...PLAN, features: [{ feature: "export", limit }] });
const LONG = "x".repeat(121);

type Refused = [method: string, path: string, body: unknown, field: string];

const REFUSED: Refused[] = [
  ["PUT", "pools/a%20b", { name: "P" }, "key"],
  ["PUT", "pools/-a", { name: "P" }, "key"],
  ["PUT", "pools/%C3%BC", { name: "P" }, "key"],
  ["PUT", `pools/${LONG}`, { name: "P" }, "key"],
  ["PUT", "pools/a", {}, "name"],
  ["PUT", "pools/a", { name: "" }, "name"],
  ["PUT", "pools/a", { name: LONG }, "name"],
  ["PUT", "pools/a", { name: 1 }, "name"],
  ["PUT", "pools/a", { name: null }, "name"],
  ["PUT", "pools/a", { name: "P", key: "b" }, "key"],
  ["PUT", "pools/a", [], ""],
  ["PUT", "pools/a", { name: "P", lowBalances: null }, "lowBalances"],
  ["PUT", "pools/a", { name: "P", lowBalances: [0] }, "lowBalances.0"],
  ["PUT", "pools/a", { name: "P", lowBalances: [5, 1_000_000_000_001] }, "lowBalances.1"],
  ["PUT", "pools/a", { name: "P", lowBalances: [0.5] }, "lowBalances.0"],
  ["PUT", "pools/a", { name: "P", lowBalances: [5, 5] }, "lowBalances"],
  ["PUT", "pools/a", { name: "P", lowBalances: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] }, "lowBalances"],
  ["PUT", "features/a%2Fb", FEATURE, "key"],
  ["PUT", "features/f", { ...FEATURE, unit: "" }, "unit"],
  ["PUT", "features/f", { ...FEATURE, unit: "x".repeat(61) }, "unit"],
  ["PUT", "features/f", { ...FEATURE, pool: "" }, "pool"],
  ["PUT", "features/f", { ...FEATURE, archived: true }, "archived"],
  ["PUT", "features/f", { name: "F" }, "cost"],
  ["PUT", "features/f", withCost(5), "cost"],
  ["PUT", "features/f", withCost({}), "cost.credits"],
  ["PUT", "features/f", withCost({ credits: -1 }), "cost.credits"],
  ["PUT", "features/f", withCost({ credits: 1_000_000_001 }), "cost.credits"],
  ["PUT", "features/f", withCost({ credits: 0.5 }), "cost.credits"],
  ["PUT", "features/f", withCost({ credits: "1" }), "cost.credits"],
  ["PUT", "features/f", withCost({ credits: 1, per: 0 }), "cost.per"],
  ["PUT", "features/f", withCost({ credits: 1, per: 1_000_001 }), "cost.per"],
  ["PUT", "features/f", withCost({ credits: 1, per: null }), "cost.per"],
  ["PUT", "plans/p/draft", { ...PLAN, name: "" }, "name"],
  ["PUT", "plans/p/draft", { ...PLAN, reach: "now" }, "reach"],
  ["PUT", "plans/p/draft", { name: "P", allowances: [] }, "features"],
  ["PUT", "plans/p/draft", withAllowance({ credits: 0 }), "allowances.0.credits"],
  ["PUT", "plans/p/draft", withAllowance({ credits: 1_000_000_000_001 }), "allowances.0.credits"],
  ["PUT", "features/f", '{"name":"F","cost":{"credits":1e400}}', "cost.credits"],
  ["PUT", "plans/p/draft", withAllowance({ period: "hour" }), "allowances.0.period"],
  ["PUT", "plans/p/draft", withAllowance({ rollover: -1 }), "allowances.0.rollover"],
  ["PUT", "plans/p/draft", withAllowance({ rollover: 13, overage: 0 }), "allowances.0.rollover"],
  ["PUT", "plans/p/draft", { ...PLAN, allowances: [ALLOWANCE, ALLOWANCE] }, "allowances.1.pool"],
  [
    "PUT",
    "plans/p/draft",
    { ...PLAN, allowances: [{ credits: 1, period: "day" }, ALLOWANCE] },
    "allowances.1.pool",
  ],
  ["PUT", "plans/p/draft", { ...PLAN, features: [...PLAN.features, ...PLAN.features] }, "features.1.feature"],
  ["PUT", "plans/p/draft", withLimit({ quantity: -1, period: "day" }), "features.0.limit.quantity"],
  ["PUT", "plans/p/draft", withLimit({ quantity: 2 ** 53, period: "day" }), "features.0.limit.quantity"],
  ["PUT", "plans/p/draft", withLimit({ quantity: 1 }), "features.0.limit.period"],
  ["PUT", "plans/p/draft", withLimit(5), "features.0.limit"],
  ["POST", "plans/pro/publish", {}, "reach"],
  ["POST", "plans/pro/publish", { reach: "everyone" }, "reach"],
  ["POST", "plans/pro/publish", { reach: "now", expectedVersion: -1 }, "expectedVersion"],
  ["POST", "plans/pro/archive", { archived: "no" }, "archived"],
  ["POST", "plans/pro/archive", { unknown: true }, "unknown"],
  ["PUT", "default-plan", {}, "plan"],
  ["PUT", "default-plan", { plan: "" }, "plan"],
  ["PUT", "default-plan", { plan: 7 }, "plan"],
  ["PUT", `event-keys/${LONG}`, { name: "E" }, "key"],
  ["PUT", "event-keys/a%00b", { name: "E" }, "key"],
  ["PUT", "event-keys/e", { name: "E\u0000" }, "name"],
  ["POST", "catalog/apply", { catalog: {} }, "reach"],
  ["POST", "catalog/apply", { reach: "now" }, "catalog"],
  [
    "POST",
    "catalog/diff",
    {
      catalog: {
        pools: [
          { key: "a", name: "A" },
          { key: "a", name: "B" },
        ],
      },
    },
    "catalog.pools.1.key",
  ],
  [
    "POST",
    "catalog/diff",
    {
      catalog: {
        plans: [
          { key: "a", ...PLAN },
          { key: "a", ...PLAN },
        ],
      },
    },
    "catalog.plans.1.key",
  ],
  [
    "POST",
    "catalog/diff",
    { catalog: { plans: [{ key: "a", ...PLAN, allowances: [ALLOWANCE, ALLOWANCE] }] } },
    "catalog.plans.0.allowances.1.pool",
  ],
  ["POST", "catalog/diff", { catalog: { customers: [] } }, "catalog.customers"],
  ["POST", "catalog/diff", { catalog: null }, "catalog"],
  ["GET", "features?limit=0", undefined, "limit"],
  ["GET", "plans?archived=maybe", undefined, "archived"],
  ["GET", "event-keys?cursor=nonsense", undefined, "cursor"],
];

test("the error for an invalid catalog field names the field, and nothing is changed", async () => {
  const { manage, database } = await setupManage();
  const state = () => database.query("select version, (select count(*) from cell.audit) from cell.catalogs");
  const before = await state();
  const found: unknown[] = [];
  for (const [method, path, body] of REFUSED) {
    const reply = await manage(method, path, body === undefined ? {} : { body });
    const errors = (reply.body["errors"] ?? []) as { field: string }[];
    found.push([method, path, body, reply.status, errors[0]?.field]);
  }
  expect(found).toEqual(REFUSED.map(([method, path, body, field]) => [method, path, body, 400, field]));
  expect(await state()).toEqual(before);
});

/** Generates nearly valid or random values. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    "",
    "credits",
    "export",
    "pro",
    LONG,
    -1,
    0,
    1,
    1.5,
    13,
    1e9,
    1e12,
    2 ** 53,
    1e300,
  ),
  fc.constantFrom<unknown>("month", "once", "now", [], {}, "\u0000", "\ud800", "__proto__", "constructor"),
  fc.integer(),
  fc.string(),
);
const oneOr = (value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: value }, { weight: 1, arbitrary: odd });
const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, oneOr(value)])), {
    requiredKeys: [],
  });
const list = (item: fc.Arbitrary<unknown>) => fc.array(oneOr(item), { maxLength: 3 });
const key = fc.constantFrom("a", "b", "credits", "export", "pro", "image.render", "nothing");
const period = fc.constantFrom("day", "week", "month", "year", "once");
const name = fc.string({ minLength: 1, maxLength: 120 });
const cost = record({ credits: fc.nat(1e9), per: fc.integer({ min: 1, max: 1e6 }) });
const feature = { name, unit: fc.option(name), pool: key, cost };
const terms = {
  name,
  allowances: list(
    record({ pool: key, credits: fc.integer({ min: 1, max: 1e12 }), period, rollover: fc.nat(12) }),
  ),
  features: list(record({ feature: key, limit: fc.option(record({ quantity: fc.maxSafeNat(), period })) })),
};
const catalog = record({
  pools: list(record({ key, name })),
  features: list(record({ key, ...feature, archived: fc.boolean() })),
  plans: list(record({ key, ...terms, archived: fc.boolean() })),
  eventKeys: list(record({ key: name, name, unit: fc.option(name) })),
  defaultPlan: fc.option(key),
});

test("invalid bodies of catalog operations never cause a 500", { timeout: 120_000 }, async () => {
  const { manage, check } = await setupManage();
  const options = { reach: fc.constantFrom("now", "next_period"), archiveMissing: fc.boolean() };
  const bodies: Record<string, fc.Arbitrary<unknown>> = {
    "PUT pools/x": record({ name }),
    "PUT features/x": record(feature),
    "PUT plans/x/draft": record(terms),
    "PUT event-keys/x": record({ name, unit: fc.option(name) }),
    "PUT default-plan": record({ plan: key }),
    "POST plans/x/publish": record(options),
    "POST plans/pro/archive": record({ archived: fc.boolean() }),
    "POST catalog/diff": record({ catalog, ...options }),
    "POST catalog/apply": record({ catalog, ...options }),
    "POST /manage/v1/projects/1/promote": record({ ...options, expectedVersion: fc.nat(3) }),
  };
  const call = fc.oneof(
    ...Object.entries(bodies).map(([where, body]) => fc.tuple(fc.constant(where), oneOr(body))),
  );
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(call, async ([where, body]) => {
      const [method = "", path = ""] = where.split(" ");
      const reply = await manage(method, path, { body: JSON.stringify(body), headers: { "if-match": "*" } });
      expect(reply.status, `${where} ${JSON.stringify(body)}: ${reply.text}`).toBeLessThan(500);
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
    }),
    { numRuns: 300 },
  );
  // Some of the bodies are accepted, some rejected, and the runtime keeps working.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 422]));
  expect((await check({ customerId: "ada", feature: "export" })).status).toBe(200);
});

test("features and event keys accept keys of the maximum length", async () => {
  const { manage } = await setupManage();
  const [longest, wide] = ["k".repeat(120), "\u{1f5dd}".repeat(120)];
  expect((await manage("PUT", `features/${longest}`, { body: FEATURE })).status).toBe(200);
  expect((await manage("GET", `features/${longest}`)).body["key"]).toBe(longest);
  const named = await manage("PUT", `event-keys/${encodeURIComponent(wide)}`, { body: { name: "Keys" } });
  expect(named.body["key"]).toBe(wide);
});
