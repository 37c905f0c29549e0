import type { Call, ClientRequest } from "../history/call.ts";
import { boundsOf } from "./bounds.ts";
import type { Subject, SubjectKind } from "./subjects.ts";
import type { Violation } from "./violation.ts";

const KINDS = ["event", "charge", "denial"] as const satisfies readonly SubjectKind[];

/** I3, request by request: acknowledged ≤ stored ≤ acknowledged + unknown, and nothing that was never sent. */
export function checkCounts(calls: readonly Call[], subjects: readonly Subject[]): Violation[] {
  const subjectsOf = Map.groupBy(subjects, ({ marker }) => marker);
  const callsOf = Map.groupBy(calls, ({ request }) => request.marker);
  return [
    ...[...callsOf].flatMap(([marker, sent]) => checkRequest(sent, subjectsOf.get(marker) ?? [])),
    ...[...subjectsOf].flatMap(([marker, rows]): Violation[] => {
      if (marker !== null && callsOf.has(marker)) return [];
      const named = rows.map(({ kind, id }) => `${kind} ${id}`).join(", ");
      return [
        { invariant: "I3", text: `${marker ?? "no marker"} was never sent, and is stored as ${named}` },
      ];
    }),
  ];
}

export type Counts = { readonly acknowledged: number; readonly unknown: number };

/** Over the whole history: how many of each kind must be stored, and how many more may be. */
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
    const text = `${first.request.marker} is stored ${count} times as ${kind}, where ${min} to ${max} are right: ${explain(sent)}`;
    return [{ invariant: invariantOf(first.request, kind), text }];
  });
}

/** An event must move no credits, and a check must change nothing at all: both have a number of their own. */
function invariantOf({ endpoint }: ClientRequest, kind: SubjectKind): Violation["invariant"] {
  if (endpoint === "check") return "I7";
  return endpoint === "events" && kind === "charge" ? "I6" : "I3";
}

function explain(sent: readonly Call[]): string {
  return sent
    .map(
      ({ client, startMs, outcome }) => `${client} at ${startMs.toFixed(1)} ms: ${JSON.stringify(outcome)}`,
    )
    .join("; ");
}
