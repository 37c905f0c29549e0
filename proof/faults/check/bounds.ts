import { type Call, claimedKey, isUnknown } from "../history/call.ts";
import { findDecision } from "./answers.ts";
import type { SubjectKind } from "./subjects.ts";

export type Bounds = { readonly min: number; readonly max: number };

const NONE: Bounds = { min: 0, max: 0 };

/** How often each kind may be stored for all calls of one request: at least what was acknowledged, and the unknown more. */
export function boundsOf(sent: readonly Call[]): Readonly<Record<SubjectKind, Bounds>> {
  switch (sent[0]?.request.endpoint) {
    case "events":
      return { event: eventBounds(sent), charge: NONE, denial: NONE };
    case "consume":
      return { event: NONE, ...consumeBounds(sent) };
    default:
      return { event: NONE, charge: NONE, denial: NONE };
  }
}

/** Under a key any number of calls makes one event; without, each makes its own. */
function eventBounds(sent: readonly Call[]): Bounds {
  const min = sent.filter(({ outcome }) => outcome.kind === "ok").length;
  const max = min + sent.filter(isUnknown).length;
  const isKeyed = sent.some(({ request }) => claimedKey(request) !== null);
  return isKeyed ? { min: Math.min(min, 1), max: Math.min(max, 1) } : { min, max };
}

/** A consume always has a key, so one answer settles all of its calls, either way. */
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
