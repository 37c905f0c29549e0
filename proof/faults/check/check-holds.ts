import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import { type Call, isHoldChange, isUnknown, itemsOf } from "../history.ts";
import type { Account } from "./accounts.ts";
import { findDecision } from "./answers.ts";
import {
  type ChangeCall,
  checkChangeReplies,
  checkCharged,
  checkExtended,
  checkUncovered,
  type Held,
} from "./check-hold-changes.ts";
import { dueFor } from "./check-items.ts";
import { type HoldRow, openHoldsOf, priceIn } from "./hold-rows.ts";
import type { Stored } from "./stored.ts";
import { findUuid, holdUuid } from "./subjects.ts";
import { type Invariant, listDifferences, type Violation } from "./violation.ts";

/** I1 to I4 for holds: each acknowledged change is stored once, each hold ends once, and has only the charges of its end. */
export function checkHolds(
  calls: readonly Call[],
  accounts: readonly Account[],
  { features }: Stored,
): Violation[] {
  const keyOf = new Map(features.map(({ id, key }): [number, string] => [id, key]));
  const changeCalls = calls.flatMap((call): ChangeCall[] =>
    isHoldChange(call.request) ? [{ ...call, request: call.request }] : [],
  );
  const callsOf = Map.groupBy(changeCalls, ({ request }) => findUuid("hld", request.holdId));
  const holds = accounts.flatMap(({ customer, customerId, holds: changes, entries }) => {
    const entriesOf = Map.groupBy(entries, ({ hold }) => hold);
    const byNumber = Map.groupBy(changes, ({ hold }) => hold.number);
    return [...byNumber].map(([number, rows]): [string, Held] => {
      const id = holdUuid({ customer, hold: number, openedAtMs: rows[0]?.openedAtMs ?? 0 });
      return [
        id,
        {
          name: `hold ${number} of ${customerId}`,
          customerId,
          rows,
          ends: rows.filter(({ kind }) => ENDS.has(kind)),
          charges: (entriesOf.get(number) ?? []).filter(({ kind }) => kind === "consume"),
          reversals: (entriesOf.get(number) ?? []).filter(({ kind }) => kind === "reverse"),
          calls: callsOf.get(id) ?? [],
          features: (rows[0]?.hold.items ?? []).map(({ feature }) => keyOf.get(feature) ?? ""),
        },
      ];
    });
  });
  const heldBy = new Map(holds);
  return [
    ...checkOpenings(calls, heldBy),
    ...[...callsOf.keys()].flatMap((id): Violation[] => {
      const isAcknowledged = (callsOf.get(id) ?? []).some(({ outcome }) => outcome.kind === "ok");
      if (!isAcknowledged || heldBy.has(id ?? "")) return [];
      return [{ invariant: "I1", text: `hold ${id} was changed, but is not stored` }];
    }),
    ...[...heldBy.values()].flatMap((held) => [
      ...checkEnds(held),
      ...checkCharged(held),
      ...checkUncovered(held),
      ...checkChangeReplies(held),
      ...checkExtended(held),
    ]),
    ...accounts.flatMap(checkOverdue),
  ];
}

const ENDS: ReadonlySet<string> = new Set(["settled", "released", "expired", "charged"]);

