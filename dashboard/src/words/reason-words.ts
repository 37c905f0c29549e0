/** Why something was denied, in a few words: "Not enough credits". */
export function describeReason(reason: string): string {
  return REASONS.get(reason) ?? asWords(reason);
}

const REASONS = new Map([
  ["customer_blocked", "The customer is blocked"],
  ["customer_not_found", "Nobody knew the customer"],
  ["no_active_plan", "No active plan"],
  ["feature_not_in_plan", "Not part of the plan"],
  ["limit_reached", "The limit is used up"],
  ["insufficient_credits", "Not enough credits"],
]);

/** A later release may know more reasons than this one: "seat_missing" is still "Seat missing". */
function asWords(reason: string): string {
  const words = reason.replaceAll("_", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
