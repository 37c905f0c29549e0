import { charge } from "../../../service/test/model/credits.ts";
import { FEATURES, isFeatureKey } from "../catalog.ts";
import type { Call } from "../history.ts";
import type { Account } from "./accounts.ts";
import { findDecision, findEventId } from "./answers.ts";
import { customerIdsOf, type Stored } from "./stored.ts";
import { chargeId, findUuid } from "./subjects.ts";
import { listDifferences, type Violation } from "./violation.ts";

/** I1: each acknowledged charge has exactly one ledger entry, with the returned values. */
export function checkCharges(calls: readonly Call[], { ledger }: Stored): Violation[] {
  const entriesOf = Map.groupBy(
    ledger.filter(({ kind }) => kind === "consume"),
    chargeId,
  );
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const decision = findDecision(call);
    if (request.endpoint !== "consume" || outcome.kind !== "ok" || decision?.allowed === false) return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I1", text: `${request.marker}, acknowledged as ${outcome.body}: ${text}` },
    ];
    if (decision === null) return complain("the response is unreadable");
    const id = findUuid("con", decision.consumeId);
    if (id === null) return complain("the response has no consumeId");
    const [entry, ...others] = entriesOf.get(id) ?? [];
    if (entry === undefined) return complain("it is not in the ledger");
    if (others.length > 0) return complain(`it is in the ledger ${others.length + 1} times`);
    const { marker, balanceAfter: balance } = entry;
    const due = isFeatureKey(request.feature) ? charge(FEATURES[request.feature], request.quantity) : 0;
    const differences = listDifferences(
      { marker, charge: -entry.amount, answered: decision.creditsCharged, balance },
      { marker: request.marker, charge: due, answered: due, balance: decision.balance },
    );
    return differences.length === 0 ? [] : complain(`its entry has ${differences.join(", ")}`);
  });
}

/** Each acknowledged denial is stored once with the returned values, and charges nothing. */
export function checkDenials(calls: readonly Call[], stored: Stored): Violation[] {
  const denialsOf = Map.groupBy(stored.denials, ({ marker }) => marker);
  const charged = new Set(stored.ledger.map(({ marker }) => marker));
  const customerIdOf = customerIdsOf(stored);
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    const decision = findDecision(call);
    if (request.endpoint !== "consume" || outcome.kind !== "ok" || decision?.allowed !== false) return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I4", text: `${request.marker}, denied as ${outcome.body}: ${text}` },
    ];
    if (charged.has(request.marker)) return complain("it was charged");
    const [denial, ...others] = denialsOf.get(request.marker) ?? [];
    if (denial === undefined || others.length > 0)
      return complain(`it is stored ${denial === undefined ? 0 : others.length + 1} times`);
    const { balance, creditsRequired, feature, quantity, reason } = decision;
    const row = { ...denial, customerId: customerIdOf.get(denial.customer) };
    const { customerId } = request;
    const expected = { balance, creditsRequired, feature, quantity, reason, customerId };
    const differences = listDifferences(row, expected);
    return differences.length === 0 ? [] : complain(`it is stored with ${differences.join(", ")}`);
  });
}

/** I6: the event of each 200 is stored exactly once, has the marker that was sent, and belongs to no feature. */
export function checkEvents(calls: readonly Call[], { events }: Stored): Violation[] {
  const eventsOf = Map.groupBy(events, ({ id }) => id);
  const acknowledged = calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    if (request.endpoint !== "events" || outcome.kind !== "ok") return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I6", text: `${request.marker}, acknowledged as ${outcome.body}: ${text}` },
    ];
    const id = findUuid("evt", findEventId(call));
    if (id === null) return complain("the response has no eventId");
    const rows = eventsOf.get(id) ?? [];
    if (rows.length !== 1) return complain(`event ${id} is stored ${rows.length} times`);
    const marker = rows[0]?.marker ?? null;
    return marker === request.marker ? [] : complain(`event ${id} is that of ${marker}`);
  });
  const featured = events.flatMap(({ id, featureId }): Violation[] =>
    featureId === null ? [] : [{ invariant: "I6", text: `event ${id} has feature ${featureId}` }],
  );
  return [...acknowledged, ...featured];
}

/** A decision's position in the wallet's ledger, and when its client sent and received it. */
type Decided = {
  readonly marker: string;
  /** A denial is between the last entry it saw and the next one. */
  readonly position: number;
  readonly sentMs: number;
  readonly answeredMs: number;
};

/** I5: if the response to A arrived before B was sent, A precedes B. Denials at the same position have no order. */
export function checkOrder(accounts: readonly Account[], calls: readonly Call[]): Violation[] {
  const times = timesByMarker(calls);
  return accounts.flatMap((account): Violation[] => {
    const decided = listDecided(account, times).toSorted((a, b) => a.position - b.position);
    const violations: Violation[] = [];
    let latest: Decided | null = null;
    for (const [, group] of Map.groupBy(decided, ({ position }) => position)) {
      for (const one of group) {
        if (latest === null || one.answeredMs >= latest.sentMs) continue;
        const text = `${account.customerId}: ${one.marker} got its response before ${latest.marker} was sent, but is behind it at ${one.position}`;
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
  const decide = (marker: string | null, position: number): Decided[] => {
    const known = times.get(marker ?? "");
    return marker === null || known === undefined ? [] : [{ marker, position, ...known }];
  };
  return [
    ...entries.flatMap(({ marker, sequence }) => decide(marker, sequence)),
    ...denials.flatMap(({ marker, sequence }) => decide(marker, sequence + 0.5)),
  ];
}
