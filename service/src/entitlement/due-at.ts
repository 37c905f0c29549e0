import { brandAs, type Instant } from "../primitives/brand.ts";
import { topUpDueAt } from "./top-ups.ts";
import type { Wallet } from "./wallet.ts";

/**
 * When a job must bring an inactive customer up to date: the plan ends, a pending plan starts, or a top-up is repeated. Null if nothing is
 * due. Holds have their own index.
 */
export function dueAt(
  { assignment, next, alerts }: Pick<Wallet, "assignment" | "next" | "alerts">,
  now: Instant,
): Instant | null {
  const times = [assignment?.endsAt ?? null, next?.startsAt ?? null, topUpDueAt(alerts, now)].filter(
    (time) => time !== null,
  );
  return times.length === 0 ? null : brandAs<Instant>(Math.min(...times));
}
