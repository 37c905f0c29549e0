import { onTestFinished } from "vitest";
import type { Context } from "../src/manage/context.ts";
import { addCredits } from "../src/manage/credits/add-credits.ts";
import { assignPlan } from "../src/manage/customers/assign-plan.ts";
import { type PlanInput, publishPlan } from "../src/manage/plans/publish-plan.ts";
import type { OpenPool } from "../src/postgres/pool.ts";
import { brandAs, type CustomerId } from "../src/primitives/brand.ts";
import { post, type Reply, type Setup, setup, setupSeeded, type TestDatabase } from "./harness.ts";
import { contextOf, openTestPool, PRO, seedCredits } from "./seed.ts";

export type Credits = Setup & {
  readonly cell: OpenPool;
  readonly context: Context;
  /** Sends a consume request with the test key. */
  consume(body: unknown, headers?: Record<string, string>): Promise<Reply>;
  check(body: unknown): Promise<Reply>;
  /** Publishes a version of a plan. Omitted fields have the values of `PRO`. */
  publish(plan: Partial<PlanInput>): Promise<void>;
  assign(customer: string, plan?: string): Promise<void>;
  topUp(customer: string, credits: number): Promise<void>;
};

/** A service with a small catalog in the test environment, and a customer "ada" on plan "pro". */
export async function setupCredits(
  overrides: Record<string, string> = {},
  prepare?: Parameters<typeof setup>[1],
  ownDatabase?: TestDatabase,
): Promise<Credits> {
  if (prepare === undefined && ownDatabase === undefined) {
    return openCredits(await setupSeeded("purser_credits", overrides));
  }
  const credits = openCredits(await setup(overrides, prepare, ownDatabase));
  await seedCredits(credits.cell, credits.context);
  return credits;
}

/** Adds calls and actions to a service whose database has the seeded catalog. */
export function openCredits(base: Setup): Credits {
  const { database, project, service } = base;
  const cell = openTestPool(database.serviceUrl, 8);
  onTestFinished(() => cell.end());
  const context = contextOf(project);
  const { secret } = project.test.key;
  return {
    ...base,
    cell,
    context,
    consume: (body, headers) => post(`${service.url}/v1/consume`, secret, body, headers),
    check: (body) => post(`${service.url}/v1/check`, secret, body),
    publish: async (plan) => {
      await publishPlan(cell, context, { ...PRO, ...plan });
    },
    assign: async (customer, plan = "pro") => {
      await assignPlan(cell, context, { customerId: brandAs<CustomerId>(customer), plan, anchor: null });
    },
    topUp: async (customer, amount) => {
      await addCredits(cell, context, {
        customerId: brandAs<CustomerId>(customer),
        pool: "credits",
        kind: "manual",
        credits: amount,
        expiresAt: null,
        reference: null,
        price: null,
        note: null,
      });
    },
  };
}
