import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import type { Reply } from "../../../test/harness.ts";
import { type Managed, setupManage } from "../../../test/manage.ts";

function add({ manage }: Managed, body: object): Promise<Reply> {
  return manage("POST", "customers/ada/credits", { body: { credits: 50, kind: "purchase", ...body } });
}

test("a grant can be revoked only once, and only for its own customer", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await add(managed, {});
  const charge = { customerId: "ada", feature: "image.render", quantity: 12, idempotencyKey: "key" };
  await managed.consume(charge);
  await managed.assign("bob");
  const revoke = (customer: string, grant: string) =>
    manage("POST", `customers/${customer}/grants/${grant}/revoke`);
  expect((await revoke("ada", "2")).body).toMatchObject({
    outcome: "revoked",
    credits: 30,
    customer: { balances: [{ balance: 0 }] },
  });
  expect((await revoke("ada", "2")).body).toMatchObject({
    outcome: "already_revoked",
    credits: 0,
    movedTo: null,
  });
  for (const [customer, grant] of [
    ["ada", "3"],
    ["bob", "2"],
    ["nobody", "1"],
  ] as const) {
    expect(await revoke(customer, grant)).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
  expect((await revoke("ada", "x")).status).toBe(400);
  await expectSoundBooks(managed.database);
});

test("the ledger and the audit log show the note of a revocation, until the customer is erased", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await add(managed, {});
  await add(managed, { kind: "promotion" });
  const revoke = (grant: number, body: object) =>
    manage("POST", `customers/ada/grants/${grant}/revoke`, { body });
  const note = "Added twice";
  expect((await revoke(2, { note })).body).toMatchObject({ outcome: "revoked" });
  expect((await revoke(3, {})).body).toMatchObject({ outcome: "revoked" });
  expect((await revoke(3, { note })).body).toMatchObject({ outcome: "already_revoked" });
  expect((await revoke(3, { note: "" })).status).toBe(400);
  const { body: ledger } = await manage("GET", "customers/ada/ledger?kind=revoke");
  expect(ledger["items"]).toMatchObject([{ metadata: null }, { metadata: { note } }]);
  const { body: audit } = await manage("GET", "audit?action=grant.revoked");
  const [second, first] = audit["items"] as { after: object }[];
  expect(first?.after).toMatchObject({ credits: 50, note });
  expect(second?.after).not.toHaveProperty("note");
  await manage("DELETE", "customers/ada");
  expect((await manage("GET", "audit?action=grant.revoked")).text).not.toContain(note);
  await expectSoundBooks(managed.database);
});

test("revoking a moved grant shows which customer received the credits", async () => {
  const managed = await setupManage();
  const { manage } = managed;
  await add(managed, {});
  await manage("PUT", "customers/bob", { body: { name: "Bob" } });
  await manage("POST", "customers/ada/grants/2/move", { body: { to: "bob" } });
  const { body } = await manage("POST", "customers/ada/grants/2/revoke");
  expect(body).toMatchObject({
    outcome: "already_revoked",
    credits: 0,
    movedTo: { customerId: "bob", customerName: "Bob", grant: 1 },
  });
});
