import { type Call, claimedKey } from "../../history/call.ts";
import type { Violation } from "../violation.ts";

/** I2, from what clients saw alone: one outcome per key, and every 200 under it the same bytes. */
export function checkKeys(calls: readonly Call[]): Violation[] {
  const violations: Violation[] = [];
  for (const [key, sent] of Map.groupBy(calls, ({ request }) => claimedKey(request))) {
    if (key === null) continue;
    const complain = (text: string): void => {
      violations.push({ invariant: "I2", text: `${key}: ${text}` });
    };
    const answers = sent.flatMap(({ request, outcome }) =>
      outcome.kind === "ok" ? [{ ...outcome, marker: request.marker }] : [],
    );
    const bodies = new Set(answers.map(({ body }) => body));
    if (bodies.size > 1) complain(`different answers: ${[...bodies].join(" and ")}`);
    const markers = new Set(answers.map(({ marker }) => marker));
    if (markers.size > 1) complain(`two payloads accepted: ${[...markers].join(" and ")}`);
    if (answers.filter(({ isReplay }) => !isReplay).length > 1) complain("two answers claim to be the first");
  }
  return violations;
}
