import type { ManageCall, ManageRequest } from "../../history/manage-call.ts";
import type { Stored, StoredGrant } from "../stored.ts";
import type { Violation } from "../violation.ts";

type AddedCredits = Extract<ManageRequest, { operation: "addCredits" }>;

/** Credits that were said to be added are there once, however often they were asked for, and no others. */
export function checkAddedCredits(calls: readonly ManageCall[], { grants, customers }: Stored): Violation[] {
  const violations: Violation[] = [];
  const customerIdOf = new Map(customers.map(({ number, customerId }) => [number, customerId]));
  const given = grants.filter(({ kind }) => kind !== "allowance");
  const grantsOf = Map.groupBy(given, ({ reference }) => reference);
  const asked = Map.groupBy(calls, ({ request }) =>
    request.operation === "addCredits" ? request.reference : null,
  );
  asked.delete(null);
  for (const [reference, group] of asked) {
    const request = group[0]?.request;
    if (request?.operation !== "addCredits") continue;
    const rows = grantsOf.get(reference) ?? [];
    const min = Number(group.some(({ outcome }) => outcome.kind === "done"));
    const max = Math.max(min, Number(group.some(({ outcome }) => outcome.kind === "unknown")));
    if (rows.length < min || rows.length > max) {
      const text = `${reference} is granted ${rows.length} times, where ${min} to ${max} are right`;
      violations.push({ invariant: rows.length < min ? "I1" : "I3", text });
    }
    for (const row of rows) {
      if (isSame(request, row, customerIdOf.get(row.customer))) continue;
      const text = `${reference} is ${JSON.stringify(row)} instead of ${JSON.stringify(request)}`;
      violations.push({ invariant: "I1", text });
    }
  }
  for (const { customer, number, reference, isRevoked } of grants) {
    const isKnown = reference === null || asked.has(reference);
    if (isKnown && !isRevoked) continue;
    const text = `grant ${number} of customer number ${customer}, ${reference}, was never asked for`;
    violations.push({ invariant: "I3", text: isRevoked ? `${text} to be revoked` : text });
  }
  for (const { customer, number } of grantsOf.get(null) ?? [])
    violations.push({
      invariant: "I3",
      text: `grant ${number} of customer number ${customer} has no reference`,
    });
  return violations;
}

function isSame(request: AddedCredits, row: StoredGrant, customerId: string | undefined): boolean {
  return (
    customerId === request.customerId &&
    row.kind === request.kind &&
    row.credits === request.credits &&
    row.expiresAtMs === request.expiresAtMs
  );
}
