export type GrantKind = "allowance" | "purchase" | "manual" | "promotion";
export type EntryKind = "grant" | "consume" | "expire" | "revoke" | "reverse";

/** What people call a kind of credits. */
export const GRANT_WORDS = {
  allowance: "Plan credits",
  purchase: "Purchase",
  manual: "Manual top-up",
  promotion: "Promotion",
} as const satisfies Record<GrantKind, string>;

/** In the order people look for them. What plans give and what people give are one kind to the API. */
export const ENTRY_WORDS = {
  consume: "Charge",
  grant: "Top-up",
  reverse: "Reversal",
  expire: "Expired",
  revoke: "Revoked",
} as const satisfies Record<EntryKind, string>;

/** The filter's words, where plan credits and top-ups stand together. */
export const ENTRY_FILTER_WORDS = {
  consume: "Charges",
  grant: "Top-ups and plan credits",
  reverse: "Reversals",
  expire: "Expired",
  revoke: "Revoked",
} as const satisfies Record<EntryKind, string>;

/** What people call an entry; `given` is the kind of the credits that it moved, if that is known. */
export function describeEntry(kind: EntryKind, given: GrantKind | null): string {
  return kind === "grant" && given === "allowance" ? GRANT_WORDS.allowance : ENTRY_WORDS[kind];
}

export type GrantState = "open" | "spent" | "ended" | "expired" | "revoked";

export const GRANT_STATE_WORDS = {
  open: "Open",
  spent: "Spent",
  ended: "Ended with its plan",
  expired: "Expired",
  revoked: "Revoked",
} as const satisfies Record<GrantState, string>;

/** Which credits go first: the API decides by the same rule. */
export const BURN_ORDER =
  "What expires soonest is spent first, and what never expires last; of two alike, given before bought, then the older.";

/** "Looks like the one 3 s before". */
export function describeTwin(gapMs: number): string {
  const seconds = Math.round(gapMs / 1_000);
  const gap = seconds < 1 ? "just" : seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `Looks like the one ${gap} before`;
}
