import { formatCount } from "../../words/numbers.ts";
import type { KnownGrants } from "./ledger-queries.ts";

export type CreditsBesides = { readonly pool: string; readonly credits: number; readonly why: string };

/** What a balance has beyond the grants that were read, and why it is not among them, as far as that can be known. */
export function creditsBesides(
  balances: readonly { readonly pool: string; readonly balance: number }[],
  { grants, isAll }: KnownGrants,
): CreditsBesides[] {
  const why = isAll
    ? "credits of a period that has begun, written down with the next request."
    : `left of grants that are further back than the newest ${formatCount(grants.length)}, or of a period that has begun.`;
  return balances.flatMap(({ pool, balance }) => {
    let credits = balance;
    for (const grant of grants) if (grant.pool === pool) credits -= grant.remaining;
    return credits > 0 ? [{ pool, credits, why }] : [];
  });
}
