import type { Context } from "../../service/src/manage/context.ts";
import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { createManagementToken } from "../../service/src/manage/people/management-tokens.ts";
import { createFirstOwner } from "../../service/src/manage/people/set-up.ts";
import { setDefaultPlan } from "../../service/src/manage/plans/operations.ts";
import { publishPlan } from "../../service/src/manage/plans/publish-plan.ts";
import { definePool } from "../../service/src/manage/pools/operations.ts";
import { createProject } from "../../service/src/manage/projects/create-project.ts";
import type { Pool } from "../../service/src/postgres/pool.ts";
import { FEATURE } from "./calls.ts";
import { type Database, migrateDatabase, withPool } from "./database.ts";
import { PostgresServer } from "./postgres.ts";

export type Cost = { readonly credits: number; readonly per: number };
export type Limit = { readonly quantity: number; readonly period: "day" | "month" };

/** A feature without a pool is in the `credits` pool. */
export type FeatureContent = Cost & { readonly pool?: string };

/** The features and plans of a project. Other pools than `credits` are created if a feature names them. */
export type CatalogContent = {
  readonly features: Readonly<Record<string, FeatureContent>>;
  readonly plans: Readonly<Record<string, PlanContent>>;
  readonly defaultPlan?: string;
};

type Allowance = {
  readonly credits: number;
  readonly period: "month" | "once";
  /** Null allows unlimited overage. Absent allows none. */
  readonly overage?: number | null;
};

export type PlanContent = {
  /** The allowance in the `credits` pool. */
  readonly allowance: Allowance;
  /** Allowances in other pools, by the key of the pool. */
  readonly otherAllowances?: Readonly<Record<string, Allowance>>;
  /** Null includes the feature without a limit. Features that are not listed are not in the plan. */
  readonly features: Readonly<Record<string, Limit | null>>;
};

export const POOL = "credits";
export const OWNER = { email: "owner@example.com", name: "Owner", password: "seven-green-kettles" };

export const FEATURE_NOT_IN_PLANS = "video.render";
const UNLIMITED = { [FEATURE]: null };
/** More credits than any proof uses. */
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

const ACTOR = { kind: "command", id: null, requestId: null } as const;
const COST = { credits: 10, per: 1 };
const CATALOG = { features: { [FEATURE]: COST, [FEATURE_NOT_IN_PLANS]: COST }, plans: PLANS };

export type Project = {
  readonly context: Context;
  readonly apiKey: string;
  /** A management token with the role of owner. */
  readonly token: string;
  /** The path of the live environment: `/manage/v1/projects/1/live`. */
  readonly here: string;
};

export type Installation = {
  readonly server: PostgresServer;
  readonly database: Database;
  readonly project: Project;
};

/** A PostgreSQL server with one database and one project. Services are started separately. */
export async function openInstallation(
  stack: AsyncDisposableStack,
  ...settings: readonly [settings?: readonly string[], basis?: readonly string[]]
): Promise<Installation> {
  const server = await PostgresServer.start(stack, ...settings);
  const database = await server.createDatabase("purser");
  return { server, database, project: await openProject(database.url) };
}

/** Migrates the database and creates an owner, a management token, and a project with a catalog and no customers. */
export async function openProject(databaseUrl: string, catalog: CatalogContent = CATALOG): Promise<Project> {
  await migrateDatabase(databaseUrl);
  return withPool(databaseUrl, async (pool) => {
    await createFirstOwner(pool, OWNER);
    const added = await addProject(pool, "Proof", catalog);
    const { secret: token } = await createManagementToken(pool, ACTOR, {
      workspaceId: 1,
      name: "Proof",
      role: "owner",
      environment: null,
      expiresAt: null,
    });
    return { ...added, token };
  });
}

/** Creates another project with a catalog and no customers. */
export async function addProject(
  pool: Pool,
  name: string,
  catalog: CatalogContent = CATALOG,
): Promise<Omit<Project, "token">> {
  const { projectId, live } = await createProject(pool, name);
  const context = { projectId, environmentId: live.environmentId, actor: ACTOR };
  await publishCatalog(pool, context, catalog);
  return { context, apiKey: live.key.secret, here: `/manage/v1/projects/${projectId}/live` };
}

async function publishCatalog(pool: Pool, context: Context, catalog: CatalogContent): Promise<void> {
  const pools = new Set(Object.values(catalog.features).map((feature) => feature.pool ?? POOL));
  pools.delete(POOL);
  for (const key of pools) await definePool(pool, context, { key, name: key });
  for (const [key, { pool: poolKey = POOL, credits, per }] of Object.entries(catalog.features))
    expectKind(
      "defined",
      await defineFeature(pool, context, {
        ...{ key, name: key, unit: null, pool: poolKey },
        cost: { credits, per },
      }),
    );
  for (const [key, { allowance, otherAllowances = {}, features }] of Object.entries(catalog.plans))
    expectKind(
      "published",
      await publishPlan(pool, context, {
        key,
        name: key,
        reach: "new_assignments",
        allowances: Object.entries({ [POOL]: allowance, ...otherAllowances }).map(([poolKey, given]) => ({
          ...{ pool: poolKey, rollover: 0, overage: 0, ...given },
        })),
        features: Object.entries(features).map(([feature, limit]) => ({ feature, limit })),
      }),
    );
  const { defaultPlan: plan } = catalog;
  if (plan !== undefined) expectKind("set", await setDefaultPlan(pool, context, { plan }));
}

function expectKind(expected: string, outcome: { readonly kind: string }): void {
  if (outcome.kind !== expected) throw new Error(`could not create the catalog: ${JSON.stringify(outcome)}`);
}
