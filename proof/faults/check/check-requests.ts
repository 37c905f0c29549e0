import { type Call, type ClientRequest, claimedKey, isUnknown } from "../history.ts";
import { findDecision } from "./answers.ts";
import { customerIdsOf, type Stored } from "./stored.ts";
import type { Subject, SubjectKind } from "./subjects.ts";
import { type Facts, type Invariant, listDifferences, type Violation } from "./violation.ts";

const KINDS = ["event", "charge", "denial"] as const satisfies readonly SubjectKind[];

/** I3 for each request: acknowledged ≤ stored ≤ acknowledged + unknown, and no row without a request. */
export function checkCounts(calls: readonly Call[], subjects: readonly Subject[]): Violation[] {
  const subjectsOf = Map.groupBy(subjects, ({ marker }) => marker);
  const callsOf = Map.groupBy(calls, ({ request }) => request.marker);
  return [
    ...[...callsOf].flatMap(([marker, sent]) => checkRequest(sent, subjectsOf.get(marker) ?? [])),
    ...[...subjectsOf].flatMap(([marker, rows]): Violation[] => {
      if (marker !== null && callsOf.has(marker)) return [];
      const named = rows.map(({ kind, id }) => `${kind} ${id}`).join(", ");
      return [
        { invariant: "I3", text: `${marker ?? "no marker"} was never sent, but is stored as ${named}` },
      ];
    }),
  ];
}

export type Counts = { readonly acknowledged: number; readonly unknown: number };

/** For the whole history: how many rows of each kind must be stored, and how many more may be. */
export function countBounds(calls: readonly Call[]): Readonly<Record<SubjectKind, Counts>> {
  const counts = {
    event: { acknowledged: 0, unknown: 0 },
    charge: { acknowledged: 0, unknown: 0 },
    denial: { acknowledged: 0, unknown: 0 },
  };
  for (const sent of Map.groupBy(calls, ({ request }) => request.marker).values()) {
    const bounds = boundsOf(sent);
    for (const kind of KINDS) {
      counts[kind].acknowledged += bounds[kind].min;
      counts[kind].unknown += bounds[kind].max - bounds[kind].min;
    }
  }
  return counts;
}

function checkRequest(sent: readonly Call[], rows: readonly Subject[]): Violation[] {
  const [first] = sent;
  if (first === undefined) return [];
  const bounds = boundsOf(sent);
  return KINDS.flatMap((kind): Violation[] => {
    const { min, max } = bounds[kind];
    const count = rows.filter((row) => row.kind === kind).length;
    if (count >= min && count <= max) return [];
    const attempts = sent.map(
      ({ client, startMs, outcome }) => `${client} at ${startMs.toFixed(1)} ms: ${JSON.stringify(outcome)}`,
    );
    const text = `${first.request.marker} is stored ${count} times as ${kind}, expected ${min} to ${max}: ${attempts.join("; ")}`;
    return [{ invariant: invariantOf(first.request, kind), text }];
  });
}

/** An event must not charge credits, and a check must not change anything. */
function invariantOf({ endpoint }: ClientRequest, kind: SubjectKind): Invariant {
  if (endpoint === "check") return "I7";
  return endpoint === "events" && kind === "charge" ? "I6" : "I3";
}

type Bounds = { readonly min: number; readonly max: number };

const NONE: Bounds = { min: 0, max: 0 };

/** How often each kind may be stored for all calls that send one request. */
function boundsOf(sent: readonly Call[]): Readonly<Record<SubjectKind, Bounds>> {
  switch (sent[0]?.request.endpoint) {
    case "events":
      return { event: eventBounds(sent), charge: NONE, denial: NONE };
    case "consume":
      return { event: NONE, ...consumeBounds(sent) };
    default:
      return { event: NONE, charge: NONE, denial: NONE };
  }
}

/** With a key, all calls create one event. Without a key, each call creates its own. */
function eventBounds(sent: readonly Call[]): Bounds {
  const min = sent.filter(({ outcome }) => outcome.kind === "ok").length;
  const max = min + sent.filter(isUnknown).length;
  const isKeyed = sent.some(({ request }) => claimedKey(request) !== null);
  return isKeyed ? { min: Math.min(min, 1), max: Math.min(max, 1) } : { min, max };
}

/** A consume request always has a key, so one response decides all of its calls. */
function consumeBounds(sent: readonly Call[]): { charge: Bounds; denial: Bounds } {
  const answers = sent.flatMap((call) => findDecision(call) ?? []);
  const isAllowed = answers.some(({ allowed }) => allowed);
  const isDenied = answers.some(({ allowed }) => !allowed);
  const isOpen = !isAllowed && !isDenied && sent.some(isUnknown);
  return {
    charge: { min: Number(isAllowed), max: Number(isAllowed || isOpen) },
    denial: { min: Number(isDenied), max: Number(isDenied || isOpen) },
  };
}

/** A stored row has the contents of its request, whether or not the request was acknowledged. */
export function checkContents(calls: readonly Call[], stored: Stored): Violation[] {
  const requestOf = new Map(calls.map(({ request }) => [request.marker, request]));
  const customerIdOf = customerIdsOf(stored);
  const compare = (invariant: Invariant, marker: string | null, row: Facts): Violation[] => {
    const request = requestOf.get(marker ?? "");
    if (request === undefined) return [];
    const { customerId, quantity } = request;
    const name = request.endpoint === "events" ? request.event : request.feature;
    const differences = listDifferences(row, { customerId, name, quantity });
    if (differences.length === 0) return [];
    return [{ invariant, text: `${marker} is stored with ${differences.join(", ")}` }];
  };
  const compareUse = (invariant: Invariant) => (row: Stored["ledger" | "denials"][number]) => {
    const customerId = customerIdOf.get(row.customer);
    return compare(invariant, row.marker, { customerId, name: row.feature, quantity: row.quantity });
  };
  return [
    ...stored.events.flatMap((row) => compare("I6", row.marker, { ...row, name: row.event })),
    ...stored.ledger.flatMap(compareUse("I1")),
    ...stored.denials.flatMap(compareUse("I4")),
  ];
}
