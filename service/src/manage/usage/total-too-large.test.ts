import { expect, test } from "vitest";
import { type Managed, setupManage } from "../../../test/manage.ts";
import { ask, settle } from "../../../test/usage.ts";
import { defineFeature } from "../features/define-feature.ts";

/** Nearly the largest possible charge. */
const CHARGE = 999_999_999 * 999_999;

/** Charges each customer the given number of times. */
async function charge(managed: Managed, charges: Readonly<Record<string, number>>): Promise<void> {
  const { cell, context, publish, assign, topUp, consume } = managed;
  const cost = { credits: 999_999_999, per: 1 };
  await defineFeature(cell, context, { key: "rocket", name: "Rocket", unit: null, pool: "credits", cost });
  await publish({ features: [{ feature: "rocket", limit: null }], allowances: [], reach: "now" });
  for (const [customerId, times] of Object.entries(charges)) {
    await assign(customerId);
    await topUp(customerId, CHARGE * times);
    for (let i = 0; i < times; i++) {
      const call = { customerId, feature: "rocket", quantity: 999_999, idempotencyKey: `${customerId}-${i}` };
      expect((await consume(call)).body).toMatchObject({ allowed: true, creditsCharged: CHARGE });
    }
  }
  await settle(managed);
}

async function codesOf({ manage }: Managed, paths: readonly string[]): Promise<Record<string, unknown>> {
  const codes: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, body } = await manage("GET", path);
    codes[path] = `${status} ${body["code"] ?? "exact"}`;
  }
  return codes;
}

test("a sum that JSON cannot represent exactly is rejected, and all other sums are exact", async () => {
  const managed = await setupManage();
  await charge(managed, { bob: 6, carl: 5 });
  const refused = "422 total_too_large";
  expect(
    await codesOf(managed, [
      "usage",
      "usage?groupBy=feature",
      "usage?groupBy=customer",
      "usage?groupBy=customer&limit=1",
      "usage?groupBy=metadata&metadataField=model",
      "usage/totals",
      "usage/customers",
      "usage/decisions",
    ]),
  ).toEqual({
    usage: refused,
    "usage?groupBy=feature": refused,
    "usage?groupBy=customer": refused,
    "usage?groupBy=customer&limit=1": refused,
    "usage?groupBy=metadata&metadataField=model": refused,
    "usage/totals": refused,
    "usage/customers": refused,
    // Decisions contain only counts.
    "usage/decisions": "200 exact",
  });
  const exact = { count: 6, quantity: 6 * 999_999, credits: 6 * CHARGE };
  expect((await ask(managed, "usage?customerId=bob")).total).toEqual(exact);
  expect(await ask(managed, "usage/totals?customerId=bob")).toMatchObject({ charges: [exact] });
  const { text } = await managed.manage("GET", "exports/charges?format=ndjson");
  expect(text.match(new RegExp(`"credits":${CHARGE},`, "g"))).toHaveLength(11);
});
