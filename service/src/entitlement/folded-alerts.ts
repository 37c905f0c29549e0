import type { Instant, PoolId } from "../primitives/brand.ts";
import { ALERT_POOLS_MAX, type PoolTopUps } from "./alerts.ts";
import type { Entry } from "./entry.ts";
import type { GrantFacts } from "./revoke-grant.ts";
import type { Wallet } from "./wallet.ts";

/**
 * Checks a customer's rules and top-ups. The rules are settings, which the ledger does not contain. The ledger shows whether a purchase should
 * have closed a request.
 */
export class FoldedAlerts {
  readonly #grants: readonly GrantFacts[];
  readonly #purchases = new Map<PoolId, Instant>();

  constructor(grants: readonly GrantFacts[]) {
    this.#grants = grants;
  }

  add({ kind, pool, parts, effectiveAt }: Entry): void {
    if (kind !== "grant") return;
    const isPurchase = parts.some(({ grant }) => this.#grants[grant - 1]?.kind === "purchase");
    if (isPurchase) this.#purchases.set(pool, effectiveAt);
  }

  compare({ alerts: { pools, topUps, topUpCount }, decidedAt }: Wallet): string | null {
    if (pools.length > ALERT_POOLS_MAX || !isSorted(pools) || !isSorted(topUps))
      return "the rules for top-ups are not one for each pool, in order";
    const numbers = topUps.flatMap(({ open }) => open?.number ?? []);
    if (new Set(numbers).size < numbers.length || Math.max(topUps.length, ...numbers) > topUpCount)
      return `the wallet counts ${topUpCount} top-ups, but has others`;
    for (const { pool, requests, month, open } of topUps) {
      const [where, hasRule] = [
        `in pool ${pool}`,
        pools.some((rule) => rule.pool === pool && rule.topUp !== null),
      ];
      if (requests < 1 || month > decidedAt) return `the top-ups ${where} were not requested`;
      if (open === null) continue;
      if (!hasRule || !isInOrder(open, decidedAt)) return `the open request ${where} has no rule or times`;
      const purchasedAt = this.#purchases.get(pool);
      if (purchasedAt !== undefined && purchasedAt > open.requestedAt)
        return `a request for a top-up ${where} is open, but a purchase has closed it`;
    }
    return null;
  }
}

function isInOrder(open: NonNullable<PoolTopUps["open"]>, decidedAt: Instant): boolean {
  const { number, attempt, requestedAt, askedAt } = open;
  return number >= 1 && attempt >= 1 && requestedAt <= askedAt && askedAt <= decidedAt;
}

function isSorted(rows: readonly { readonly pool: PoolId }[]): boolean {
  return rows.every(({ pool }, index) => index === 0 || (rows[index - 1]?.pool ?? pool) < pool);
}
