import { addCredits } from "../src/manage/credits/add-credits.ts";
import { reverseConsume } from "../src/manage/credits/reverse-consume.ts";
import { revokeGrant } from "../src/manage/credits/revoke-grant.ts";
import { assignPlan, endPlan } from "../src/manage/customers/assign-plan.ts";
import { blockCustomer } from "../src/manage/customers/block-customer.ts";
import { eraseCustomer } from "../src/manage/customers/erase-customer.ts";
import { type OverridesBody, setOverrides } from "../src/manage/customers/overrides.ts";
import { setDefaultPlan } from "../src/manage/plans/operations.ts";
import { brandAs, type CustomerId, type Instant } from "../src/primitives/brand.ts";
import type { Credits } from "./credits.ts";

const DAY_MS = 86_400_000;
const SHORTLY_MS = 1_500;

/** Makes all kinds of calls and management actions. "ada" of `setupCredits` gets a long history, and "bob" starts a new period. */
export async function liveBusyLives(credits: Credits): Promise<void> {
  const { cell, context, publish, assign, record } = credits;
  await publish({
    key: "daily",
    allowances: [{ pool: "credits", credits: 20, period: "day", rollover: 1, overage: 0 }],
    features: [{ feature: "export", limit: { quantity: 5, period: "day" } }],
  });
  const anchor = brandAs<Instant>(Date.now() - DAY_MS + SHORTLY_MS);
  await assignPlan(cell, context, { customerId: named("bob"), plan: "daily", anchor });
  await charge(credits, "bob", "export", 3);

  await liveAda(credits);
  await setDefaultPlan(cell, context, { plan: "daily" });
  await charge(credits, "carol", "export");
  await record({ customerId: "dave", event: "visit", quantity: 1 });
  await assign("eve");
  await blockCustomer(cell, context, { customerId: named("eve"), isBlocked: true });
  await charge(credits, "eve", "export");
  await assign("frank");
  await charge(credits, "frank", "image.render");
  await endPlan(cell, context, { customerId: named("frank") });
  await eraseCustomer(cell, context, { customerId: named("frank") });

  await new Promise((resolve) => setTimeout(resolve, SHORTLY_MS));
  await charge(credits, "bob", "export", 2);
  await charge(credits, "ada", "export");
}

async function liveAda(credits: Credits): Promise<void> {
  const { cell, context, publish, assign, topUp } = credits;
  const customerId = named("ada");
  const first = await charge(credits, "ada", "image.render");
  const text = await charge(credits, "ada", "text.generate", 1_500);
  await charge(credits, "ada", "export", 2);
  await charge(credits, "ada", "export", 100);
  await charge(credits, "ada", "image.render", 1_000);
  await topUp("ada", 50);
  const gift = { customerId, pool: "credits", reference: null, price: null, note: null } as const;
  const merged = await addCredits(cell, context, { ...gift, kind: "manual", credits: 40, expiresAt: null });
  const expiresAt = brandAs<Instant>(Date.now() + SHORTLY_MS);
  await addCredits(cell, context, { ...gift, kind: "purchase", credits: 30, expiresAt });

  await publish({
    key: "max",
    allowances: [{ pool: "credits", credits: 500, period: "month", rollover: 0, overage: 0 }],
  });
  await assign("ada", "max");
  await charge(credits, "ada", "image.render");
  await reverseConsume(cell, context, { consumeId: first, quantity: null });
  await assign("ada", "pro");
  await reverseConsume(cell, context, { consumeId: text, quantity: 500 });
  await publish({
    reach: "now",
    allowances: [{ pool: "credits", credits: 150, period: "month", rollover: 0, overage: 0 }],
  });
  await charge(credits, "ada", "image.render", 2);
  await override(credits, "ada", { features: { export: { limit: { quantity: 8, period: "day" } } } });
  await charge(credits, "ada", "export");
  const limit = { quantity: 9, period: "day" } as const;
  await override(credits, "ada", {
    features: { export: { limit } },
    allowances: { credits: { credits: 9 } },
  });
  await override(credits, "ada", {
    features: { export: { limit }, "image.render": { cost: { credits: 2 } } },
  });
  await charge(credits, "ada", "image.render", 3);
  if (merged.kind !== "added") throw new Error(merged.kind);
  await revokeGrant(cell, context, { customerId, grant: merged.grant, note: null });
  await charge(credits, "ada", "image.render", 11);
}

async function override({ cell, context }: Credits, customerId: string, terms: OverridesBody): Promise<void> {
  const { kind } = await setOverrides(cell, context, { customerId: named(customerId), terms, endsAt: null });
  if (kind !== "changed") throw new Error(kind);
}

let keys = 0;

/** Returns the consume ID, or "" if the request was denied. */
async function charge(
  { consume }: Credits,
  customerId: string,
  feature: string,
  quantity = 1,
): Promise<string> {
  keys += 1;
  const { body } = await consume({ customerId, feature, quantity, idempotencyKey: `busy-${keys}` });
  return String(body["consumeId"] ?? "");
}

function named(customerId: string): CustomerId {
  return brandAs<CustomerId>(customerId);
}
