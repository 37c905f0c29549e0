import type { Context } from "../../service/src/manage/context.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { createManagementToken } from "../../service/src/manage/people/management-tokens.ts";
import { createFirstOwner } from "../../service/src/manage/people/set-up.ts";
import { publishPlan } from "../../service/src/manage/plans/publish-plan.ts";
import { setDefaultPlan } from "../../service/src/manage/plans/set-default-plan.ts";
import { createProject } from "../../service/src/manage/projects/create-project.ts";
import type { Pool } from "../../service/src/postgres/pool.ts";
import { migrateDatabase, withPool } from "./database.ts";
import { FEATURE } from "./load/calls.ts";

export type Cost = { readonly credits: number; readonly per: number };
export type Limit = { readonly quantity: number; readonly period: "day" | "month" };

/** What a project sells, all of it in one pool. */
export type CatalogContent = {
  readonly features: Readonly<Record<string, Cost>>;
  readonly plans: Readonly<Record<string, PlanContent>>;
  /** Of customers to whom nobody assigned a plan. */
  readonly defaultPlan?: string;
};

export type PlanContent = {
  readonly allowance: { readonly credits: number; readonly period: "month" | "once" };
  /** Null: included without a limit. A feature that is not named is not in the plan. */
  readonly features: Readonly<Record<string, Limit | null>>;
};

export const POOL = "credits";
export const OWNER = { email: "owner@example.com", name: "Owner", password: "seven-green-kettles" };

export const FEATURE_NOT_IN_PLANS = "video.render";
const UNLIMITED = { [FEATURE]: null };
/** More than anybody uses up. */
const PLENTY = 1_000_000_000;

export const PLANS = {
  pro: { allowance: { credits: 1_000, period: "month" }, features: UNLIMITED },
  free: { allowance: { credits: 10, period: "month" }, features: UNLIMITED },
  wide: { allowance: { credits: PLENTY, period: "month" }, features: UNLIMITED },
  limited: {
    allowance: { credits: PLENTY, period: "month" },
    features: { [FEATURE]: { quantity: PLENTY, period: "month" } },
  },
} as const satisfies Record<string, PlanContent>;

const COST = { credits: 10, per: 1 };
const CATALOG = { features: { [FEATURE]: COST, [FEATURE_NOT_IN_PLANS]: COST }, plans: PLANS };

export type Project = {
  readonly context: Context;
  readonly apiKey: string;
  /** Of an owner's automation. */
  readonly token: string;
  /** Of the live environment: `/manage/v1/projects/1/live`. */
  readonly here: string;
};

/** A product before its first day: something to sell, an owner, a token for automation, and no customer yet. */
export async function openProject(databaseUrl: string, catalog: CatalogContent = CATALOG): Promise<Project> {
  await migrateDatabase(databaseUrl);
  return withPool(databaseUrl, async (pool) => {
    const actor = { kind: "command", id: null, requestId: null } as const;
    await createFirstOwner(pool, OWNER);
    const { projectId, live } = await createProject(pool, "Proof");
    const context = { projectId, environmentId: live.environmentId, actor };
    await publishCatalog(pool, context, catalog);
    const { secret: token } = await createManagementToken(pool, actor, {
      workspaceId: 1,
      name: "Proof",
      role: "owner",
      environment: null,
      expiresAt: null,
    });
    const here = `/manage/v1/projects/${projectId}/live`;
    return { context, apiKey: live.key.secret, token, here };
  });
}

async function publishCatalog(pool: Pool, context: Context, catalog: CatalogContent): Promise<void> {
  for (const [key, cost] of Object.entries(catalog.features))
    expectKind(
      "defined",
      await defineFeature(pool, context, { key, name: key, unit: null, pool: POOL, cost }),
    );
  for (const [key, { allowance, features }] of Object.entries(catalog.plans))
    expectKind(
      "published",
      await publishPlan(pool, context, {
        key,
        name: key,
        reach: "new_assignments",
        allowances: [{ pool: POOL, ...allowance, rollover: 0 }],
        features: Object.entries(features).map(([feature, limit]) => ({ feature, limit })),
      }),
    );
  const { defaultPlan: plan } = catalog;
  if (plan !== undefined) expectKind("set", await setDefaultPlan(pool, context, { plan }));
}

function expectKind(expected: string, outcome: { readonly kind: string }): void {
  if (outcome.kind !== expected)
    throw new Error(`the catalog could not be set up: ${JSON.stringify(outcome)}`);
}
