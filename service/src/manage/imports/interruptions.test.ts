import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { connectTo } from "../../../test/harness.ts";
import { balanceOf, FILE, sendFile } from "../../../test/imports.ts";
import { setupManage } from "../../../test/manage.ts";

test("resuming a partly imported file gives the same result as one complete import", async () => {
  const managed = await setupManage();
  const rows = Array.from({ length: 600 }, (_, i) => `h${i},Name ${i},pro,40,${i + 1}`);
  const file = (some: readonly string[]): string =>
    `customerId,name,plan,allowanceRemaining,credits\n${some.join("\n")}\n`;
  await sendFile(managed, file(rows.slice(0, 333)));
  const { body } = await sendFile(managed, file(rows));
  expect(body).toMatchObject({ rows: 600, created: 267, unchanged: 333, creditsAdded: 267 });
  const { database } = managed;
  const wrong = await database.query(`
    select c.customer_id
    from cell.customers as c
    join cell.wallets as w on w.environment_id = c.environment_id and w.customer_number = c.number
    where c.customer_id like 'h%' and w.balance <> 41 + substr(c.customer_id, 2)::integer`);
  expect(wrong).toEqual([]);
  await expectSoundBooks(database);
});

test("two concurrent imports of the same file add each customer and balance once", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const rows = Array.from({ length: 700 }, (_, i) => `t${(i * 7_919) % 700},T,pro,5,pay_${i}`);
  const file = `customerId,name,plan,credits,reference\n${rows.join("\n")}\n`;
  const both = await Promise.all([sendFile(managed, file), sendFile(managed, file)]);
  const total = (field: string): number => both.reduce((sum, { body }) => sum + Number(body[field]), 0);
  expect([total("created"), total("unchanged"), total("failed"), total("creditsAdded")]).toEqual([
    700, 700, 0, 700,
  ]);
  expect(await database.count("cell.grants", "reference like 'pay_%'")).toBe(700);
  await expectSoundBooks(database);
});

test("if two concurrent imports use the same references, each reference goes to only one customer", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const file = (prefix: string, step: number): string => {
    const rows = Array.from({ length: 200 }, (_, i) => `${prefix}${i},5,pay_${(i * step) % 200}`);
    return `customerId,credits,reference\n${rows.join("\n")}\n`;
  };
  const both = await Promise.all([
    sendFile(managed, file("x", 1)),
    sendFile(managed, file("y", 7), "name=other"),
  ]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  const total = (field: string): number => both.reduce((sum, { body }) => sum + Number(body[field]), 0);
  expect([total("creditsAdded"), total("failed")]).toEqual([200, 200]);
  expect(await database.count("cell.grants", "reference like 'pay_%'")).toBe(200);
  expect(await database.count("cell.customers", "customer_id ~ '^[xy]'")).toBe(200);
  await expectSoundBooks(database);
});

test("a customer with a locked wallet is imported after the lock is released", async () => {
  const managed = await setupManage();
  const client = await connectTo(managed.database);
  await client.query("begin");
  await client.query("select from cell.wallets for update");
  const sent = sendFile(managed, FILE);
  await new Promise((resolve) => setTimeout(resolve, 600));
  await client.query("rollback");
  expect((await sent).body).toMatchObject({ created: 3, changed: 1, failed: 0 });
});

test("broken database connections do not stop an import", async () => {
  const managed = await setupManage();
  const { database } = managed;
  const rows = Array.from({ length: 1_500 }, (_, i) => `k${i},pro,30,5`);
  let isOver = false;
  const sent = sendFile(managed, `customerId,plan,allowanceRemaining,credits\n${rows.join("\n")}\n`).finally(
    () => {
      isOver = true;
    },
  );
  await expect.poll(() => database.count("cell.customers"), { interval: 5 }).toBeGreaterThan(250);
  for (let broken = 0; broken < 4 && !isOver; ) {
    const ended = await database.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'purser/% manage' and state <> 'idle' and datname = current_database()",
    );
    broken += ended.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { status, body } = await sent;
  expect([status, body]).toMatchObject([200, { rows: 1_500, failed: 0 }]);
  expect(await database.count("cell.wallets", "balance = 35")).toBe(1_500);
  expect(await database.count("cell.grants", "reference like 'import:%' and kind = 3")).toBe(1_500);
  await expectSoundBooks(database);
});

