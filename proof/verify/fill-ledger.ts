import pg from "pg";
import type { Context } from "../../service/src/manage/context.ts";
import { addCredits } from "../../service/src/manage/credits/add-credits.ts";
import { reverseConsume } from "../../service/src/manage/credits/reverse-consume.ts";
import { assignPlan } from "../../service/src/manage/customers/assign-plan.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { publishPlan } from "../../service/src/manage/plans/publish-plan.ts";
import { createProject } from "../../service/src/manage/projects/create-project.ts";
import { migrate } from "../../service/src/postgres/migrate.ts";
import { openPool, type Pool } from "../../service/src/postgres/pool.ts";
import { brandAs, type CustomerId } from "../../service/src/words/brand.ts";
import { CALLS, FEATURE } from "../bench/load/calls.ts";
import { copyCustomer } from "../bench/purser/copy-customer.ts";
import type { BenchServer } from "../bench/server.ts";
import { copyLastConsume } from "./copy-last-consume.ts";

export const CUSTOMERS = 100_000;
export const HOT_CUSTOMER = "customer_hot";
const HOT_ENTRIES = 100_000;

const POOL = "credits";
const PLAN = "everyone";
/** Enough that nobody runs out. */
const ALLOWANCE = 1_000_000_000;

export type Shop = { readonly apiKey: string; readonly context: Context };

/** A catalog with a limited feature, and nobody yet. */
export async function openShop(server: BenchServer, database: string): Promise<Shop> {
  const client = new pg.Client(server.url(database));
  await client.connect();
  await migrate(client);
  await client.end();
  return withPool(server.url(database), async (pool) => {
    const { projectId, live } = await createProject(pool, "Verify");
    const { environmentId, key } = live;
    const context = {
      projectId,
      environmentId,
      actor: { kind: "command", id: null, requestId: null },
    } as const;
    const cost = { credits: 10, per: 1 };
    await defineFeature(pool, context, { key: FEATURE, name: "Render", unit: null, pool: POOL, cost });
    const limit = { quantity: ALLOWANCE, period: "month" } as const;
    await publishPlan(pool, context, {
      key: PLAN,
      name: "Everyone",
      reach: "new_assignments",
      allowances: [{ pool: POOL, credits: ALLOWANCE, period: "month", rollover: 0 }],
      features: [{ feature: FEATURE, limit }],
    });
    return { apiKey: key.secret, context };
  });
}

/** A million entries: those of many customers, and a hundred thousand of one hot one. */
export async function fillLedger(
  server: BenchServer,
  { database, url, shop }: { database: string; url: string; shop: Shop },
): Promise<void> {
  const { environmentId } = shop.context;
  const databaseUrl = server.url(database);
  await fillCustomers(server, { database, databaseUrl, url, shop, plan: PLAN, customers: CUSTOMERS });
  await withPool(databaseUrl, async (pool) => {
    const hot = brandAs<CustomerId>(HOT_CUSTOMER);
    await assignPlan(pool, shop.context, { customerId: hot, plan: PLAN, anchor: null });
    await consumeOnce({ url, apiKey: shop.apiKey, customer: hot, key: "fill-hot" });
    await copyLastConsume(server, { database, environmentId, customerId: hot, entries: HOT_ENTRIES });
  });
}

/**
 * Nine entries each. The first customer comes by them as any customer does: a plan, two top-ups of which one is merged,
 * consumes, a reversal; the others are copies.
 */
export async function fillCustomers(
  server: Pick<BenchServer, "query">,
  fill: { database: string; databaseUrl: string; url: string; shop: Shop; plan: string; customers: number },
): Promise<void> {
  const { database, databaseUrl, url, shop, plan, customers } = fill;
  const { apiKey, context } = shop;
  await withPool(databaseUrl, async (pool) => {
    const first = brandAs<CustomerId>("customer_1");
    await assignPlan(pool, context, { customerId: first, plan, anchor: null });
    await topUp(pool, context, first);
    await topUp(pool, context, first);
    const consumes: string[] = [];
    for (let i = 0; i < 5; i++)
      consumes.push(await consumeOnce({ url, apiKey, customer: first, key: `fill-${i}` }));
    await reverseConsume(pool, context, { consumeId: consumes[2] ?? "", quantity: null });
  });
  await copyCustomer(server, { database, environmentId: context.environmentId, customers });
}

async function topUp(pool: Pool, context: Context, customerId: CustomerId): Promise<void> {
  await addCredits(pool, context, {
    customerId,
    pool: POOL,
    kind: "manual",
    credits: 50,
    expiresAt: null,
    reference: null,
    price: null,
    note: null,
  });
}

/** Returns the consume's id. */
async function consumeOnce(call: {
  url: string;
  apiKey: string;
  customer: string;
  key: string;
}): Promise<string> {
  const { url, apiKey, customer, key } = call;
  const reply = await fetch(`${url}${CALLS.consume.path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ customerId: customer, feature: FEATURE, idempotencyKey: key }),
  });
  const answer: { allowed: boolean; consumeId: string } = JSON.parse(await reply.text());
  if (!answer.allowed) throw new Error(`${customer} was denied`);
  return answer.consumeId;
}

async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url, name: "verify proof", sizeMax: 1, onIdleError: () => {} });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
