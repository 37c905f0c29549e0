import { countOf, formatCount } from "./numbers.ts";
import { describeReason } from "./reason-words.ts";

type Story = {
  readonly customerId: string | null;
  readonly charge: { readonly feature: string; readonly quantity: number; readonly credits: number } | null;
  readonly denial: {
    readonly feature: string;
    readonly quantity: number;
    readonly reason: string | null;
  } | null;
  readonly event: { readonly event: string; readonly quantity: number } | null;
};

/** What a key did, in one sentence. */
export function whatKeyDid({ customerId, charge, denial, event }: Story): string {
  const who = customerId ?? "a customer who was erased since";
  if (charge !== null)
    return `Charged ${who} ${countOf(charge.credits, "credit")} for ${formatCount(charge.quantity)} of ${charge.feature}.`;
  if (denial !== null)
    return `Denied ${who} ${formatCount(denial.quantity)} of ${denial.feature}: ${describeReason(denial.reason ?? "").toLowerCase()}.`;
  if (event !== null) return `Recorded ${formatCount(event.quantity)} of ${event.event} for ${who}.`;
  return "An answer is kept under it, and lies before the history that this workspace shows.";
}

type Use = { readonly isReplay: boolean; readonly refused: object | null; readonly code: string | null };

/** "1 answered, 31 replays, 1 refused". */
export function countUses(uses: readonly Use[]): string {
  const refused = uses.filter(({ code }) => code === "idempotency_key_reused").length;
  const replays = uses.filter(({ isReplay }) => isReplay).length;
  const failed = uses.filter(({ code }) => code !== null && code !== "idempotency_key_reused").length;
  const answered = uses.length - refused - replays - failed;
  return [
    ...(answered === 0 ? [] : [`${formatCount(answered)} answered`]),
    ...(replays === 0 ? [] : [countOf(replays, "replay")]),
    ...(refused === 0 ? [] : [`${formatCount(refused)} refused as another request`]),
    ...(failed === 0 ? [] : [countOf(failed, "error")]),
  ].join(", ");
}
