import { expect, test } from "vitest";
import { ageHistory } from "../../../test/age-history.ts";
import { expectSoundBooks } from "../../../test/books.ts";
import { connectTo } from "../../../test/harness.ts";
import { expectVerified } from "../../../test/holds.ts";
import { add, balanceOf, countRows, move, PAYMENT, render, setupMove } from "../../../test/moves.ts";
import { rounds } from "../../../test/rounds.ts";
import { times } from "../../../test/two-services.ts";
import { DAY_MS } from "../../../test/wind-back.ts";

test("eight concurrent moves of one grant move it once", async () => {
  for (const _ of rounds(3)) {
    const managed = await setupMove();
    const replies = await Promise.all(times(8, () => move(managed)));
    const outcomes = replies.map(({ body }) => body["outcome"]);
    expect(outcomes.filter((outcome) => outcome === "moved")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "already_moved")).toHaveLength(7);
    expect(await balanceOf(managed, "bob")).toBe(600);
  }
});

test("only one of several concurrent moves to different customers succeeds", async () => {
  const managed = await setupMove();
  const customers = ["bob", "cara", "dan", "eve"];
  for (const customer of customers) await managed.assign(customer);
  const replies = await Promise.all(customers.map((to) => move(managed, { to })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const balances = await Promise.all(["ada", ...customers].map((customer) => balanceOf(managed, customer)));
  expect(balances.sort()).toEqual([100, 100, 100, 100, 600]);
});

test("moves in both directions during charges neither lose nor create credits", {
  timeout: 120_000,
}, async () => {
  const managed = await setupMove();
  const customers = ["ada", "bob", "cara"] as const;
  await managed.assign("cara");
  for (const customer of customers)
    for (const part of [1, 2, 3, 4])
      await add(
        managed,
        { credits: 100, reference: `${customer}-${part}`, kind: part % 2 ? "manual" : "promotion" },
        customer,
      );
  const before = 300 + 500 + 12 * 100;
  const charges = times(60, (i) => render(managed, 1 + (i % 3), `race-${i}`, customers[i % 3]));
  const moves = times(36, (i) =>
    move(managed, {
      from: customers[i % 3] ?? "ada",
      to: customers[(i + 1 + (i % 2)) % 3] ?? "bob",
      grant: 2 + (Math.floor(i / 6) % 6),
    }),
  );
  const charged = await Promise.all(charges);
  const moved = await Promise.all(moves);
  expect(charged.filter(({ status }) => status !== 200)).toEqual([]);
  expect(moved.filter(({ status }) => ![200, 404, 409].includes(status))).toEqual([]);
  expect(moved.filter(({ body }) => body["outcome"] === "moved").length).toBeGreaterThan(5);
  const spent = charged.reduce((sum, { body }) => sum + Number(body["creditsCharged"] ?? 0), 0);
  const balances = await Promise.all(customers.map((customer) => balanceOf(managed, customer)));
  expect(balances.reduce((sum, balance) => sum + balance, 0)).toBe(before - spent);
  await expectSoundBooks(managed.database);
  await expectVerified(managed.database);
});

test("a move that fails halfway changes nothing and can be repeated", async () => {
  const managed = await setupMove();
  const { database } = managed;
  const admin = await connectTo(database);
  // Fails after both wallets, both ledgers and the new grant were written.
  await admin.query(`
    create function public.fail() returns trigger language plpgsql as $$
      begin raise exception 'failed halfway'; end $$;
    create trigger fail before insert on cell.grant_moves for each row execute function public.fail();`);
  const rows = await countRows(database);
  expect((await move(managed)).status).toBe(500);
  expect(await countRows(database)).toEqual(rows);
  expect([await balanceOf(managed, "ada"), await balanceOf(managed, "bob")]).toEqual([600, 100]);
  await admin.query("drop trigger fail on cell.grant_moves");
  expect((await move(managed)).body).toMatchObject({ outcome: "moved", credits: 500 });
  await expectVerified(database);
});

test("the error for a used reference names the other customer only within the history window", async () => {
  const managed = await setupMove();
  const { manage, database, project } = managed;
  const reuse = (customer: string, body = {}) =>
    manage("POST", `customers/${customer}/credits`, { body: { ...PAYMENT, ...body } });
  expect(await reuse("bob")).toMatchObject({
    status: 409,
    body: {
      ...{ code: "reference_reused", usedByCustomer: "ada", usedByGrant: 2 },
      detail: "This reference was already used for customer `ada` (grant 2). Nothing was added.",
    },
  });
  expect((await reuse("ada", { credits: 1 })).body).toMatchObject({
    detail: expect.stringContaining("another amount, kind or pool: grant 2 of this customer"),
  });
  // The other environment has its own references.
  const live = `/manage/v1/projects/${project.projectId}/live/customers/bob/credits`;
  expect((await manage("POST", live, { body: PAYMENT })).body).toMatchObject({ outcome: "added" });
  await ageHistory(database, 2 * DAY_MS);
  await database.query("update control.workspace_plans set history_days_max = 1");
  const hidden = await reuse("bob");
  expect(hidden.body).toMatchObject({ code: "reference_reused" });
  expect(hidden.body).not.toHaveProperty("usedByCustomer");
  expect(hidden.body["detail"]).not.toContain("`ada`");
  await database.query("update control.workspace_plans set history_days_max = null");
  await manage("DELETE", "customers/ada");
  const erased = await reuse("bob");
  expect(erased.body).toMatchObject({ detail: expect.stringContaining("a customer who was erased") });
  expect(erased.body).not.toHaveProperty("usedByCustomer");
});
