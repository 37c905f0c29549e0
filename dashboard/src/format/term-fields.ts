// Options and bounds of form fields for terms, as in the API.

export type OverageKind = "none" | "limited" | "unlimited";

export const OVERAGES = [
  { value: "none", label: "None" },
  { value: "limited", label: "Up to a limit" },
  { value: "unlimited", label: "Unlimited" },
] as const satisfies readonly { value: OverageKind; label: string }[];

export const LIMITS = [
  { value: "none", label: "No limit" },
  { value: "day", label: "Per day" },
  { value: "week", label: "Per week" },
  { value: "month", label: "Per month" },
  { value: "year", label: "Per year" },
  { value: "once", label: "In total" },
];

export const CREDITS_MAX = 1_000_000_000_000;
export const QUANTITY_MAX = Number.MAX_SAFE_INTEGER;

/** Bounds of a cost: credits for a number of units. */
export const PRICE_MAX = 1_000_000_000;
export const PER_MAX = 1_000_000;

/** Validator for whole numbers. Returns the error, or undefined if valid. */
export function wholeNumber(least: number, most: number) {
  return (value: number): string | undefined => {
    if (!Number.isInteger(value)) return "Enter a whole number.";
    if (value < least) return `Enter ${least.toLocaleString("en-US")} or more.`;
    return value > most ? `Enter ${most.toLocaleString("en-US")} or less.` : undefined;
  };
}
