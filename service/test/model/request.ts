import type { HoldTerms } from "../../src/entitlement/open-hold.ts";
import type { OverridesRequest } from "../../src/entitlement/set-overrides.ts";
import type { OverrideTerms } from "../../src/entitlement/wallet.ts";
import type { FeatureKey, Instant, PlanId, PlanVersionId, PoolId } from "../../src/primitives/brand.ts";

/** A request to the model and to the service. */
export type Request =
  | { kind: "decide"; items: readonly Item[] }
  | { kind: "hold"; items: readonly Item[]; terms: HoldTerms }
  /** `hold` is an index among all holds. `quantities` has one quantity for each item; null settles the held quantities. */
  | { kind: "settle"; hold: number; quantities: readonly number[] | null; atMostHeld: boolean }
  | { kind: "release"; hold: number }
  | { kind: "extend"; hold: number; quantity: number | null; expiresAt: Instant | { inMs: number } | null }
  | {
      kind: "assign";
      plan: PlanId;
      anchor: Instant | null;
      startsAt: Instant | "period_end" | null;
      endsAt: Instant | "period_end" | null | undefined;
      shorten: boolean;
      asOf: Instant | null;
    }
  | { kind: "end"; asOf: Instant | null }
  | { kind: "drop_next" }
  /** Replaces all earlier overrides. */
  | {
      kind: "override";
      features: OverridesRequest["features"];
      allowances: OverridesRequest["allowances"];
      endsAt: Instant | null;
    }
  | { kind: "add"; pool: PoolId; source: CreditSource; credits: number; expiresAt: Instant | null }
  | { kind: "revoke"; named: NamedGrant }
  /** Reduces the current allowance of a pool to the credits that remain of it in another system. */
  | { kind: "reduce"; pool: PoolId; remaining: number }
  /** Reverses one charge, by its index among all charges. Without a quantity, reverses the rest of the charge. */
  | { kind: "reverse"; consume: number; quantity: number | null }
  /** Reverses all charges of the request that this charge belongs to. */
  | { kind: "reverse_request"; consume: number };

/** An item of a request. A request names each feature at most once. */
export type Item = { feature: FeatureKey; quantity: number };

export type Asked<Kind extends Request["kind"]> = Extract<Request, { kind: Kind }>;

export type CreditSource = "purchase" | "manual" | "promotion";

/** Selects the same grant in the model and in the service, whose grant numbers differ: the service skips unusable grants. */
export type NamedGrant =
  | { by: "addition"; index: number }
  /** The first addition of the grant at this position in burn order. */
  | { by: "burn_order"; index: number };

export type Position = {
  balance: number;
  resetsAt: number | null;
  limit: null | { quantity: number; used: number; remaining: number; resetsAt: number | null };
  overage: null | { credits: number | null; used: number; held: number; remaining: number | null };
};

export type Answer =
  | {
      kind: "decided";
      allowed: boolean;
      reason: string | null;
      deniedItem: number | null;
      affordableQuantity: number | null;
      items: { creditsRequired: number; before: Position | null; after: Position | null }[];
      planVersion: PlanVersionId | null;
    }
  | { kind: "settled"; isLate: boolean; items: readonly SettledUse[] }
  | { kind: "denied"; reason: string; affordableQuantity: number }
  | { kind: "revoked"; credits: number }
  | {
      kind: "reversed";
      credits: number;
      overageCredits: number;
      quantity: number;
      items: readonly ReversedItem[];
    }
  | { kind: "too_much"; reversible: number }
  | {
      kind:
        | "feature_not_found"
        | "changed"
        | "unchanged"
        | "ends_in_the_past"
        | "as_of_out_of_range"
        | "would_shorten"
        | "anchor_fixed"
        | "plan_archived"
        | "no_running_period"
        | "ended"
        | "no_assignment"
        | "added"
        | "too_many_grants"
        | "expires_in_the_past"
        | "balance_too_large"
        | "already_revoked"
        | "reduced"
        | "no_allowance"
        | "above_remaining"
        | "nothing_left"
        | "feature_archived"
        | "period_unknown"
        | "too_many_holds"
        | "charged_on_expiry"
        | "settled_too_late"
        | "released"
        | "extended"
        | "hold_expired"
        | "expires_too_late";
    };

export type SettledUse = {
  quantity: number;
  creditsRequired: number;
  creditsCharged: number;
  creditsFromHold: number;
  overageCredits: number;
  creditsBeyondHold: number;
  creditsUncovered: number;
};

/** `item` is the index of the charge in its request. */
export type ReversedItem = { item: number; quantity: number; credits: number; overageCredits: number };

/** Whether an operation was rejected. A rejected operation writes nothing, not even changes that are due. */
export function isRefusal({ kind }: Answer): boolean {
  return /_in_the_past$|_out_of_range$|^would_|_fixed$|_archived$|^no_running_|^too_|_too_late$|_too_large$|^already_revoked$|^nothing_left$|^period_unknown$|^no_allowance$|^above_remaining$/.test(
    kind,
  );
}

/** The visible state of a customer, in the same form for the model and the service. */
export type View = {
  decidedAt: number;
  planAsOf: number | null;
  plan: null | {
    plan: PlanId;
    version: PlanVersionId;
    anchor: number;
    endsAt: number | null;
    isDefault: boolean;
  };
  next: null | {
    plan: PlanId;
    startsAt: number;
    endsAt: number | null;
    anchor: number;
    shorten: boolean;
  };
  overrides: null | OverrideTerms;
  /** In spending order, without spent grants. */
  grants: {
    pool: PoolId;
    kind: string;
    remaining: number;
    givenAt: number;
    expiresAt: number | null;
  }[];
  /** The open holds, with the credits of each item. */
  holds: { expiresAt: number; items: { quantity: number; credits: number; overage: number }[] }[];
};
