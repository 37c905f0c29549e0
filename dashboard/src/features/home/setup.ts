import { queryOptions } from "@tanstack/react-query";
import type { Scope } from "../../api/answer.ts";
import { answerOf, api } from "../../api/client.ts";
import { readList, readPage } from "../../api/lists.ts";
import { type Roles, roleIn } from "../../api/session.ts";

/** The objects that exist in an environment, for the steps of onboarding. */
export type Setup = {
  readonly features: number;
  readonly plans: number;
  /** Plans in Test, from which Live gets its catalog. Null if the user has no role in Test. */
  readonly testPlans: number | null;
  readonly hasApiKey: boolean;
  /** ID of the newest customer. */
  readonly customerId: string | null;
  readonly hasCharge: boolean;
  /** A feature that a plan includes, preferably one that costs credits. */
  readonly chargeable: { readonly key: string; readonly name: string } | null;
};

const HERE = "/manage/v1/projects/{projectId}/{environment}";
const ACTIVE = { archived: "false" } as const;
const CHARGE_DAYS = 90;
const DAY_MS = 86_400_000;

export function setupQuery(scope: Scope, roles: Roles) {
  const test = { ...scope, environment: "test" } as const;
  const readsTest = roleIn(roles, test) !== null;
  return queryOptions({
    queryKey: ["get", HERE, scope, "setup"],
    queryFn: async (): Promise<Setup> => {
      const [features, plans, testPlans, keys, customers, hasCharge] = await Promise.all([
        readList(`${HERE}/features`, { params: { path: scope, query: ACTIVE } }),
        readList(`${HERE}/plans`, { params: { path: scope, query: ACTIVE } }),
        readsTest ? readList(`${HERE}/plans`, { params: { path: test, query: ACTIVE } }) : null,
        readPage(`${HERE}/api-keys`, { params: { path: scope } }, { limit: "50" }),
        readPage(`${HERE}/customers`, { params: { path: scope } }, { limit: "1" }),
        wasCharged(scope),
      ]);
      const included = features.items.filter(({ usedBy }) => usedBy.length > 0);
      return {
        features: features.items.length,
        plans: plans.items.length,
        testPlans: testPlans === null ? null : testPlans.items.length,
        hasApiKey: keys.items.length > 0,
        customerId: customers.items[0]?.customerId ?? null,
        hasCharge,
        chargeable: included.find(({ cost }) => cost.credits > 0) ?? included[0] ?? null,
      };
    },
    meta: { showsOwnErrors: true },
    refetchInterval: ({ state: { data } }) => (data?.hasCharge ? false : 15_000),
  });
}

/** Whether there were charges in the last 90 days. The roll-ups include a charge after a few seconds. */
async function wasCharged(scope: Scope): Promise<boolean> {
  const day = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const query = { from: new Date(day - CHARGE_DAYS * DAY_MS).toISOString() };
  const { charges } = await answerOf(api.GET(`${HERE}/usage/totals`, { params: { path: scope, query } }));
  return charges.some(({ count }) => count > 0);
}
