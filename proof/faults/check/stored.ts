import type { AssignmentChangeKind, HoldChangeKind } from "../../../service/src/entitlement/entry.ts";
import type { Item } from "../history.ts";

/** All rows of the tables that a run uses, from one snapshot. Times are milliseconds since 1970. */
export type Stored = {
  readonly events: readonly StoredEvent[];
  readonly keys: readonly StoredKey[];
  readonly customers: readonly StoredCustomer[];
  readonly wallets: readonly StoredWallet[];
  readonly grants: readonly StoredGrant[];
  readonly ledger: readonly StoredEntry[];
  readonly denials: readonly StoredDenial[];
  readonly holdChanges: readonly StoredHoldChange[];
  readonly assignments: readonly StoredAssignment[];
  readonly pools: readonly StoredName[];
  readonly features: readonly (StoredName & { readonly pool: number })[];
  readonly plans: readonly StoredName[];
  readonly planVersions: readonly { readonly id: number; readonly plan: number }[];
};

export type StoredEvent = {
  readonly id: string;
  /** The marker in the metadata. Null if no client of this run sent the request. */
  readonly marker: string | null;
  /** Null if the customer does not exist. */
  readonly customerId: string | null;
  readonly event: string;
  readonly quantity: number;
  readonly featureId: number | null;
};

export type StoredKey = {
  readonly key: string;
  readonly keyHash: string;
  readonly endpoint: number;
  readonly subjectId: string;
};

export type StoredCustomer = { readonly number: number; readonly customerId: string };

/** Here and below, `customer` is the customer's number. */
export type StoredWallet = {
  readonly customer: number;
  readonly sequence: number;
  readonly decidedAtMs: number;
  readonly balance: number;
  readonly state: string;
};

export type StoredGrant = {
  readonly customer: number;
  readonly number: number;
  readonly pool: number;
  readonly kind: "allowance" | "purchase" | "manual" | "promotion";
  readonly credits: number;
  readonly expiresAtMs: number | null;
  readonly mergedInto: number | null;
  readonly isRevoked: boolean;
  readonly reference: string | null;
};

export type EntryKind = "grant" | "consume" | "expire" | "revoke" | "reverse";

export type StoredEntry = {
  readonly customer: number;
  readonly sequence: number;
  readonly recordedAtMs: number;
  readonly effectiveAtMs: number;
  readonly kind: EntryKind;
  readonly pool: number;
  readonly amount: number;
  readonly balanceAfter: number;
  /** `grant:amount,…`, as stored. */
  readonly parts: string;
  /** The feature's key. */
  readonly feature: string | null;
  readonly quantity: number | null;
  readonly planVersion: number | null;
  readonly assignment: number | null;
  readonly reverses: number | null;
  /** `item` is the charge's index in its request, and `items` the number of charges. Null for a request with a single charge. */
  readonly item: number | null;
  readonly items: number | null;
  /** The number of the hold if the hold's end wrote the entry, or if the entry reverses a charge of the hold. */
  readonly hold: number | null;
  /** The part of the price that neither credits nor overage covered. */
  readonly uncovered: number;
  /** The part of the price that was charged as overage. `overageParts` lists the grants that count it, in the format of `parts`. */
  readonly overage: number;
  readonly overageParts: string;
  readonly keyHash: string | null;
  readonly marker: string | null;
};

/** One change of a hold. The last change has the current state. */
export type StoredHoldChange = {
  readonly customer: number;
  /** The change's number in the customer's wallet. */
  readonly number: number;
  /** The hold's number in the customer's wallet. */
  readonly hold: number;
  readonly kind: HoldChangeKind;
  /** The sequence of the wallet's last entry after the change. */
  readonly sequence: number;
  readonly recordedAtMs: number;
  readonly effectiveAtMs: number;
  readonly openedAtMs: number;
  readonly expiresAtMs: number;
  /** Terms, items and held credits as JSON. */
  readonly state: string;
  readonly keyHash: string | null;
  readonly memberId: string | null;
  /** From the metadata of the request that opened or settled the hold. Other requests have no metadata. */
  readonly marker: string | null;
  /** The response to the request that ended the hold, without its ID and customer. */
  readonly answer: string | null;
};

export type StoredDenial = {
  readonly id: string;
  readonly customer: number;
  readonly recordedAtMs: number;
  /** The wallet's sequence when it was decided. */
  readonly sequence: number;
  readonly reason: string;
  readonly feature: string | null;
  readonly quantity: number;
  /** The index of the denied item, and all items as JSON. Null for a request without items. */
  readonly item: number | null;
  readonly items: string | null;
  /** Credits that the denied item needs from its pool, with the items before it. */
  readonly creditsRequired: number;
  readonly balance: number;
  readonly limitQuantity: number | null;
  readonly limitUsed: number | null;
  readonly planVersion: number | null;
  readonly keyHash: string;
  readonly marker: string | null;
};

/** The items of a request as a denial stores them, such as `[["images.render",1],["tokens.generate",300]]`. */
export function packItems(items: readonly Item[]): string {
  return JSON.stringify(items.map(({ feature, quantity }) => [feature, quantity]));
}

/** One change in a customer's plan history. */
export type StoredAssignment = {
  readonly customer: number;
  readonly recordedAtMs: number;
  readonly kind: AssignmentChangeKind;
  readonly plan: number;
  readonly anchorMs: number;
  readonly effectiveAtMs: number;
  readonly isDefault: boolean;
};

export type StoredName = { readonly id: number; readonly key: string };

export function customerIdsOf({ customers }: Stored): ReadonlyMap<number, string> {
  return new Map(customers.map(({ number, customerId }) => [number, customerId]));
}
