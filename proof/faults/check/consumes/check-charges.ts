import { charge } from "../../../../service/test/model/credits.ts";
import { FEATURES, isFeatureKey } from "../../catalog.ts";
import type { Call, ConsumeRequest } from "../../history/call.ts";
import { type Decision, findDecision } from "../answers.ts";
import { findUuid } from "../public-uuid.ts";
import type { Stored, StoredEntry } from "../stored.ts";
import { chargeId } from "../subjects.ts";
import type { Violation } from "../violation.ts";

/** I1: each consume that was answered as allowed has exactly one entry, found by its id, that is what was answered. */
export function checkCharges(calls: readonly Call[], { ledger }: Stored): Violation[] {
  const entriesOf = Map.groupBy(
    ledger.filter(({ kind }) => kind === "consume"),
    chargeId,
  );
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const decision = findDecision(call);
    if (request.endpoint !== "consume" || outcome.kind !== "ok" || decision?.allowed === false) return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I1", text: `${request.marker}, acknowledged as ${outcome.body}: ${text}` },
    ];
    if (decision === null) return complain("the answer cannot be read");
    const id = findUuid("con", decision.consumeId);
    if (id === null) return complain("the answer names no consume");
    const [entry, ...others] = entriesOf.get(id) ?? [];
    if (entry === undefined) return complain("it is not in the ledger");
    if (others.length > 0) return complain(`it is in the ledger ${others.length + 1} times`);
    const differences = listDifferences(request, decision, entry);
    return differences.length === 0 ? [] : complain(`its entry has ${differences.join(", ")}`);
  });
}

function listDifferences(request: ConsumeRequest, decision: Decision, entry: StoredEntry): string[] {
  const due = isFeatureKey(request.feature) ? charge(FEATURES[request.feature], request.quantity) : 0;
  const pairs = [
    { what: "marker", is: entry.marker, shouldBe: request.marker },
    // Turned round by a subtraction, as -0 is not 0.
    { what: "credits charged", is: 0 - entry.amount, shouldBe: decision.creditsCharged },
    { what: "credits charged", is: decision.creditsCharged, shouldBe: due },
    { what: "balance", is: entry.balanceAfter, shouldBe: decision.balance },
  ];
  return pairs
    .filter(({ is, shouldBe }) => is !== shouldBe)
    .map(({ what, is, shouldBe }) => `${what} ${is} instead of ${shouldBe}`);
}
