import { type Call, claimedKey } from "../../history/call.ts";
import { findDecision, findEventId } from "../answers.ts";
import { findUuid } from "../public-uuid.ts";
import type { StoredKey } from "../stored.ts";
import type { Subject } from "../subjects.ts";
import type { Violation } from "../violation.ts";
import { sentKeysOf } from "./sent-keys.ts";

/** What was answered under a key is what the key stands for. */
export function checkKeyAnswers(
  calls: readonly Call[],
  { keys, subjects }: { keys: readonly StoredKey[]; subjects: readonly Subject[] },
): Violation[] {
  const rowOf = new Map(keys.map((row) => [row.key, row]));
  const subjectOf = new Map(subjects.map((subject) => [subject.id, subject]));
  const sent = sentKeysOf(calls);
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const { marker } = request;
    const key = claimedKey(request);
    if (key === null || outcome.kind === "info") return [];
    const row = rowOf.get(key);
    const subject = subjectOf.get(row?.subjectId ?? "") ?? null;
    if (outcome.kind === "ok") {
      const invariant = request.endpoint === "events" ? "I6" : "I1";
      if (row === undefined) return [{ invariant, text: `${marker} was acknowledged, ${key} is not stored` }];
      if (isAbout(call, row, subject)) return [];
      return [{ invariant: "I2", text: `${key} answered ${outcome.body}, and stands for ${row.subjectId}` }];
    }
    if (outcome.status !== 409) return [];
    // A 409 says that the key belongs to another request: then what that one did must be there.
    const owner = sent.findRequest(subject?.marker ?? null);
    if (owner === null || owner.marker === marker)
      return [{ invariant: "I2", text: `${marker} got 409, and ${key} belongs to nothing else` }];
    const conflict = owner.endpoint === request.endpoint ? "payload" : "endpoint";
    if (outcome.conflict === conflict) return [];
    const text = `${marker} got 409 for its ${outcome.conflict}, where ${conflict} differs from ${owner.marker}`;
    return [{ invariant: "replies", text }];
  });
}

/** A denial's answer does not name it: then the key must stand for the denial of this very request. */
function isAbout(call: Call, row: StoredKey, subject: Subject | null): boolean {
  if (call.request.endpoint === "events") return row.subjectId === findUuid("evt", findEventId(call));
  const decision = findDecision(call);
  if (decision === null) return false;
  if (decision.allowed) return row.subjectId === findUuid("con", decision.consumeId);
  return subject?.kind === "denial" && subject.marker === call.request.marker;
}
