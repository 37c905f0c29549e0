import type { Context } from "../src/manage/context.ts";
import { assignPlan } from "../src/manage/customers/assign-plan.ts";
import { defineFeature } from "../src/manage/features/define-feature.ts";
import { createManagementToken } from "../src/manage/people/management-tokens.ts";
import { createFirstOwner } from "../src/manage/people/set-up.ts";
import { type PlanInput, publishPlan } from "../src/manage/plans/publish-plan.ts";
import { type CreatedProject, createProject } from "../src/manage/projects/create-project.ts";
import { type OpenPool, openPool, type Pool } from "../src/postgres/pool.ts";
import { brandAs, type CustomerId } from "../src/primitives/brand.ts";
import { mayActAs, ROLES, type Role } from "../src/primitives/role.ts";

export const OWNER = { email: "owner@example.com", name: "Olga Owner", password: "seven-green-kettles" };

/** The owner's password hashed at the lowest cost, because hundreds of tests log in. The cost is part of the hash. */
const CHEAP_HASH =
  "$argon2id$v=19$m=64,t=1,p=1$cHVyc2VyLXRlc3Qtc2FsdA$DDYyZmB8Bw8i96g38zF3v6v5Y0VTDjzQD4wyFWOrWZo";

/** The plan grants 100 credits a month. image.render costs 10, text.generate 3 per 1,000, and export 0 with a limit of 5 a day. */
export const PRO: PlanInput = {
  key: "pro",
  name: "Pro",
  reach: "new_assignments",
  allowances: [{ pool: "credits", credits: 100, period: "month", rollover: 0, overage: 0 }],
  features: [
    { feature: "image.render", limit: null },
    { feature: "text.generate", limit: null },
    { feature: "export", limit: { quantity: 5, period: "day" } },
  ],
};

/** Waits longer for a connection than the service does, because the machine may be busy. */
export function openTestPool(url: string, sizeMax = 1): OpenPool {
  return openPool({ url, name: "test", sizeMax, connectTimeoutMs: 20_000, onIdleError: () => {} });
}

/** Management tokens for the whole workspace, by role. */
export type Tokens = Readonly<Record<Role, string>>;

export type Seeded = { readonly project: CreatedProject; readonly tokens: Tokens };

/** Each database contains the previous one and more. Tests clone one of them in about 30 ms. */
export type SeededDatabase = "purser_project" | "purser_credits" | "purser_managed";

/** Creates the seeded databases on a server that has the template. */
export async function seedDatabases(
  url: (database: string) => string,
  clone: (name: string, template: string) => Promise<void>,
  template: string,
): Promise<Seeded> {
  const make = async <T>(
    name: SeededDatabase,
    from: string,
    seed: (pool: OpenPool) => Promise<T>,
  ): Promise<T> => {
    await clone(name, from);
    const pool = openTestPool(url(name), 2);
    try {
      return await seed(pool);
    } finally {
      await pool.end();
    }
  };
  const project = await make("purser_project", template, (pool) => createProject(pool, "Test product"));
  await make("purser_credits", "purser_project", (pool) => seedCredits(pool, contextOf(project)));
  const tokens = await make("purser_managed", "purser_credits", seedPeople);
  return { project, tokens };
}

export function contextOf({ projectId, test }: CreatedProject): Context {
  return {
    projectId,
    environmentId: test.environmentId,
    actor: { kind: "member", id: "ada", requestId: null },
  };
}

/** Creates a small catalog, and a customer "ada" on its plan. */
export async function seedCredits(cell: Pool, context: Context): Promise<void> {
  const feature = (key: string, credits: number, per: number): Promise<unknown> =>
    defineFeature(cell, context, { key, name: key, unit: null, pool: "credits", cost: { credits, per } });
  await feature("image.render", 10, 1);
  await feature("text.generate", 3, 1000);
  await feature("export", 0, 1);
  await feature("video.render", 50, 1);
  await publishPlan(cell, context, PRO);
  await assignPlan(cell, context, { customerId: brandAs<CustomerId>("ada"), plan: "pro", anchor: null });
}

/** Creates an owner, and a management token for each role. */
export async function seedPeople(control: OpenPool): Promise<Tokens> {
  await createFirstOwner(control, OWNER);
  await control.query("update control.members set password_hash = $1", [CHEAP_HASH]);
  const actor = { kind: "system", id: null, requestId: null } as const;
  const create = async (role: Role): Promise<string> =>
    (
      await createManagementToken(control, actor, {
        workspaceId: 1,
        name: `The ${role}'s`,
        role,
        managesAccess: mayActAs(role, "admin"),
        environment: null,
        expiresAt: null,
      })
    ).secret;
  const tokens: [Role, string][] = [];
  for (const role of ROLES) tokens.push([role, await create(role)]);
  return Object.fromEntries(tokens) as Record<Role, string>;
}
