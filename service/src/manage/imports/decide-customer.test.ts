import { expect, test } from "vitest";
import { at, makeCatalog, monthly } from "../../../test/catalog.ts";
import { Timeline } from "../../../test/timeline.ts";
import { brandAs, type CustomerId, type CustomerNumber } from "../../primitives/brand.ts";
import { decideCustomer, type Known } from "./decide-customer.ts";
import type { ImportedCustomer } from "./imported-customer.ts";

const catalog = makeCatalog({ pro: [{ allowances: [monthly(100)] }] });
const noProfile = { name: null, email: null, billingReference: null };

function decideAt(when: string, { wallet }: Timeline, remaining: number) {
  const customer: ImportedCustomer = {
    ...{ row: 2, rows: 1, customerId: brandAs<CustomerId>("c1"), profile: noProfile, credits: [] },
    plan: { key: "pro", anchor: null, endsAt: at("2028-01-01") },
    allowances: [{ row: 2, pool: "pool 1", remaining }],
  };
  const importing = { name: "other", customerNumber: brandAs<CustomerNumber>(1) };
  const known: Known = { wallet, profile: noProfile, referenced: new Map(), importing };
  return decideCustomer({ catalog, clock: at(when) }, known, customer);
}

test("an import that extends a plan does not reduce an allowance that renews at the time of the import", () => {
  const customer = new Timeline(catalog);
  customer.assign("2026-01-10", "pro", { endsAt: at("2027-01-01") });
  customer.consume("2026-01-11", "image", 6);
  for (const when of ["2026-01-12", "2026-02-12"])
    expect(decideAt(when, customer, 7)).toMatchObject({
      kind: "failed",
      error: { code: "already_assigned" },
    });
  // `allowanceRemaining` is accepted if it equals the current allowance.
  expect(decideAt("2026-01-12", customer, 40)).toMatchObject({ kind: "decided", given: [] });
  expect(decideAt("2026-02-12", customer, 100)).toMatchObject({ kind: "decided", given: [] });
});
