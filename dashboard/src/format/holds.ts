import { formatCount } from "./numbers.ts";
import { formatCharge } from "./overage.ts";

export type HoldStatus = "open" | "settled" | "released" | "expired" | "charged";

export const HOLD_STATUS_NAMES = {
  open: "Open",
  settled: "Settled",
  released: "Released",
  expired: "Expired",
  charged: "Charged on expiry",
} as const satisfies Record<HoldStatus, string>;

/** Describes the effect of a hold's expiry on its credits. */
export const ON_EXPIRY_NAMES = { release: "Released", charge: "Charged in full" } as const;

/** Held credits are not part of the balance: "20 more are held". */
export function describeHeld(held: number): string {
  return `${formatCount(held)} more ${held === 1 ? "is" : "are"} held`;
}

type Opened = {
  readonly creditsHeld: number;
  readonly items: readonly HeldItem[];
};

type HeldItem = { readonly feature: string; readonly quantity: number; readonly overageCredits: number };

/** The overage that an open hold sets aside, or that an ended hold had set aside. */
export function overageHeldIn({
  items,
}: {
  readonly items: readonly Pick<HeldItem, "overageCredits">[];
}): number {
  return items.reduce((sum, { overageCredits }) => sum + overageCredits, 0);
}

/** "Set aside 20 credits for ada (2,000 × chat.tokens)." */
export function describeOpening({ creditsHeld, items }: Opened, customer: string): string {
  const [first] = items;
  const held = formatCharge({ credits: creditsHeld, overage: overageHeldIn({ items }) });
  const what =
    items.length === 1 && first !== undefined
      ? `${formatCount(first.quantity)} × ${first.feature}`
      : `${items.length} items`;
  return `Set aside ${held} for ${customer} (${what}).`;
}

type Ended = {
  readonly status: HoldStatus;
  readonly late: boolean;
  readonly creditsCharged: number;
  readonly creditsReleased: number;
  /** The part charged as overage or, in an open hold, held as overage. */
  readonly overageCredits: number;
  readonly creditsUncovered: number;
};

/** "Settled: 8 credits charged, 12 released, 5 not covered." */
export function describeResult({
  status,
  late,
  creditsCharged,
  creditsReleased,
  overageCredits,
  creditsUncovered,
}: Ended): string {
  const charged = formatCharge({ credits: creditsCharged, overage: overageCredits });
  switch (status) {
    case "open":
      return "The hold is open.";
    case "released":
      return "Released. Nothing was charged.";
    case "expired":
      return "Expired without being settled. Nothing was charged.";
    case "charged":
      return `Expired without being settled: ${charged} charged.`;
    case "settled": {
      const released = creditsReleased === 0 ? "" : `, ${formatCount(creditsReleased)} released`;
      const uncovered = creditsUncovered === 0 ? "" : `, ${formatCount(creditsUncovered)} not covered`;
      return `Settled${late ? " after it expired" : ""}: ${charged} charged${released}${uncovered}.`;
    }
  }
}
