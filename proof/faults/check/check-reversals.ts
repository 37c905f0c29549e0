import type { Call, ReverseRequest } from "../history.ts";
import type { Account } from "./accounts.ts";
import { findReversed, type ReversedItem } from "./answers.ts";
import type { StoredEntry } from "./stored.ts";
import { findUuid, isOfClient, requestIdOf } from "./subjects.ts";
import type { Invariant, Violation } from "./violation.ts";

/** A charge, and the quantity that is not reversed at the end of the run. */
type Charge = { readonly entry: StoredEntry; readonly left: number };

/**
 * Checks reversals by API key. Other checks count how often each reversal is stored. `purser verify` and the model check that no reversal
 * returns more than was charged.
 */
export function checkReversals(calls: readonly Call[], accounts: readonly Account[]): Violation[] {
  const charges = accounts.flatMap(({ entries }) => listCharges(entries));
  const chargesOf = Map.groupBy(charges, ({ entry }) => requestIdOf(entry));
  const entries = accounts.flatMap((account) => account.entries.filter(isOfClient));
  const entriesOf = Map.groupBy(entries, ({ marker }) => marker);
  const sent = calls.flatMap(({ request, ...call }): ReverseCall[] =>
    request.endpoint === "reverse" ? [{ ...call, request }] : [],
  );
  const requestOf = new Map(sent.map(({ request }) => [request.marker, request]));
  const chargedBy = ({ consumeId }: ReverseRequest): readonly Charge[] =>
    chargesOf.get(findUuid("con", consumeId) ?? "") ?? [];
  return [
    ...sent.flatMap((call) =>
      checkReply(call, chargedBy(call.request), entriesOf.get(call.request.marker) ?? []),
    ),
    ...[...requestOf].flatMap(([marker, request]) =>
      checkEntries(request, chargedBy(request), entriesOf.get(marker) ?? []),
    ),
  ];
}

type ReverseCall = Call & { readonly request: ReverseRequest };

function listCharges(entries: readonly StoredEntry[]): Charge[] {
  const reversed = new Map<number | null, number>();
  for (const { kind, reverses, quantity } of entries)
    if (kind === "reverse") reversed.set(reverses, (reversed.get(reverses) ?? 0) + (quantity ?? 0));
  return entries
    .filter(({ kind }) => kind === "consume")
    .map((entry) => ({ entry, left: (entry.quantity ?? 0) - (reversed.get(entry.sequence) ?? 0) }));
}

/** I1: an acknowledged reversal is in the ledger with the values of its response. For a rejected reversal, too little was left to reverse. */
function checkReply(
  { request, ...call }: ReverseCall,
  charges: readonly Charge[],
  entries: readonly StoredEntry[],
): Violation[] {
  const { outcome } = call;
  const complain = (text: string): Violation[] => {
    const name = `${request.marker} for ${request.consumeId} got ${JSON.stringify(outcome)}`;
    return [{ invariant: "I1", text: `${name}, but ${text}` }];
  };
  const reversed = findReversed({ request, ...call });
  if (reversed !== null) {
    const found = entries.map(describeEntry).toSorted().join(" and ");
    const expected = reversed.items.map(describeItem).toSorted().join(" and ");
    return found === expected ? [] : complain(`its entries return ${found || "nothing"}`);
  }
  if (outcome.kind !== "fail" || outcome.code !== "nothing_to_reverse") return [];
  if (charges.length === 0) return complain("its charge is not in the ledger");
  const feature = request.quantity === null ? null : request.feature;
  const left = charges
    .filter(({ entry }) => feature === null || entry.feature === feature)
    .reduce((sum, charge) => sum + charge.left, 0);
  return left < (request.quantity ?? 1) ? [] : complain(`${left} can still be reversed`);
}

function describeItem({ quantity, feature, creditsReturned, overageCredits }: ReversedItem): string {
  return `${creditsReturned} + ${overageCredits} for ${quantity} ${feature}`;
}

function describeEntry({ quantity, feature, amount, overage }: StoredEntry): string {
  return `${amount} + ${overage} for ${quantity} ${feature}`;
}

/** All entries of a reversal, acknowledged or not, belong to the charge in its request. A whole reversal leaves nothing to reverse. */
function checkEntries(
  request: ReverseRequest,
  charges: readonly Charge[],
  entries: readonly StoredEntry[],
): Violation[] {
  const complain = (invariant: Invariant, text: string): Violation[] => [
    { invariant, text: `${request.marker} for ${request.consumeId} ${text}` },
  ];
  const isOwn = ({ customer, reverses }: StoredEntry): boolean =>
    charges.some(({ entry }) => entry.customer === customer && entry.sequence === reverses);
  if (!entries.every(isOwn)) return complain("I1", "reversed another charge");
  if (entries.length === 0) return [];
  if (request.quantity !== null)
    return entries.length === 1 ? [] : complain("I2", `has ${entries.length} entries`);
  const open = charges.find(({ left }) => left > 0);
  return open === undefined ? [] : complain("I1", `left ${open.left} ${open.entry.feature}`);
}
