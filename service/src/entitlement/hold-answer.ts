import type { Instant } from "../primitives/brand.ts";
import { formatTimestamp } from "../primitives/timestamp.ts";
import { type Catalog, getFeatureKey, getPool } from "./catalog.ts";
import type { Reason } from "./decide.ts";
import type { HoldChangeKind } from "./entry.ts";
import { isOpenAt, type SettledItem } from "./hold.ts";
import { sumOf } from "./part-lists.ts";
import { balanceOf, type Hold, type Wallet } from "./wallet.ts";

/** A hold's status, derived from its last change. An extended or partly revoked hold is also `open`. */
export type HoldStatus = "open" | "settled" | "released" | "expired" | "charged";

/** How a hold ended, as shown in responses. */
export type Closing = {
  readonly status: HoldStatus;
  readonly late: boolean;
  readonly creditsCharged: number;
  readonly creditsReleased: number;
  readonly overageCredits: number;
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  readonly items: readonly ClosedItem[];
  readonly consumeId: string | null;
};

type ClosedItem = {
  readonly feature: string;
  readonly quantity: number;
  readonly creditsRequired: number;
  readonly creditsCharged: number;
  readonly overageCredits: number;
  readonly creditsBeyondHold: number;
  readonly creditsUncovered: number;
  readonly pool: string;
  readonly balance: number;
};

type Closed = {
  readonly status: "settled" | "released";
  readonly hold: Hold;
  readonly items: readonly SettledItem[];
  readonly isLate: boolean;
  /** The wallet after the change. */
  readonly wallet: Wallet;
  readonly consumeId: string | null;
};

/** Describes a hold that a request has ended. */
export function describeClosing(catalog: Catalog, closed: Closed): Closing {
  const { status, hold, isLate, wallet, consumeId } = closed;
  const items = closed.items.map((settled): ClosedItem => {
    const { item, quantity, creditsRequired, creditsCharged, overageCredits } = settled;
    const { creditsBeyondHold, creditsUncovered } = settled;
    return {
      feature: getFeatureKey(catalog, item.feature),
      ...{ quantity, creditsRequired, creditsCharged, overageCredits, creditsBeyondHold, creditsUncovered },
      pool: getPool(catalog, item.pool).key,
      balance: balanceOf(wallet, item.pool),
    };
  });
  // The price of 20 items may exceed 53 bits. Held and charged credits cannot, because balances cannot.
  const sum = (of: (item: ClosedItem) => number): number =>
    items.reduce((total, item) => Math.min(Number.MAX_SAFE_INTEGER, total + of(item)), 0);
  const held = isLate ? 0 : creditsIn(hold);
  const fromHold = closed.items.reduce((total, { creditsFromHold }) => total + creditsFromHold, 0);
  return {
    ...{ status, late: isLate },
    creditsCharged: sum((item) => item.creditsCharged),
    creditsReleased: held - fromHold,
    overageCredits: sum((item) => item.overageCredits),
    creditsBeyondHold: sum((item) => item.creditsBeyondHold),
    creditsUncovered: sum((item) => item.creditsUncovered),
    ...{ items, consumeId },
  };
}

type Extended = {
  /** Null if the extension is allowed. */
  readonly denial: { readonly reason: Reason; readonly affordableQuantity: number } | null;
  /** The hold after the request. */
  readonly hold: Hold;
  readonly wallet: Wallet;
};

/** Describes a hold after a request to extend it. */
export function describeExtension(catalog: Catalog, { denial, hold, wallet }: Extended) {
  const [item] = hold.items;
  return {
    allowed: denial === null,
    reason: denial?.reason ?? null,
    ...(denial === null ? {} : { affordableQuantity: denial.affordableQuantity }),
    feature: item === undefined ? null : getFeatureKey(catalog, item.feature),
    quantity: item?.quantity ?? 0,
    creditsHeld: creditsIn(hold),
    overageCredits: overageIn(hold),
    balance: item === undefined ? 0 : balanceOf(wallet, item.pool),
    expiresAt: formatTimestamp(hold.expiresAt),
  };
}

/** The credits that a hold has set aside, or had when it ended. */
export function creditsIn({ items }: Hold): number {
  return items.reduce((total, { parts }) => total + sumOf(parts), 0);
}

/** The overage that a hold has set aside, or had when it ended. */
export function overageIn({ items }: Hold): number {
  return items.reduce((total, { overage }) => total + sumOf(overage), 0);
}

/** The status of a hold at `now`. A hold that is past its expiry has ended, even if its end is not written yet. */
export function statusOf(kind: HoldChangeKind, hold: Hold, now: Instant): HoldStatus {
  switch (kind) {
    case "opened":
    case "extended":
    case "revoked":
      if (isOpenAt(hold, now)) return "open";
      return hold.onExpiry === "charge" ? "charged" : "expired";
    default:
      return kind;
  }
}
