import { type Call, type ClientRequest, claimedKey } from "../history.ts";
import { findDecision, findEventId, findReversed } from "./answers.ts";
import type { StoredKey } from "./stored.ts";
import { findUuid, keyHashOf, type Subject } from "./subjects.ts";
import type { Invariant, Violation } from "./violation.ts";

const ENDPOINT_NUMBER: Readonly<Record<string, number>> = { consume: 2, events: 3, holds: 4, reverse: 5 };

type Keyed = { readonly keys: readonly StoredKey[]; readonly subjects: readonly Subject[] };

/** A key and the row it refers to are stored together or not at all, and refer to each other. */
export function checkStoredKeys(calls: readonly Call[], { keys, subjects }: Keyed): Violation[] {
  const sent = sentKeysOf(calls);
  const findSubject = subjectFinder(subjects, sent);
  const rowOf = new Map(keys.map((row) => [row.key, row]));
  return [
    ...keys.flatMap((row) => checkRow(row, findSubject(row), sent)),
    ...subjects.flatMap((subject) => checkSubject(subject, rowOf, sent)),
    ...checkSingle(subjects, sent),
    ...[...Map.groupBy(keys, ({ key }) => key)].flatMap(([key, rows]): Violation[] =>
      rows.length === 1 ? [] : [{ invariant: "I2", text: `${key} is stored ${rows.length} times` }],
    ),
  ];
}

/** Finds the row that a key points to. Several reversals can point to one charge, and their keys distinguish them. */
function subjectFinder(
  subjects: readonly Subject[],
  sent: SentKeys,
): (row: StoredKey | undefined) => Subject | null {
  const targets = Map.groupBy(subjects, ({ target }) => target);
  return (row) => {
    const isReversal = row?.endpoint === ENDPOINT_NUMBER["reverse"];
    const found = (targets.get(row?.subjectId ?? "") ?? []).filter(
      ({ kind }) => (kind === "reversal") === isReversal,
    );
    return found.find(({ marker }) => sent.findKey(marker) === row?.key) ?? found[0] ?? null;
  };
}

function checkRow(row: StoredKey, subject: Subject | null, sent: SentKeys): Violation[] {
  const { key, subjectId } = row;
  if (!sent.claimed.has(key))
    return sent.carried.has(key)
      ? [{ invariant: "I7", text: `${key} is stored, but only a check sent it` }]
      : [{ invariant: "I3", text: `${key} is stored, but was never sent` }];
  if (row.keyHash !== sent.hashOf(key))
    return [{ invariant: "I2", text: `${key} is stored under ${row.keyHash}, which is not its hash` }];
  const invariant: Invariant = row.endpoint === ENDPOINT_NUMBER["events"] ? "I6" : "I2";
  if (subject === null) return [{ invariant, text: `${key} points to ${subjectId}, which does not exist` }];
  const { kind, marker } = subject;
  const request = sent.findRequest(marker);
  if (sent.findKey(marker) !== key || request === null)
    return [{ invariant, text: `${key} points to ${subjectId}, the ${kind} of ${marker}` }];
  if (row.endpoint === ENDPOINT_NUMBER[request.endpoint]) return [];
  const text = `${key} is stored for endpoint ${row.endpoint}, but was sent to ${request.endpoint}`;
  return [{ invariant: "I2", text }];
}

function checkSubject(subject: Subject, rowOf: ReadonlyMap<string, StoredKey>, sent: SentKeys): Violation[] {
  const { kind, id, target, marker, keyHash } = subject;
  const key = sent.findKey(marker);
  const invariant: Invariant = kind === "event" ? "I6" : "I2";
  if (key === null) return [];
  if (rowOf.get(key)?.subjectId !== target)
    return [{ invariant, text: `${marker} is stored as ${kind} ${id}, but its ${key} does not point to it` }];
  const isKeyless = sent.findRequest(marker)?.key === null;
  if (kind === "event" || keyHash === (isKeyless ? null : sent.hashOf(key))) return [];
  const text = `${kind} ${id} of ${marker} has key hash ${keyHash}, which is not the hash of ${key}`;
  return [{ invariant, text }];
}

