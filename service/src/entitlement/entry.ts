import type { FeatureId, FeatureKey, Instant, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";
import type { OpenTopUp } from "./alerts.ts";
import type { NoticeType } from "./catalog.ts";
import type { GrantKind, Hold, OveragePart, Overrides, Wallet } from "./wallet.ts";

/**
 * `grant` and `reverse` add credits; `expire`, `revoke` and `consume` subtract credits. A `consume` entry at cost 0 does not move credits.
 */
export type EntryKind = "grant" | "consume" | "expire" | "revoke" | "reverse";

/** One grant's share of an entry's amount, with the same sign. The amount is the sum of its parts. */
export type Part = { readonly grant: number; readonly amount: number };

/** One immutable change to a wallet. The balance is the sum of all amounts. */
export type Entry = {
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly pool: PoolId;
  readonly amount: number;
  /** The pool's balance after this entry. */
  readonly balanceAfter: number;
  readonly effectiveAt: Instant;
  readonly parts: readonly Part[];
  /** Set for charges and reversals. */
  readonly usage: Usage | null;
  /**
   * The hold that caused the entry when it ended: to charge the customer, or to remove credits that could not be returned. For a reversal,
   * the hold of the reversed charge.
   */
  readonly hold: number | null;
};

export type Usage = {
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly planVersion: PlanVersionId;
  readonly assignment: number;
  /** Identifies the customer's overrides that change the feature. Null if none do. */
  readonly overrides: number | null;
  /** The sequence of the reversed charge. Set only for a reversal. */
  readonly reverses: number | null;
  /** Set for a charge that is one of several in a request, and for its reversals. */
  readonly place: ItemPlace | null;
  /**
   * The part of the price that neither credits nor overage covered. For a reversal, the part that it undoes. 0 unless the charge settles a
   * hold.
   */
  readonly uncovered: number;
  /** The part of the price charged as overage, to be invoiced later. For a reversal, the part that it undoes. */
  readonly overage: readonly OveragePart[];
};

/** The position of a charge among the consecutive charges of one request. The sequence of the first charge identifies the request. */
export type ItemPlace = { readonly index: number; readonly of: number };

/** A grant created by this change. */
export type NewGrant = {
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  readonly effectiveAt: Instant;
  /** The open grant with the same kind and expiry that the credits were added to. */
  readonly mergedInto: number | null;
};

export type AssignmentChangeKind =
  | "started"
  | "resumed"
  | "extended"
  | "version_changed"
  | "ended"
  | "shortened"
  | "scheduled"
  | "unscheduled";

/** One line of a customer's plan history. A `scheduled` line is effective at the start of the plan, which may be in the future. */
export type AssignmentChange = {
  readonly kind: AssignmentChangeKind;
  readonly assignment: number;
  readonly plan: PlanId;
  readonly planVersion: PlanVersionId;
  readonly anchor: Instant;
  readonly endsAt: Instant | null;
  readonly isDefault: boolean;
  readonly effectiveAt: Instant;
};

/** Overrides set by this change. Empty terms only end the earlier overrides. */
export type NewOverrides = Overrides & { readonly effectiveAt: Instant };

/**
 * - `revoked`: some credits of the hold were revoked. The hold remains open.
 * - `expired`, `charged`: the hold expired, and its credits were released or charged.
 */
export type HoldChangeKind =
  | "opened"
  | "extended"
  | "revoked"
  | "settled"
  | "released"
  | "expired"
  | "charged";

/** A change to a hold. A hold whose expiry has passed has ended, even before the change is written. */
export type HoldChange = {
  /** Numbered within the wallet, without gaps. */
  readonly number: number;
  readonly kind: HoldChangeKind;
  /** The hold after the change. */
  readonly hold: Hold;
  /** The sequence of the wallet's last ledger entry after the change. */
  readonly sequence: number;
  readonly effectiveAt: Instant;
};

/** A message to webhooks about a change. Names pools, plans and features by their keys, which never change. */
export type Notice = { readonly effectiveAt: Instant } & NoticeDetails;

/** Only the parts that an ID is made of. */
type NoticedHold = Pick<Hold, "number" | "openedAt">;
type NoticedTopUp = Pick<OpenTopUp, "number" | "requestedAt">;

export type NoticeDetails =
  | {
      readonly type: "balance.low";
      readonly pool: string;
      readonly threshold: number;
      readonly balance: number;
    }
  | { readonly type: "balance.depleted"; readonly pool: string; readonly balance: number }
  | { readonly type: "overage.started"; readonly pool: string }
  | {
      readonly type: "limit.reached";
      readonly feature: FeatureKey;
      readonly limit: number;
      readonly resetsAt: Instant | null;
    }
  | { readonly type: "plan.changed"; readonly plan: string; readonly previousPlan: string | null }
  | { readonly type: "plan.ended"; readonly plan: string }
  | { readonly type: "hold.expired"; readonly hold: NoticedHold; readonly charged: boolean }
  | {
      readonly type: "hold.uncovered";
      readonly hold: NoticedHold;
      readonly feature: FeatureKey;
      readonly credits: number;
    }
  | {
      readonly type: "topup.due";
      readonly pool: string;
      readonly below: number;
      readonly balance: number;
      readonly credits: number;
      readonly topUp: NoticedTopUp;
      readonly attempt: number;
    };

({}) satisfies Record<Exclude<NoticeType, NoticeDetails["type"]>, never>;

/** Everything a decision changes. The caller writes it unmodified, in one transaction. */
export type Change = {
  readonly wallet: Wallet;
  readonly entries: readonly Entry[];
  readonly grants: readonly NewGrant[];
  readonly assignments: readonly AssignmentChange[];
  readonly overrides: readonly NewOverrides[];
  readonly holds: readonly HoldChange[];
  readonly notices: readonly Notice[];
  /** When a job must bring the customer up to date if no request does. Null if this change does not move that time. */
  readonly due: { readonly at: Instant | null } | null;
};
