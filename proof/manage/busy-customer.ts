import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { brandAs, type CustomerId } from "../../service/src/words/brand.ts";
import { FEATURE } from "../bench/load/calls.ts";
import { copyLastConsume } from "../verify/copy-last-consume.ts";
import { DATABASE, type ProofServer } from "./server.ts";
import type { Service } from "./service.ts";
import { FEATURE_NOT_IN_PLANS, type Shop, withPool } from "./shop.ts";

export const BUSY = "busy";
const ENTRIES = 100_000;
const DENIALS = 2_000;
const TOP_UPS = 300;
const PLAN_CHANGES = 300;
const AT_ONCE = 20;

/** One customer with a long history of everything: charges, denials, top-ups and plans. */
export async function makeBusyCustomer(
  server: ProofServer,
  service: Service,
  shop: Shop,
  entries = ENTRIES,
): Promise<void> {
  const customerId = brandAs<CustomerId>(BUSY);
  const { context } = shop;
  await withPool(server.databaseUrl, async (pool) => {
    await assignPlan(pool, context, { customerId, plan: "wide", anchor: null });
    await consume(service, shop, { feature: FEATURE, idempotencyKey: "busy-first" });
    const { environmentId } = context;
    await copyLastConsume(server, { database: DATABASE, environmentId, customerId, entries });
    for (let i = 0; i < PLAN_CHANGES; i++) {
      const plan = i % 2 === 0 ? "pro" : "wide";
      await assignPlan(pool, context, { customerId, plan, anchor: null });
    }
    for (let i = 0; i < TOP_UPS; i++) {
      await addCredits(pool, context, {
        customerId,
        pool: "credits",
        kind: "purchase",
        credits: 50,
        expiresAt: null,
        reference: `pay_${i}`,
        price: null,
        note: null,
      });
    }
  });
  for (let i = 0; i < DENIALS; i += AT_ONCE) {
    const calls = Array.from({ length: AT_ONCE }, (_, j) => ({
      feature: FEATURE_NOT_IN_PLANS,
      idempotencyKey: `busy-denied-${i + j}`,
    }));
    await Promise.all(calls.map((call) => consume(service, shop, call)));
  }
}

async function consume(
  { url }: Service,
  { apiKey }: Shop,
  call: { readonly feature: string; readonly idempotencyKey: string },
): Promise<void> {
  const response = await fetch(`${url}/v1/consume`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ customerId: BUSY, ...call }),
  });
  if (response.status !== 200) throw new Error(`a consume was answered with ${await response.text()}`);
  await response.body?.cancel();
}