/** A key has at most one effect, even if several payloads, endpoints and processes raced for it. */
function checkSingle(subjects: readonly Subject[], sent: SentKeys): Violation[] {
  const byKey = Map.groupBy(subjects, ({ marker }) => sent.findKey(marker));
  return [...byKey].flatMap(([key, rows]): Violation[] => {
    if (key === null || rows.length < 2) return [];
    const named = rows.map(({ kind, id, marker }) => `${kind} ${id} of ${marker}`).join(" and ");
    return [{ invariant: "I2", text: `${key} had more than one effect: ${named}` }];
  });
}

/** The response under a key refers to the row that the key points to. */
export function checkKeyAnswers(calls: readonly Call[], { keys, subjects }: Keyed): Violation[] {
  const rowOf = new Map(keys.map((row) => [row.key, row]));
  const sent = sentKeysOf(calls);
  const findSubject = subjectFinder(subjects, sent);
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const { marker } = request;
    const key = claimedKey(request);
    if (key === null || outcome.kind === "info") return [];
    const row = rowOf.get(key);
    const subject = findSubject(row);
    if (outcome.kind === "ok") {
      const invariant = request.endpoint === "events" ? "I6" : "I1";
      if (row === undefined)
        return [{ invariant, text: `${marker} was acknowledged, but ${key} is not stored` }];
      if (isAbout(call, row, subject)) return [];
      return [{ invariant: "I2", text: `${key} returned ${outcome.body}, but points to ${row.subjectId}` }];
    }
    if (outcome.code !== "idempotency_key_reused") return [];
    // A 409 means that another request used the key, so the row of that request must exist.
    const owner = sent.findRequest(subject?.marker ?? null);
    if (owner === null || owner.marker === marker)
      return [{ invariant: "I2", text: `${marker} got 409, but no other request has ${key}` }];
    const conflict = owner.endpoint === request.endpoint ? "payload" : "endpoint";
    if (outcome.conflict === conflict) return [];
    const text = `${marker} got 409 for its ${outcome.conflict}, but its ${conflict} differs from ${owner.marker}`;
    return [{ invariant: "replies", text }];
  });
}

/** The response to a denied request has no ID, so the key must point to the denial of this request. */
function isAbout(call: Call, row: StoredKey, subject: Subject | null): boolean {
  const { endpoint } = call.request;
  if (endpoint === "events") return row.subjectId === findUuid("evt", findEventId(call));
  if (endpoint === "reverse")
    return (
      row.subjectId === findUuid("con", findReversed(call)?.consumeId ?? null) && subject?.kind === "reversal"
    );
  const decision = findDecision(call);
  if (decision === null) return false;
  if (decision.allowed && endpoint === "holds") return row.subjectId === findUuid("hld", decision.holdId);
  if (decision.allowed) return row.subjectId === findUuid("con", decision.consumeId);
  return subject?.kind === "denial" && subject.marker === call.request.marker;
}

/** The requests of a run, and the keys that they sent. */
type SentKeys = {
  /** Null if no request has this marker. */
  findRequest(marker: string | null): ClientRequest | null;
  /** Null if the request has no key or was never sent. */
  findKey(marker: string | null): string | null;
  readonly claimed: ReadonlySet<string | null>;
  /** All keys that were sent, including in checks, which must ignore them. */
  readonly carried: ReadonlySet<string | null>;
  hashOf(key: string): string;
};

function sentKeysOf(calls: readonly Call[]): SentKeys {
  const requestOf = new Map(calls.map(({ request }) => [request.marker, request]));
  const requests = [...requestOf.values()];
  const hashes = new Map<string, string>();
  const findRequest = (marker: string | null): ClientRequest | null => requestOf.get(marker ?? "") ?? null;
  return {
    findRequest,
    findKey: (marker) => {
      const request = findRequest(marker);
      return request === null ? null : claimedKey(request);
    },
    claimed: new Set(requests.map(claimedKey)),
    carried: new Set(requests.map(({ key }) => key)),
    hashOf: (key) => {
      const hash = hashes.get(key) ?? keyHashOf(key);
      hashes.set(key, hash);
      return hash;
    },
  };
}
