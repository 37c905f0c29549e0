import { expect, test } from "vitest";
import { setupManage } from "../../../test/manage.ts";

type Line = Readonly<Record<string, unknown>>;

test("lists show a customer's name and ID, and neither of them after the customer is erased", async () => {
  const { manage, consume, record } = await setupManage();
  await manage("PUT", "customers/ada", { body: { name: "Ada Lovelace" } });
  await consume({ customerId: "ada", feature: "image.render", idempotencyKey: "a" });
  await consume({ customerId: "ada", feature: "image.render", quantity: 1_000, idempotencyKey: "b" });
  await record({ customerId: "ada", event: "tokens", quantity: 1 });
  const items = async (path: string): Promise<Line[]> => (await manage("GET", path)).body["items"] as Line[];
  await expect.poll(async () => (await items("requests")).length).toBe(3);
  const denial = (await items("customers/ada/requests")).find(({ kind }) => kind === "denial");

  const usage = async (path: string, field: string): Promise<Line[]> =>
    (await manage("GET", path)).body[field] as Line[];
  await expect
    .poll(() => usage("usage?groupBy=customer", "lines"))
    .toMatchObject([{ key: "ada", customerName: "Ada Lovelace" }]);
  const shown = async (): Promise<Line[]> => [
    ...(await items("requests")),
    ...(await items("events")),
    ...(await items("audit")).filter(({ action }) => action === "customer.changed"),
    ...(await usage("usage/customers", "customers")),
    (await manage("GET", `denials/${denial?.["id"]}`)).body as Line,
  ];
  const named = await shown();
  expect(named).toHaveLength(7);
  expect(named.every(({ customerId }) => customerId === "ada")).toBe(true);
  expect(named.every(({ customerName }) => customerName === "Ada Lovelace")).toBe(true);
  expect((await manage("GET", "keys/a")).body).toMatchObject({ customerName: "Ada Lovelace" });

  await manage("DELETE", "customers/ada");
  for (const line of await shown()) expect(line).toMatchObject({ customerId: null, customerName: null });
});
