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
  readonly #purchases: { pool: PoolId; credits: number; at: Instant }[] = [];

  constructor(grants: readonly GrantFacts[]) {
    this.#grants = grants;
  }

  add({ kind, pool, amount, parts, effectiveAt: at }: Entry): void {
    if (kind !== "grant") return;
    const isPurchase = parts.some(({ grant }) => this.#grants[grant - 1]?.kind === "purchase");
    if (isPurchase) this.#purchases.push({ pool, credits: amount, at });
  }

  compare({ alerts: { pools, topUps, topUpCount }, decidedAt }: Wallet): string | null {
    if (pools.length > ALERT_POOLS_MAX || !isSorted(pools) || !isSorted(topUps))
      return "the rules for top-ups are not one for each pool, in order";
    const numbers = topUps.flatMap(({ open }) => open?.number ?? []);
    if (new Set(numbers).size < numbers.length || Math.max(topUps.length, ...numbers) > topUpCount)
      return `the wallet counts ${topUpCount} top-ups, but has others`;
    for (const { pool, requests, month, open } of topUps) {
      const where = `in pool ${pool}`;
      if (requests < 1 || month > decidedAt) return `the top-ups ${where} were not requested`;
      if (open === null) continue;
      if (!isInOrder(open, decidedAt)) return `the times of the open request ${where} are not in order`;
      // A later attempt may have requested fewer credits than the purchase had to have.
      const answer = this.#purchases.find(
        (bought) => bought.pool === pool && bought.at > open.askedAt && bought.credits >= open.credits,
      );
      if (answer !== undefined)
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
