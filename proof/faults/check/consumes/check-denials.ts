import type { Call } from "../../history/call.ts";
import { findDecision } from "../answers.ts";
import type { Stored, StoredDenial } from "../stored.ts";
import type { Violation } from "../violation.ts";

/** Each denial that was answered is stored as it was answered, once, and charged nothing. */
export function checkDenials(calls: readonly Call[], { denials, ledger, customers }: Stored): Violation[] {
  const denialsOf = Map.groupBy(denials, ({ marker }) => marker);
  const charged = new Set(ledger.map(({ marker }) => marker));
  const customerIdOf = new Map(customers.map(({ number, customerId }) => [number, customerId]));
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const decision = findDecision(call);
    if (request.endpoint !== "consume" || outcome.kind !== "ok" || decision?.allowed !== false) return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I4", text: `${request.marker}, denied as ${outcome.body}: ${text}` },
    ];
    if (charged.has(request.marker)) return complain("it was charged all the same");
    const [denial, ...others] = denialsOf.get(request.marker) ?? [];
    if (denial === undefined || others.length > 0)
      return complain(`it is stored ${denial === undefined ? 0 : others.length + 1} times`);
    const { balance, creditsRequired, feature, quantity, reason } = decision;
    const customerId = customerIdOf.get(denial.customer);
    const isSame =
      isEqual(denial, { balance, creditsRequired, feature, quantity, reason }) &&
      customerId === request.customerId;
    return isSame ? [] : complain(`it is stored as ${JSON.stringify(denial)} of ${customerId}`);
  });
}

function isEqual(
  denial: StoredDenial,
  answer: Record<"balance" | "creditsRequired" | "feature" | "quantity" | "reason", unknown>,
): boolean {
  return Object.entries(answer).every(
    ([field, value]) => Object.entries(denial).find(([name]) => name === field)?.[1] === value,
  );
}
