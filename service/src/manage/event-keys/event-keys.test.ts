import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

test("recently used event keys are listed, and any event key can be named", async () => {
  const { manage, record, database } = await setupManage();
  for (const event of ["tokens.used", "tokens.used", "Seiten gelesen/ü"]) {
    expect((await record({ customerId: "ada", event, quantity: 1 })).status).toBe(200);
  }
  const odd = encodeURIComponent("Seiten gelesen/ü");
  const body = { name: "Pages read", unit: "page" };
  expect((await manage("PUT", `event-keys/${odd}`, { body })).body).toEqual({
    key: "Seiten gelesen/ü",
    ...body,
  });
  await manage("PUT", "event-keys/never.seen", { body: { name: "Later" } });
  await manage("PUT", "event-keys/never.seen", { body: { name: "Later" } });
  const seen = { events: 1, lastSeenAt: expect.stringMatching(/Z$/) };
  expect((await manage("GET", "event-keys")).body["items"]).toEqual([
    { key: "Seiten gelesen/ü", ...body, seen },
    { key: "never.seen", name: "Later", unit: null, seen: null },
    { key: "tokens.used", name: null, unit: null, seen: { ...seen, events: 2 } },
  ]);
  expect((await manage("GET", "event-keys?named=false")).body["items"]).toMatchObject([
    { key: "tokens.used" },
  ]);
  expect(await database.count("cell.audit", "action = 'event_key.named'")).toBe(2);
  const elsewhere = await manage("GET", `/manage/v1/projects/1/live/event-keys`);
  expect(elsewhere.body["items"]).toEqual([]);
});
