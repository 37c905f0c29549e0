export type GrantKind = "allowance" | "purchase" | "manual" | "promotion";
export type EntryKind = "grant" | "consume" | "expire" | "revoke" | "reverse";

/** Display names of grant kinds. */
export const GRANT_NAMES = {
  allowance: "Plan credits",
  purchase: "Purchase",
  manual: "Goodwill",
  promotion: "Promotion",
} as const satisfies Record<GrantKind, string>;

/** Most common first. For the API, plan credits and top-ups are both grants. */
export const ENTRY_NAMES = {
  consume: "Charge",
  grant: "Top-up",
  reverse: "Reversal",
  expire: "Expiry",
  revoke: "Revocation",
} as const satisfies Record<EntryKind, string>;

/** Names in the kind filter, where plan credits and top-ups are one option. */
export const ENTRY_FILTER_NAMES = {
  consume: "Charges",
  grant: "Top-ups and plan credits",
  reverse: "Reversals",
  expire: "Expiries",
  revoke: "Revocations",
} as const satisfies Record<EntryKind, string>;

/** Display name of an entry. `given` is the kind of grant that the entry moved, if known. */
export function describeEntry(kind: EntryKind, given: GrantKind | null): string {
  return kind === "grant" && given === "allowance" ? GRANT_NAMES.allowance : ENTRY_NAMES[kind];
}

export type GrantState = "open" | "held" | "spent" | "ended" | "expired" | "revoked" | "moved";

export const GRANT_STATE_NAMES = {
  open: "Open",
  held: "Held",
  spent: "Spent",
  ended: "Ended with the plan",
  expired: "Expired",
  revoked: "Revoked",
  moved: "Moved",
} as const satisfies Record<GrantState, string>;

/** Spending order; the API applies the same rule. */
export const BURN_ORDER = "Credits that expire first are spent first.";

/** "Possible duplicate, 3 s after the previous one". */
export function describeDuplicate(gapMs: number): string {
  const seconds = Math.round(gapMs / 1_000);
  const gap = seconds < 90 ? `${Math.max(1, seconds)} s` : `${Math.round(seconds / 60)} min`;
  return `Possible duplicate, ${gap} after the previous one`;
}
