import { Problem } from "./problem.ts";

type Refusal = { readonly kind: "nothing_left" | "balance_too_large" } | TooMuch;
type TooMuch = { readonly kind: "too_much"; readonly reversible: number };

export const BALANCE_TOO_LARGE = "The balance would exceed the largest supported number.";

/** Builds the problem for a charge that cannot be reversed. Used by the runtime and management APIs. */
export function reversalProblem(refusal: Refusal): Problem {
  if (refusal.kind === "balance_too_large")
    return new Problem("balance_too_large", { detail: BALANCE_TOO_LARGE });
  const reversible = refusal.kind === "too_much" ? refusal.reversible : 0;
  const detail =
    reversible === 0
      ? "This charge is already fully reversed."
      : `At most ${reversible} of this charge's quantity can still be reversed.`;
  return new Problem("nothing_to_reverse", { detail, extra: { reversible } });
}
