import { onTestFinished } from "vitest";
import type { Context } from "../src/manage/context.ts";
import { addCredits } from "../src/manage/credits/add-credits.ts";
import { assignPlan } from "../src/manage/customers/assign-plan.ts";
import { defineFeature } from "../src/manage/features/define-feature.ts";
import { type PlanInput, publishPlan } from "../src/manage/plans/publish-plan.ts";
import type { Pool } from "../src/postgres/pool.ts";
import { brandAs, type CustomerId } from "../src/words/brand.ts";
import { openTestPool, post, type Reply, type Setup, setup, type TestDatabase } from "./harness.ts";

export type Credits = Setup & {
  readonly cell: Pool;
  readonly context: Context;
  /** Posts with the test key. */
  consume(body: unknown, headers?: Record<string, string>): Promise<Reply>;
  check(body: unknown): Promise<Reply>;
  /** Publishes a version of a plan; what is left out is as `PRO` has it. */
  publish(plan: Partial<PlanInput>): Promise<void>;
  assign(customer: string, plan?: string): Promise<void>;
  topUp(customer: string, credits: number): Promise<void>;
};

/** 100 credits a month; image.render costs 10, text.generate 3 per 1,000, export 0 with 5 a day. */
export const PRO: PlanInput = {
  key: "pro",
  name: "Pro",
  reach: "new_assignments",
  allowances: [{ pool: "credits", credits: 100, period: "month", rollover: 0 }],
  features: [
    { feature: "image.render", limit: null },
    { feature: "text.generate", limit: null },
    { feature: "export", limit: { quantity: 5, period: "day" } },
  ],
};

/** A service with a small catalog in the test environment, and a customer "ada" who has the plan. */
export async function setupCredits(
  overrides: Record<string, string> = {},
  prepare?: Parameters<typeof setup>[1],
  ownDatabase?: TestDatabase,
): Promise<Credits> {
  const base = await setup(overrides, prepare, ownDatabase);
  const { database, project, service } = base;
  const cell = openTestPool(database.serviceUrl, 8);
  onTestFinished(() => cell.end());
  const context: Context = {
    projectId: project.projectId,
    environmentId: project.test.environmentId,
    actor: { kind: "member", id: "ada", requestId: null },
  };
  const feature = (key: string, credits: number, per: number): Promise<unknown> =>
    defineFeature(cell, context, { key, name: key, unit: null, pool: "credits", cost: { credits, per } });
  await feature("image.render", 10, 1);
  await feature("text.generate", 3, 1000);
  await feature("export", 0, 1);
  await feature("video.render", 50, 1);
  const { secret } = project.test.key;
  const credits: Credits = {
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
  await credits.publish({});
  await credits.assign("ada");
  return credits;
}
