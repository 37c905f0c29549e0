import type { Grant } from "./ledger-queries.ts";
import type { PlanVersion } from "./plan-version-query.ts";

/**
 * When a plan's credits begin anew: what does not roll over ends with its period. Null where that is not known: of
 * allowances that roll over, and while the new period's credits are not written down yet.
 */
export function findRenewal(
  { pool, period, rollover }: PlanVersion["allowances"][number],
  grants: readonly Grant[],
): string | null {
  if (rollover > 0 || period === "once") return null;
  const given = grants.filter((grant) => grant.kind === "allowance" && grant.pool === pool);
  // The newest may be of a plan that was left again: then the one of now is older, and open.
  const current = given.find(({ remaining }) => remaining > 0) ?? given[0];
  const expiresAt = current?.expiresAt ?? null;
  return expiresAt !== null && Date.parse(expiresAt) > Date.now() ? expiresAt : null;
}
