import {
  type Call,
  type ClientRequest,
  claimedKey,
  hasItems,
  isDecided,
  isHoldChange,
  isUnknown,
  itemsOf,
  type ReverseRequest,
} from "../history.ts";
import { findDecision, findReversed } from "./answers.ts";
import { placeOf } from "./check-items.ts";
import { customerIdsOf, packItems, type Stored, type StoredDenial, type StoredEntry } from "./stored.ts";
import type { Subject, SubjectKind } from "./subjects.ts";
import { type Facts, type Invariant, listDifferences, type Violation } from "./violation.ts";

const KINDS = ["event", "charge", "denial", "hold", "reversal"] as const satisfies readonly SubjectKind[];

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

/** For the whole history: how many rows of each kind must be stored, and how many more can be stored. */
export function countBounds(calls: readonly Call[]): Readonly<Record<SubjectKind, Counts>> {
  const counts = {
    event: { acknowledged: 0, unknown: 0 },
    charge: { acknowledged: 0, unknown: 0 },
    denial: { acknowledged: 0, unknown: 0 },
    hold: { acknowledged: 0, unknown: 0 },
    reversal: { acknowledged: 0, unknown: 0 },
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

/** How many rows of each kind may be stored for all calls of one request. */
function boundsOf(sent: readonly Call[]): Readonly<Record<SubjectKind, Bounds>> {
  const none = { event: NONE, charge: NONE, denial: NONE, hold: NONE, reversal: NONE };
  switch (sent[0]?.request.endpoint) {
    case "events":
      return { ...none, event: eventBounds(sent) };
    case "consume": {
      const { allowed: charge, denial } = decisionBounds(sent);
      return { ...none, charge, denial };
    }
    case "holds": {
      const { allowed: hold, denial } = decisionBounds(sent);
      return { ...none, hold, denial };
    }
    case "reverse":
      return { ...none, reversal: reversalBounds(sent) };
    default:
      return none;
  }
}

/** With a key, all calls create one event. Without a key, each call creates a separate event. */
function eventBounds(sent: readonly Call[]): Bounds {
  const min = sent.filter(({ outcome }) => outcome.kind === "ok").length;
  const max = min + sent.filter(isUnknown).length;
  const isKeyed = sent.some(({ request }) => claimedKey(request) !== null);
  return isKeyed ? { min: Math.min(min, 1), max: Math.min(max, 1) } : { min, max };
}

/** These requests always have a key, so one response determines the outcome of all their calls. */
function decisionBounds(sent: readonly Call[]): { allowed: Bounds; denial: Bounds } {
  const answers = sent.flatMap((call) => findDecision(call) ?? []);
  const isAllowed = answers.some(({ allowed }) => allowed);
  const isDenied = answers.some(({ allowed }) => !allowed);
  const isOpen = !isAllowed && !isDenied && sent.some(isUnknown);
  return {
    allowed: { min: Number(isAllowed), max: Number(isAllowed || isOpen) },
    denial: { min: Number(isDenied), max: Number(isDenied || isOpen) },
  };
}

/** The reversible part of a charge only decreases. So after one rejected call, no call with an unknown outcome was executed. */
function reversalBounds(sent: readonly Call[]): Bounds {
  const isReversed = sent.some((call) => findReversed(call) !== null);
  const isRejected = sent.some(
    ({ outcome }) => outcome.kind === "fail" && outcome.code === "nothing_to_reverse",
  );
  const isOpen = !isRejected && sent.some(isUnknown);
  return { min: Number(isReversed), max: Number(isReversed || isOpen) };
}

/** A stored row has the contents of its request, whether or not the request was acknowledged. */
export function checkContents(calls: readonly Call[], stored: Stored): Violation[] {
  const requestOf = new Map(calls.map(({ request }) => [request.marker, request]));
  const customerIdOf = customerIdsOf(stored);
  const compare = (
    invariant: Invariant,
    row: { readonly marker: string | null } & Facts,
    expect: (request: ClientRequest) => Facts,
  ): Violation[] => {
    const request = requestOf.get(row.marker ?? "");
    if (request === undefined) return [];
    const { customerId } = request;
    const differences = listDifferences(row, { customerId, ...expect(request) });
    if (differences.length === 0) return [];
    return [{ invariant, text: `${row.marker} is stored with ${differences.join(", ")}` }];
  };
  const named = (row: StoredEntry | StoredDenial): { readonly marker: string | null } & Facts => {
    return { ...row, name: row.feature, customerId: customerIdOf.get(row.customer) };
  };
  return [
    ...stored.events.flatMap((row) =>
      compare("I6", { ...row, name: row.event }, (request) => nameOf(request, 0)),
    ),
    // The charges of a hold are compared with the end of the hold instead.
    ...stored.ledger.flatMap((row) =>
      compare("I1", named(row), (request) => {
        if (row.hold !== null && isHoldChange(request)) return {};
        if (request.endpoint === "reverse") return row.kind === "reverse" ? partOf(request) : { name: null };
        const index = row.item ?? 0;
        const place = isDecided(request) ? placeOf(index, itemsOf(request).length) : {};
        return { ...nameOf(request, index), ...place };
      }),
    ),
    ...stored.denials.flatMap((row) =>
      compare("I4", named(row), (request) => {
        const index = row.item ?? 0;
        const isSeveral = isDecided(request) && hasItems(request);
        const place = isSeveral
          ? { item: index, items: packItems(itemsOf(request)) }
          : { item: null, items: null };
        return { ...nameOf(request, index), ...place };
      }),
    ),
  ];
}

/** The fields that the entry of a reversal takes from its request. */
function partOf(request: ReverseRequest): Facts {
  if (request.quantity === null) return {};
  const { quantity, feature } = request;
  return { quantity, ...(feature !== null && { name: feature }) };
}

/** The event key or the feature that was sent. */
function nameOf(request: ClientRequest, index: number): Facts {
  if (request.endpoint === "events") return { name: request.event, quantity: request.quantity };
  if (!isDecided(request)) return { name: undefined, quantity: undefined };
  const item = itemsOf(request)[index];
  return { name: item?.feature, quantity: item?.quantity };
}