test("a third concurrent import is rejected until another import finishes", async () => {
  const managed = await setupManage();
  const client = await connectTo(managed.database);
  await client.query("begin");
  await client.query("select from cell.wallets for update");
  const three = ["a", "b", "c"].map((name) =>
    sendFile(managed, "customerId,credits\nada,1\n", `name=${name}`),
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  await client.query("rollback");
  const replies = await Promise.all(three);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 503]);
  expect(replies.find(({ status }) => status === 503)?.body["code"]).toBe("overloaded");
  expect((await sendFile(managed, "customerId,credits\nada,1\n", "name=d")).status).toBe(200);
  expect(await balanceOf(managed, "ada")).toBe(103);
});

test("a disconnected upload keeps the imported chunks, and the import can be resumed", async () => {
  const managed = await setupManage();
  const { service, here, tokens, database } = managed;
  const row = (i: number): string => `v${i},5\n`;
  const controller = new AbortController();
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("customerId,credits\n");
    for (let i = 0; i < 1_000; i++) yield Buffer.from(row(i));
    await new Promise((resolve) => setTimeout(resolve, 300));
    controller.abort();
    yield Buffer.from(row(1_000));
  }
  const sent = fetch(`${service.url}${here}/imports?name=v`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "text/csv" },
    body: slowly(),
    duplex: "half",
    signal: controller.signal,
  } as RequestInit);
  await expect(sent).rejects.toThrow();
  await expect.poll(() => database.count("cell.audit", "action = 'customers.imported'")).toBe(1);
  const done = await database.count("cell.customers", "customer_id like 'v%'");
  expect([done % 250, done > 0]).toEqual([0, true]);
  const rows = Array.from({ length: 1_001 }, (_, i) => row(i)).join("");
  const { body } = await sendFile(managed, `customerId,credits\n${rows}`, "name=v");
  expect(body).toMatchObject({ created: 1_001 - done, unchanged: done, failed: 0 });
});

test.each([
  ["is revoked", "update control.management_tokens set revoked_at = now()", 401, "sign_in_required"],
  ["expires", "update control.management_tokens set expires_at = now()", 401, "sign_in_required"],
  ["is demoted", "update control.management_tokens set role = 'viewer'", 403, "role_missing"],
] as const)(
  "if the token %s during an upload, the import stops, and it can be resumed with another token",
  async (_, change, ...refusal) => {
    const managed = await setupManage();
    const { service, here, tokens, database } = managed;
    const row = (i: number): string => `r${i},5\n`;
    const imported = () => database.count("cell.customers", "customer_id like 'r%'");
    async function* slowly(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("customerId,credits\n");
      for (let i = 0; i < 300; i++) yield Buffer.from(row(i));
      await expect.poll(imported).toBe(250);
      await database.query(`${change} where name = 'The operator''s'`);
      for (let i = 300; i < 900; i++) yield Buffer.from(row(i));
    }
    const sent = await fetch(`${service.url}${here}/imports?name=r`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "text/csv" },
      body: slowly(),
      duplex: "half",
    } as RequestInit);
    expect([sent.status, ((await sent.json()) as { code: string }).code]).toEqual(refusal);
    expect(await imported()).toBe(250);
    expect(await database.count("cell.audit", "action = 'customers.imported'")).toBe(1);
    const file = `customerId,credits\n${Array.from({ length: 900 }, (_, i) => row(i)).join("")}`;
    const again = await sendFile(managed, file, "name=r", { authorization: `Bearer ${tokens.admin}` });
    expect(again.body).toMatchObject({ created: 650, unchanged: 250, failed: 0 });
  },
);