/** The opening of each hold matches its request and its response. */
function checkOpenings(calls: readonly Call[], heldBy: ReadonlyMap<string, Held>): Violation[] {
  const openedBy = new Map(
    [...heldBy].map(([id, held]) => [held.rows[0]?.marker ?? null, { id, held }] as const),
  );
  return calls.flatMap((call): Violation[] => {
    const { request, outcome } = call;
    if (request.endpoint !== "holds") return [];
    const decision = findDecision(call);
    const isAcknowledged = decision?.allowed === true;
    const opened = openedBy.get(request.marker);
    const text = `${request.marker}${outcome.kind === "ok" ? `, acknowledged as ${outcome.body}` : ""}`;
    const complain = (problem: string): Violation[] => [{ invariant: "I1", text: `${text}: ${problem}` }];
    if (opened === undefined) return isAcknowledged ? complain("its hold is not stored") : [];
    const { id, held } = opened;
    const [row] = held.rows;
    if (row === undefined) return [];
    if (isAcknowledged && findUuid("hld", decision.holdId) !== id) return complain(`its hold is ${id}`);
    const asked = itemsOf(request);
    const differences = listDifferences(
      {
        ...{ kind: row.kind, customerId: held.customerId, onExpiry: row.hold.onExpiry },
        ...{ memberId: row.memberId, expiresInMs: row.expiresAtMs - row.openedAtMs },
        items: held.features.map((feature, index) => describeItem(feature, row.hold.items[index])).join(),
        expiresAtMs: row.expiresAtMs,
        overage: row.hold.items.map((item) => sumOf(item.overage)).join(),
      },
      {
        ...{ kind: "opened", customerId: request.customerId, onExpiry: request.onExpiry },
        memberId: "items" in request ? request.marker : null,
        expiresInMs: request.expiresInSeconds * 1_000,
        items: asked.map((item) => `${item.quantity} ${item.feature} for ${dueFor(item)}`).join(),
        ...(isAcknowledged && {
          expiresAtMs: decision.expiresAtMs,
          overage: decision.items.map(({ overageCredits }) => overageCredits ?? 0).join(),
        }),
      },
    );
    return differences.length === 0 ? [] : complain(`its hold has ${differences.join(", ")}`);
  });
}

function describeItem(feature: string, item: HoldRow["hold"]["items"][number] | undefined): string {
  return item === undefined ? "" : `${item.quantity} ${feature} for ${priceIn(item)}`;
}

/** A hold is opened once and ends once. Exception: a hold that expired and released its credits can be settled later. */
function checkEnds({ name, rows, ends, calls }: Held): Violation[] {
  const complain = (invariant: Invariant, text: string): Violation[] => [
    { invariant, text: `${name} ${text}` },
  ];
  if (rows.filter(({ kind }) => kind === "opened").length !== 1)
    return complain("I2", "was not opened exactly once");
  const isOther = ({ openedAtMs, memberId }: HoldRow): boolean =>
    openedAtMs !== rows[0]?.openedAtMs || memberId !== rows[0]?.memberId;
  if (rows.some(isOther)) return complain("I4", "changed its start or its member");
  const changed = ends.find((end) => {
    const before = rows[rows.indexOf(end) - 1];
    return before?.state !== end.state || before.expiresAtMs !== end.expiresAtMs;
  });
  if (changed !== undefined) return complain("I4", `was changed when it was ${changed.kind}`);
  const kinds = ends.map(({ kind }) => kind).join(" and ");
  if (ends.length > 1 && kinds !== "expired and settled") return complain("I2", `ended twice: ${kinds}`);
  return rows.flatMap(({ kind, hold, recordedAtMs, effectiveAtMs, marker }): Violation[] => {
    if (kind === "expired" || kind === "charged") {
      const expected = hold.onExpiry === "charge" ? "charged" : "expired";
      if (kind !== expected) return complain("I4", `is ${kind}, but should be ${expected} when it expires`);
      const isTooEarly = recordedAtMs < hold.expiresAt || effectiveAtMs !== hold.expiresAt;
      return isTooEarly ? complain("I4", `${kind} at ${effectiveAtMs}, but ends at ${hold.expiresAt}`) : [];
    }
    const endpoint = REQUEST_OF[kind];
    if (endpoint === undefined) return [];
    const isCause = ({ request, outcome, ...call }: ChangeCall): boolean =>
      request.endpoint === endpoint &&
      (endpoint !== "settle" || request.marker === marker) &&
      (outcome.kind === "ok" || isUnknown({ ...call, request, outcome }));
    return calls.some(isCause) ? [] : complain("I3", `is ${kind}, but no request did that`);
  });
}

const REQUEST_OF: Readonly<Record<string, string>> = {
  settled: "settle",
  released: "release",
  extended: "extend",
};

/** I4: nothing is held forever. The first decision after a hold's expiry ends the hold, even if that decision is a denial. */
function checkOverdue({ customerId, wallet, denials, holds }: Account): Violation[] {
  const decidedAt = Math.max(wallet.decidedAt, ...denials.map(({ recordedAtMs }) => recordedAtMs));
  return openHoldsOf(holds)
    .filter(({ expiresAtMs }) => expiresAtMs <= decidedAt)
    .map(({ hold, expiresAtMs }): Violation => {
      const text = `hold ${hold.number} of ${customerId} ended at ${expiresAtMs}, but is open at ${decidedAt}`;
      return { invariant: "I4", text };
    });
}
