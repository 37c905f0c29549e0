import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";

async function putMany({ manage }: Managed, count: number): Promise<void> {
  for (let i = 1; i <= count; i++) {
    const body = { name: `Company ${i}`, email: `${i}@acme.example`, billingReference: `cus_${i}` };
    expect((await manage("PUT", `customers/c${i}`, { body })).status).toBe(200);
  }
}

test("a customer is created with the caller's ID, replaced, and read with the plan and balances", async () => {
  const { manage } = await setupManage();
  const id = encodeURIComponent("team/ü 1");
  const body = { name: "Acme", email: "a@acme.example", metadata: { tier: 1 } };
  const made = await manage("PUT", `customers/${id}`, { body });
  expect(made.body).toMatchObject({ customerId: "team/ü 1", ...body, billingReference: null, plan: null });
  expect((await manage("PUT", `customers/${id}`, { body: {} })).body).toMatchObject({
    name: null,
    metadata: null,
  });
  expect((await manage("GET", "customers/ada")).body).toMatchObject({
    customerId: "ada",
    isBlocked: false,
    plan: { key: "pro", version: 1, isDefault: false, endsAt: null },
    balances: [{ pool: "credits", balance: 100 }],
  });
});

test("a repeated PUT changes nothing, and the audit log does not contain profile values", async () => {
  const { manage, database } = await setupManage();
  const body = { name: "Secret Name" };
  for (let i = 0; i < 3; i++) await manage("PUT", "customers/c", { body });
  const rows = await database.query("select * from cell.audit where action like 'customer.c%'");
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ actor_kind: "token", after: { fields: ["name"] } });
  expect(JSON.stringify(rows)).not.toContain("Secret");
});

test("the customer list supports cursors, search and filters", async () => {
  const managed = await setupManage();
  const { manage, topUp } = managed;
  await putMany(managed, 7);
  await topUp("c3", 500);
  const seen: unknown[] = [];
  for (let path = "customers?limit=3"; ; ) {
    const { body } = await manage("GET", path);
    const items = body["items"] as { customerId: string }[];
    seen.push(...items.map(({ customerId }) => customerId));
    if (body["nextCursor"] === null) break;
    path = `customers?limit=3&cursor=${body["nextCursor"]}`;
  }
  expect(seen).toEqual(["c7", "c6", "c5", "c4", "c3", "c2", "c1", "ada"]);
  const idsOf = async (query: string): Promise<unknown[]> => {
    const { body } = await manage("GET", `customers?${query}`);
    return (body["items"] as { customerId: string }[]).map(({ customerId }) => customerId);
  };
  expect(await idsOf("search=COMPANY%203")).toEqual(["c3"]);
  expect(await idsOf("search=5@")).toEqual(["c5"]);
  expect(await idsOf("search=CUS_6")).toEqual(["c6"]);
  expect(await idsOf("search=_")).toEqual([]);
  expect(await idsOf("plan=pro")).toEqual(["ada"]);
  expect(await idsOf("balanceBelow=500&search=c")).not.toContain("c3");
  expect(await idsOf("balanceBelow=501&search=c3")).toEqual(["c3"]);
  expect((await manage("GET", "customers?cursor=nonsense")).status).toBe(400);
});

test("each sort order lists every customer once across pages, even with a search or a filter", async () => {
  const { manage, topUp, publish, assign } = await setupManage();
  await publish({ key: "scale", name: "Scale" });
  const names = ["Beta", "alpha", null, "Émile", "beta", "Zulu films"];
  for (const [index, name] of names.entries()) {
    await manage("PUT", `customers/c${index}`, { body: { name } });
    // Two customers have the same balance.
    await topUp(`c${index}`, [30, 10, 20, 20, 50, 40][index] ?? 0);
  }
  await assign("c1", "scale");
  const walk = async (query: string): Promise<string[]> => {
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const { body, status } = await manage("GET", `customers?limit=2&${query}${cursor}`);
      expect(status).toBe(200);
      seen.push(...(body["items"] as { customerId: string }[]).map(({ customerId }) => customerId));
      if (body["nextCursor"] === null) return seen;
      cursor = `&cursor=${body["nextCursor"]}`;
    }
  };
  const byName = ["ada", "c1", "c0", "c4", "c2", "c5", "c3"];
  // The plan has added 100 credits to c1.
  const byBalance = ["c2", "c3", "c0", "c5", "c4", "ada", "c1"];
  for (const [by, ascending] of Object.entries({ name: byName, balance: byBalance })) {
    expect(await walk(`sort=${by}_asc`)).toEqual(ascending);
    expect(await walk(`sort=${by}_desc`)).toEqual(ascending.toReversed());
    expect(await walk(`sort=${by}_asc&search=c`)).toEqual(ascending.filter((id) => id !== "ada"));
    expect(await walk(`sort=${by}_desc&plan=scale`)).toEqual(["c1"]);
  }
  expect(await walk("sort=oldest")).toEqual(["ada", "c0", "c1", "c2", "c3", "c4", "c5"]);
  expect(await walk("sort=oldest&search=beta")).toEqual(["c0", "c4"]);
  const { body } = await manage("GET", "customers?limit=2&sort=name_asc");
  const foreign = `customers?sort=balance_asc&cursor=${body["nextCursor"]}`;
  expect((await manage("GET", foreign)).status).toBe(400);
});

