import pg from "pg";
import type { Context } from "../../../service/src/manage/context.ts";
import { assignPlan } from "../../../service/src/manage/customers/assign-plan.ts";
import { defineFeature } from "../../../service/src/manage/features/define-feature.ts";
import { publishPlan } from "../../../service/src/manage/plans/publish-plan.ts";
import { definePool } from "../../../service/src/manage/pools/define-pool.ts";
import { createProject } from "../../../service/src/manage/projects/create-project.ts";
import { migrate } from "../../../service/src/postgres/migrate.ts";
import { openPool, type Pool } from "../../../service/src/postgres/pool.ts";
import { brandAs, type CustomerId } from "../../../service/src/words/brand.ts";
import { CUSTOMERS, FEATURE } from "../load/calls.ts";
import type { BenchServer } from "../server.ts";
import { copyCustomer } from "./copy-customer.ts";

const POOL = "credits";
const PLAN = "everyone";
/** Enough that nobody runs out, not even the hot customer. */
const ALLOWANCE = 1_000_000_000;
const COST = { credits: 10, per: 1 };

/** A product after its first days: a catalog, and customers who all have a plan. Returns its API key. */
export async function prepareDatabase(server: BenchServer, database: string): Promise<string> {
  const client = new pg.Client(server.url(database));
  await client.connect();
  await migrate(client);
  await client.end();
  const pool = openPool({ url: server.url(database), name: "bench", sizeMax: 1, onIdleError: () => {} });
  try {
    const { projectId, live } = await createProject(pool, "Bench");
    const { environmentId } = live;
    const actor = { kind: "command", id: null, requestId: null } as const;
    await openShop(pool, { projectId, environmentId, actor });
    await copyCustomer(server, { database, environmentId, customers: CUSTOMERS });
    return live.key.secret;
  } finally {
    await pool.end();
  }
}

/** Everything that is for sale, and the first customer, by the operations that people have for it. */
async function openShop(pool: Pool, context: Context): Promise<void> {
  await definePool(pool, context, { key: POOL, name: "Credits" });
  const feature = { key: FEATURE, name: "Render an image", unit: "image", pool: POOL, cost: COST };
  expectOutcome("defined", await defineFeature(pool, context, feature));
  const plan = {
    key: PLAN,
    name: "Everyone",
    reach: "new_assignments",
    allowances: [{ pool: POOL, credits: ALLOWANCE, period: "month", rollover: 0 }],
    features: [{ feature: FEATURE, limit: null }],
  } as const;
  expectOutcome("published", await publishPlan(pool, context, plan));
  const customerId = brandAs<CustomerId>("customer_1");
  expectOutcome("changed", await assignPlan(pool, context, { customerId, plan: PLAN, anchor: null }));
}

function expectOutcome(expected: string, { kind }: { kind: string }): void {
  if (kind !== expected) throw new Error(`${expected} expected, but it is ${kind}`);
}
