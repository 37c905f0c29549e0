import { type Call, hasItems, isDecided, itemsOf } from "../history.ts";
import type { Account } from "./accounts.ts";
import { type Decision, findDecision, findEventId } from "./answers.ts";
import { dueFor, placeOf } from "./check-items.ts";
import { heldBefore } from "./hold-rows.ts";
import { customerIdsOf, packItems, type Stored, type StoredEntry } from "./stored.ts";
import { chargeId, findUuid } from "./subjects.ts";
import { type Facts, listDifferences, type Violation } from "./violation.ts";

/** I1: each acknowledged charge has exactly one ledger entry, or one entry for each item, with the returned values. */
export function checkCharges(
  calls: readonly Call[],
  { ledger }: Stored,
  accounts: readonly Account[],
): Violation[] {
  const heldOf = new Map(accounts.map(({ customer, holds }) => [customer, heldBefore(holds)]));
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
    const [first] = entriesOf.get(id) ?? [];
    if (first === undefined) return complain("it is not in the ledger");
    const items = itemsOf(request);
    const charges: StoredEntry[] = [];
    for (const index of items.keys()) {
      const name = items.length === 1 ? "it" : `charge ${index + 1} of ${items.length}`;
      const sequence = first.sequence + index;
      const [entry, ...others] = entriesOf.get(chargeId({ ...first, sequence })) ?? [];
      if (entry === undefined) return complain(`${name} is not in the ledger`);
      if (others.length > 0) return complain(`${name} is in the ledger ${others.length + 1} times`);
      charges.push(entry);
    }
    return charges.flatMap((entry, index): Violation[] => {
      const { marker, item, feature, quantity } = entry;
      const asked = items[index];
      const answered = decision.items[index];
      const due = asked === undefined ? 0 : dueFor(asked);
      // The response has the balances after the whole request.
      const last = charges.findLast(({ pool }) => pool === entry.pool) ?? entry;
      const balance = last.balanceAfter - (heldOf.get(entry.customer)?.(entry) ?? 0);
      const differences = listDifferences(
        {
          ...{ marker, price: entry.overage - entry.amount, charge: -entry.amount, balance },
          overage: entry.overage,
          ...{ item, items: entry.items, feature, quantity },
        },
        {
          ...{ marker: request.marker, price: due, charge: answered?.creditsCharged },
          ...{ balance: answered?.balance, overage: answered?.overageCredits ?? 0 },
          ...placeOf(index, items.length),
          ...asked,
        },
      );
      const name = items.length === 1 ? "its entry" : `its entry ${index + 1} of ${items.length}`;
      return differences.length === 0 ? [] : complain(`${name} has ${differences.join(", ")}`);
    });
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
    if (!isDecided(request) || request.endpoint === "check") return [];
    if (outcome.kind !== "ok" || decision?.allowed !== false) return [];
    const complain = (text: string): Violation[] => [
      { invariant: "I4", text: `${request.marker}, denied as ${outcome.body}: ${text}` },
    ];
    if (charged.has(request.marker)) return complain("it was charged");
    const [denial, ...others] = denialsOf.get(request.marker) ?? [];
    if (denial === undefined || others.length > 0)
      return complain(`it is stored ${denial === undefined ? 0 : others.length + 1} times`);
    const row = { ...denial, customerId: customerIdOf.get(denial.customer) };
    const { customerId } = request;
    const items = hasItems(request) ? packItems(itemsOf(request)) : null;
    const differences = listDifferences(row, { ...denialFacts(decision), items, customerId });
    return differences.length === 0 ? [] : complain(`it is stored with ${differences.join(", ")}`);
  });
}

/** The returned values that a denial stores: the values of the denied item. */
function denialFacts({ items, deniedItem, hasItems: isSeveral, reason }: Decision): Facts {
  const denied = items[deniedItem ?? 0];
  const needed = items.filter(({ pool }, index) => index <= (deniedItem ?? 0) && pool === denied?.pool);
  return {
    ...{ reason, item: isSeveral ? deniedItem : null },
    ...{ feature: denied?.feature, quantity: denied?.quantity, balance: denied?.balance },
    creditsRequired: needed.reduce((sum, { creditsRequired }) => sum + creditsRequired, 0),
    limitQuantity: denied?.limit?.quantity ?? null,
    limitUsed: denied?.limit?.used ?? null,
  };
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
    return marker === request.marker ? [] : complain(`event ${id} belongs to ${marker}`);
  });
  const featured = events.flatMap(({ id, featureId }): Violation[] =>
    featureId === null ? [] : [{ invariant: "I6", text: `event ${id} has feature ${featureId}` }],
  );
  return [...acknowledged, ...featured];
}

/** A decision's position in the wallet's ledger, and when its client sent and received it. */
type Decided = {
  readonly marker: string;
  /** A denial or a change of a hold comes between the last entry that existed at that time and the next entry. */
  readonly position: number;
  readonly sentMs: number;
  readonly answeredMs: number;
};

/** I5: if the response to A arrived before B was sent, A precedes B. Decisions at the same position have no order. */
export function checkOrder(accounts: readonly Account[], calls: readonly Call[]): Violation[] {
  const times = timesByMarker(calls);
  return accounts.flatMap((account): Violation[] => {
    const decided = listDecided(account, times).toSorted((a, b) => a.position - b.position);
    const violations: Violation[] = [];
    let latest: Decided | null = null;
    for (const [, group] of Map.groupBy(decided, ({ position }) => position)) {
      for (const one of group) {
        if (latest === null || one.answeredMs >= latest.sentMs) continue;
        const text = `${account.customerId}: ${one.marker} got its response before ${latest.marker} was sent, but comes after it, at ${one.position}`;
        violations.push({ invariant: "I5", text });
      }
      for (const one of group) if (latest === null || one.sentMs > latest.sentMs) latest = one;
    }
    return violations;
  });
}

type Times = { sentMs: number; answeredMs: number };

/** Endpoints with rows that have a marker and a position. */
const DECIDING: ReadonlySet<string> = new Set(["consume", "holds", "settle", "reverse"]);

function timesByMarker(calls: readonly Call[]): ReadonlyMap<string, Times> {
  const times = new Map<string, Times>();
  for (const { request, startMs, endMs, outcome } of calls) {
    if (!DECIDING.has(request.endpoint)) continue;
    const known = times.get(request.marker) ?? { sentMs: startMs, answeredMs: Number.POSITIVE_INFINITY };
    times.set(request.marker, {
      sentMs: Math.min(known.sentMs, startMs),
      answeredMs: outcome.kind === "ok" ? Math.min(known.answeredMs, endMs) : known.answeredMs,
    });
  }
  return times;
}

function listDecided({ entries, denials, holds }: Account, times: ReadonlyMap<string, Times>): Decided[] {
  const decide = (marker: string | null, position: number): Decided[] => {
    const known = times.get(marker ?? "");
    return marker === null || known === undefined ? [] : [{ marker, position, ...known }];
  };
  return [
    ...entries.flatMap(({ marker, sequence }) => decide(marker, sequence)),
    ...denials.flatMap(({ marker, sequence }) => decide(marker, sequence + 0.5)),
    ...holds.flatMap(({ marker, sequence }) => decide(marker, sequence + 0.5)),
  ];
}
