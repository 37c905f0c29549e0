import { DEFAULT_PLAN } from "../../catalog.ts";
import type { ManageCall } from "../../history/manage-call.ts";
import type { Stored } from "../stored.ts";
import type { Violation } from "../violation.ts";
import type { Account } from "../wallets/account.ts";

/** The plan that was assigned last is the plan a customer has; an assignment of unknown outcome may be it, too. */
export function checkPlans(
  calls: readonly ManageCall[],
  accounts: readonly Account[],
  { plans }: Stored,
): Violation[] {
  const possible = new Map<string, Set<string>>();
  for (const { request, outcome } of calls) {
    if (request.operation !== "assignPlan" || outcome.kind === "refused") continue;
    const before = possible.get(request.customerId) ?? [DEFAULT_PLAN];
    const kept = outcome.kind === "unknown" ? before : [];
    possible.set(request.customerId, new Set([...kept, request.plan]));
  }
  return accounts.flatMap(({ customerId, wallet: { assignment } }): Violation[] => {
    // Nobody assigned anything, and nothing was ever decided.
    if (assignment === null && !possible.has(customerId)) return [];
    const plan = plans.find(({ id }) => id === assignment?.plan)?.key ?? "none";
    const right = possible.get(customerId) ?? new Set([DEFAULT_PLAN]);
    if (right.has(plan)) return [];
    const text = `${customerId} has plan ${plan}, and was given ${[...right].join(" or ")}`;
    return [{ invariant: "I1", text }];
  });
}
