import type { FeatureId, Instant, PlanId, PlanVersionId, PoolId } from "../primitives/brand.ts";
import type { GrantKind, Wallet } from "./wallet.ts";

/** `grant` and `reverse` add; `expire` and `revoke` take; `consume` takes, or takes nothing where the cost is 0. */
export type EntryKind = "grant" | "consume" | "expire" | "revoke" | "reverse";

/** How much of an entry's amount each grant gave or took: signed like the amount, which is their sum. */
export type Part = { readonly grant: number; readonly amount: number };

/** One immutable change of a wallet. The sum of them is the balance. */
export type Entry = {
  readonly sequence: number;
  readonly kind: EntryKind;
  readonly pool: PoolId;
  readonly amount: number;
  /** Of the pool, after this entry. */
  readonly balanceAfter: number;
  readonly effectiveAt: Instant;
  readonly parts: readonly Part[];
  /** Of a consume or its reversal; null otherwise. */
  readonly usage: Usage | null;
};

export type Usage = {
  readonly feature: FeatureId;
  readonly quantity: number;
  readonly planVersion: PlanVersionId;
  readonly assignment: number;
  /** Of a reversal: the consume's sequence. */
  readonly reverses: number | null;
};

/** A grant that is new in this change, as it is told to people. */
export type NewGrant = {
  readonly number: number;
  readonly pool: PoolId;
  readonly kind: GrantKind;
  readonly credits: number;
  readonly expiresAt: Instant | null;
  readonly effectiveAt: Instant;
  /** The open grant of the same kind and expiry that it was added to. */
  readonly mergedInto: number | null;
};

export type AssignmentChangeKind =
  | "started"
  | "resumed"
  | "extended"
  | "version_changed"
  | "ended"
  | "shortened";

/** One line of a customer's plan history. */
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

/** What a decision does to a wallet, to be written as it is and all at once. */
export type Change = {
  readonly wallet: Wallet;
  readonly entries: readonly Entry[];
  readonly grants: readonly NewGrant[];
  readonly assignments: readonly AssignmentChange[];
};
