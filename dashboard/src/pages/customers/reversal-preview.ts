import type { Entry, Grant } from "./ledger-queries.ts";

export type Cost = { readonly credits: number; readonly per: number };

/** What becomes of credits that go back to their grant. */
export type Fate = "stays" | "expires" | "revoked" | "waits";

export type Return = {
  readonly number: number;
  readonly grant: Grant | null;
  readonly credits: number;
  readonly fate: Fate;
};

export type ReversalPreview = {
  readonly credits: number;
  readonly returns: readonly Return[];
  /** What the balance gains: not what goes back to a grant that is over. */
  readonly gain: number;
};

type Request = {
  readonly entry: Entry;
  readonly quantity: number;
  /** As the plan's version had it when it was charged. */
  readonly cost: Cost;
  readonly grants: readonly Grant[];
  /** The plan that the customer has now. */
  readonly planKey: string | null;
  readonly now: number;
};

/**
 * What the API will do, told beforehand: what remains charged is what the rest of the quantity costs, and the credits that were
 * burned last go back first.
 */
export function previewReversal({ entry, quantity, cost, grants, planKey, now }: Request): ReversalPreview {
  const left = (entry.quantity ?? 0) - (entry.reversedQuantity ?? 0);
  const charged = chargeFor(cost, left);
  const kept = chargeFor(cost, left - quantity);
  const isSamePlan = entry.plan !== null && entry.plan.key === planKey;
  const returns = partsBetween(entry.parts, kept, charged).map(({ grant: number, credits }): Return => {
    const grant = grants.find((known) => known.grant === number) ?? null;
    return { number, grant, credits, fate: grant === null ? "stays" : fateOf(grant, { isSamePlan, now }) };
  });
  let gain = 0;
  for (const { fate, credits } of returns) if (fate === "stays") gain += credits;
  return { credits: charged - kept, returns, gain };
}

function chargeFor({ credits, per }: Cost, quantity: number): number {
  // Beyond 2^53 only as big integers: cost and quantity may be large together.
  return Number((BigInt(quantity) * BigInt(credits) + BigInt(per) - 1n) / BigInt(per));
}

function partsBetween(
  parts: Entry["parts"],
  kept: number,
  charged: number,
): { grant: number; credits: number }[] {
  let burned = 0;
  return parts.flatMap(({ grant, amount }) => {
    const from = Math.max(burned, kept);
    burned -= amount;
    const to = Math.min(burned, charged);
    return to > from ? [{ grant, credits: to - from }] : [];
  });
}

function fateOf(grant: Grant, { isSamePlan, now }: { isSamePlan: boolean; now: number }): Fate {
  if (grant.revokedAt !== null) return "revoked";
  if (grant.expiresAt !== null && Date.parse(grant.expiresAt) <= now) return "expires";
  // What a plan gave waits with it once it was left.
  return grant.kind === "allowance" && !isSamePlan ? "waits" : "stays";
}
