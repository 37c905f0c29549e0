import pg from "pg";
import type { Context } from "../../service/src/manage/context.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { createManagementToken } from "../../service/src/manage/people/management-tokens.ts";
import { createFirstOwner } from "../../service/src/manage/people/set-up.ts";
import { publishPlan } from "../../service/src/manage/plans/publish-plan.ts";
import { createProject } from "../../service/src/manage/projects/create-project.ts";
import { migrate } from "../../service/src/postgres/migrate.ts";
import { openPool, type Pool } from "../../service/src/postgres/pool.ts";
import { FEATURE } from "../bench/load/calls.ts";
import type { ProofServer } from "./server.ts";

const POOL = "credits";
export const FEATURE_NOT_IN_PLANS = "video.render";
/** Of a plan so large that its allowance is never used up. */
export const PLANS = { pro: 1_000, free: 10, wide: 1_000_000_000 } as const;

export type Shop = {
  readonly context: Context;
  readonly apiKey: string;
  readonly token: string;
  /** Of the live environment: `/manage/v1/projects/1/live`. */
  readonly here: string;
};

/** A product before its first day: something to sell, an owner, a token for automation, and nobody yet. */
export async function openShop({ databaseUrl }: Pick<ProofServer, "databaseUrl">): Promise<Shop> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await migrate(client);
  await client.end();
  return withPool(databaseUrl, async (pool) => {
    const actor = { kind: "command", id: null, requestId: null } as const;
    await createFirstOwner(pool, {
      email: "owner@example.com",
      name: "Owner",
      password: "seven-green-kettles",
    });
    const { projectId, live } = await createProject(pool, "Manage");
    const context = { projectId, environmentId: live.environmentId, actor };
    for (const key of [FEATURE, FEATURE_NOT_IN_PLANS])
      await defineFeature(pool, context, {
        key,
        name: key,
        unit: null,
        pool: POOL,
        cost: { credits: 10, per: 1 },
      });
    for (const [key, credits] of Object.entries(PLANS)) {
      await publishPlan(pool, context, {
        key,
        name: key,
        reach: "new_assignments",
        allowances: [{ pool: POOL, credits, period: "month", rollover: 0 }],
        features: [{ feature: FEATURE, limit: null }],
      });
    }
    const { secret } = await createManagementToken(pool, actor, {
      workspaceId: 1,
      name: "Proof",
      role: "owner",
      environment: null,
      expiresAt: null,
    });
    return {
      context,
      apiKey: live.key.secret,
      token: secret,
      here: `/manage/v1/projects/${projectId}/live`,
    };
  });
}

export async function withPool<T>(url: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool({ url, name: "manage proof", sizeMax: 1, onIdleError: () => {} });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
