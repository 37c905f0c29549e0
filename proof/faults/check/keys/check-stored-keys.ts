import type { Call } from "../../history/call.ts";
import type { StoredKey } from "../stored.ts";
import type { Subject } from "../subjects.ts";
import type { Invariant, Violation } from "../violation.ts";
import { type SentKeys, sentKeysOf } from "./sent-keys.ts";

const ENDPOINT_NUMBER = { consume: 2, events: 3 } as const;

/** A key and what it stands for are stored together or not at all, and point to each other. */
export function checkStoredKeys(
  calls: readonly Call[],
  { keys, subjects }: { keys: readonly StoredKey[]; subjects: readonly Subject[] },
): Violation[] {
  const sent = sentKeysOf(calls);
  const subjectOf = new Map(subjects.map((subject) => [subject.id, subject]));
  const rowOf = new Map(keys.map((row) => [row.key, row]));
  return [
    ...keys.flatMap((row) => checkRow(row, subjectOf.get(row.subjectId) ?? null, sent)),
    ...subjects.flatMap((subject) => checkSubject(subject, rowOf, sent)),
    ...checkSingle(subjects, sent),
    ...[...Map.groupBy(keys, ({ key }) => key)].flatMap(([key, rows]): Violation[] =>
      rows.length === 1 ? [] : [{ invariant: "I2", text: `${key} is stored ${rows.length} times` }],
    ),
  ];
}

function checkRow(row: StoredKey, subject: Subject | null, sent: SentKeys): Violation[] {
  const { key, subjectId } = row;
  if (sent.isOnlyCarried(key))
    return [{ invariant: "I7", text: `${key} is stored, and only a check had it` }];
  if (!sent.isClaimed(key)) return [{ invariant: "I3", text: `${key} is stored, and was never sent` }];
  if (row.keyHash !== sent.hashOf(key))
    return [{ invariant: "I2", text: `${key} is stored under ${row.keyHash}, which is not its hash` }];
  const invariant: Invariant = row.endpoint === ENDPOINT_NUMBER.events ? "I6" : "I2";
  if (subject === null) return [{ invariant, text: `${key} points to ${subjectId}, which is not there` }];
  const { kind, marker } = subject;
  const request = sent.findRequest(marker);
  if (request?.key !== key)
    return [{ invariant, text: `${key} points to ${subjectId}, the ${kind} of ${marker}` }];
  if (request.endpoint !== "check" && row.endpoint === ENDPOINT_NUMBER[request.endpoint]) return [];
  return [
    { invariant: "I2", text: `${key} is stored for endpoint ${row.endpoint}, and was ${request.endpoint}` },
  ];
}

function checkSubject(subject: Subject, rowOf: ReadonlyMap<string, StoredKey>, sent: SentKeys): Violation[] {
  const { kind, id, marker, keyHash } = subject;
  const key = sent.findKey(marker);
  const invariant: Invariant = kind === "event" ? "I6" : "I2";
  if (key === null) return [];
  if (rowOf.get(key)?.subjectId !== id)
    return [{ invariant, text: `${marker} is stored as ${kind} ${id}, and its ${key} does not point to it` }];
  if (kind === "event" || keyHash === sent.hashOf(key)) return [];
  return [
    { invariant, text: `${kind} ${id} of ${marker} carries ${keyHash}, which is not the hash of ${key}` },
  ];
}

/** However many payloads, endpoints and processes raced for it, a key has done one thing. */
function checkSingle(subjects: readonly Subject[], sent: SentKeys): Violation[] {
  const byKey = Map.groupBy(subjects, ({ marker }) => sent.findKey(marker));
  return [...byKey].flatMap(([key, rows]): Violation[] => {
    if (key === null || rows.length < 2) return [];
    const named = rows.map(({ kind, id, marker }) => `${kind} ${id} of ${marker}`).join(" and ");
    return [{ invariant: "I2", text: `${key} did more than one thing: ${named}` }];
  });
}
