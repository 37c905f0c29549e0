import type { PoolId } from "../../src/primitives/brand.ts";
import { balanceIn, type Customer, type Paid } from "./customer.ts";
import type { Position } from "./request.ts";

// Overage is a sum over all charges and open holds, by the grant of the period in which it was taken.

/** No count may exceed this, even if the overage is unlimited. */
const UNLIMITED = 2 ** 52;

/** The overage of a pool. Null if the plan allows no overage in this pool. */
export function overageIn(customer: Customer, pool: PoolId): Position["overage"] {
  const { plan, overrides } = customer;
  const allowance = plan?.version.allowances.find((it) => it.pool === pool);
  const period = plan?.periods.find((it) => it.pool === pool);
  if (allowance === undefined || period === undefined) return null;
  const own = overrides?.allowances.find((it) => it.pool === pool && it.period === allowance.period);
  const credits = own?.overage === undefined ? allowance.overage : own.overage;
  if (credits === 0) return null;
  const { used, held } = countOf(customer, period.grant);
  return { credits, used, held, remaining: credits === null ? null : Math.max(0, credits - used - held) };
}

export function countOf({ consumes, holds }: Customer, grant: number): { used: number; held: number } {
  const open = holds.filter(({ state }) => state === "open").flatMap(({ uses }) => uses);
  const isHeld = new Set(open.map(({ consume }) => consume));
  const count = { used: 0, held: 0 };
  for (const [index, { overage }] of consumes.entries())
    for (const part of overage)
      if (part.grant === grant) count[isHeld.has(index) ? "held" : "used"] += part.credits;
  return count;
}

/** Credits and overage that can be spent. */
export function spendableIn(customer: Customer, pool: PoolId): number {
  return balanceIn(customer, pool) + spareIn(customer, pool);
}

/** The overage that can still be used. */
export function spareIn(customer: Customer, pool: PoolId): number {
  const overage = overageIn(customer, pool);
  if (overage === null) return 0;
  return overage.remaining ?? Math.max(0, UNLIMITED - overage.used - overage.held);
}

/** New overage of the current period. */
export function overageOf({ plan }: Customer, pool: PoolId, credits: number): Paid[] {
  const period = plan?.periods.find((it) => it.pool === pool);
  if (credits === 0) return [];
  if (period === undefined) throw new Error("overage needs an allowance");
  return [{ grant: period.grant, credits }];
}