test("a customer list sorted by name continues after names of the maximum length", async () => {
  const { manage } = await setupManage();
  const names = ["\u{1f600}", "\u0001", "\u4e00"].map((character) => character.repeat(255));
  for (const name of names) await manage("PUT", `customers/c${names.indexOf(name)}`, { body: { name } });
  const found: unknown[] = [];
  let cursor: unknown = "";
  do {
    const { status, body } = await manage(
      "GET",
      `customers?limit=1&sort=name_asc${cursor && `&cursor=${cursor}`}`,
    );
    expect(status).toBe(200);
    found.push(...(body["items"] as { name: string | null }[]).map(({ name }) => name));
    cursor = body["nextCursor"];
  } while (cursor !== null);
  expect(found).toEqual([names[1], null, names[2], names[0]]);
  const broken = Buffer.from(JSON.stringify(["\0", 1])).toString("base64url");
  expect((await manage("GET", `customers?sort=name_asc&cursor=${broken}`)).status).toBe(400);
});

test("search text of three or more characters matches any part, and shorter text only the beginning", async () => {
  const { manage } = await setupManage();
  const profile = {
    name: "Fernweh Films",
    email: "office@fernweh.example",
    billingReference: "cus_NffrFeUf",
  };
  await manage("PUT", "customers/org-4711", { body: profile });
  await manage("PUT", "customers/other", { body: { name: "50%_off" } });
  const idsOf = async (search: string): Promise<unknown[]> => {
    const { body } = await manage("GET", `customers?search=${encodeURIComponent(search)}`);
    return (body["items"] as { customerId: string }[]).map(({ customerId }) => customerId);
  };
  for (const part of ["films", "WEH F", "@fern", "471", "FFRFE", "fe"])
    expect(await idsOf(part), part).toEqual(["org-4711"]);
  for (const missing of ["il", "fil_s", "nweh-f"]) expect(await idsOf(missing), missing).toEqual([]);
  expect(await idsOf("%_o")).toEqual(["other"]);
});

test("a customer with text that PostgreSQL cannot store is rejected as invalid", async () => {
  const { manage } = await setupManage();
  for (const path of ["customers/a%00b", "customers?search=a%00"]) {
    expect((await manage("GET", path)).status).toBe(400);
  }
  const put = await manage("PUT", "customers/c", { body: '{"metadata":{"a":["\\ud800"]}}' });
  expect([put.status, put.body["errors"]]).toMatchObject([400, [{ field: "metadata.a.0" }]]);
  const deep = `{"metadata":{"a":${"[".repeat(30_000)}${"]".repeat(30_000)}}}`;
  expect((await manage("PUT", "customers/c", { body: deep })).status).toBeLessThan(500);
});

test("creating a customer is audited once", async () => {
  const { manage, database } = await setupManage();
  for (let i = 0; i < 2; i++) await manage("PUT", "customers/ghost", { body: {} });
  const [row, ...others] = await database.query(
    "select a.* from cell.audit as a join cell.customers as c on c.number = a.customer_number " +
      "where c.customer_id = 'ghost' and action = 'customer.created'",
  );
  expect([row?.["actor_kind"], others]).toEqual(["token", []]);
});

test("a plan's end date after the latest supported time is rejected", async () => {
  const { manage } = await setupManage();
  const body = { plan: "pro", endsAt: "9999-12-31T23:59:59-01:00" };
  expect((await manage("POST", "customers/ada/plan", { body })).status).toBe(400);
  expect((await manage("GET", "customers")).status).toBe(200);
});
