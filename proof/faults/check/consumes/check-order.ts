import type { Call } from "../../history/call.ts";
import type { Violation } from "../violation.ts";
import type { Account } from "../wallets/account.ts";

/** Something that was decided: its place in the wallet's ledger, and when its client knew of it. */
type Decided = {
  readonly marker: string;
  /** A denial stands between the entry it saw last and the next one. */
  readonly place: number;
  readonly sentMs: number;
  readonly answeredMs: number;
};

/** I5: if A was answered before B was sent, A precedes B. Of two denials at one place neither precedes the other. */
export function checkOrder(accounts: readonly Account[], calls: readonly Call[]): Violation[] {
  const times = timesByMarker(calls);
  return accounts.flatMap((account): Violation[] => {
    const decided = listDecided(account, times).toSorted((a, b) => a.place - b.place);
    const violations: Violation[] = [];
    let latest: Decided | null = null;
    for (const [, group] of Map.groupBy(decided, ({ place }) => place)) {
      for (const one of group) {
        if (latest === null || one.answeredMs >= latest.sentMs) continue;
        const text = `${account.customerId}: ${one.marker} was answered before ${latest.marker} was sent, and stands behind it at ${one.place}`;
        violations.push({ invariant: "I5", text });
      }
      for (const one of group) if (latest === null || one.sentMs > latest.sentMs) latest = one;
    }
    return violations;
  });
}

type Times = { sentMs: number; answeredMs: number };

function timesByMarker(calls: readonly Call[]): ReadonlyMap<string, Times> {
  const times = new Map<string, Times>();
  for (const { request, startMs, endMs, outcome } of calls) {
    if (request.endpoint !== "consume") continue;
    const known = times.get(request.marker) ?? { sentMs: startMs, answeredMs: Number.POSITIVE_INFINITY };
    times.set(request.marker, {
      sentMs: Math.min(known.sentMs, startMs),
      answeredMs: outcome.kind === "ok" ? Math.min(known.answeredMs, endMs) : known.answeredMs,
    });
  }
  return times;
}

function listDecided({ entries, denials }: Account, times: ReadonlyMap<string, Times>): Decided[] {
  const decide = (marker: string | null, place: number): Decided[] => {
    const known = times.get(marker ?? "");
    return marker === null || known === undefined ? [] : [{ marker, place, ...known }];
  };
  return [
    ...entries.flatMap(({ marker, sequence }) => decide(marker, sequence)),
    ...denials.flatMap(({ marker, sequence }) => decide(marker, sequence + 0.5)),
  ];
}
