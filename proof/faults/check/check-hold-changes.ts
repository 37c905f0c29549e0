import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import { type Call, type HoldChangeRequest, isUnknown } from "../history.ts";
import { type ClosedItem, type Closing, type Extension, findClosing, findExtension } from "./answers.ts";
import { dueFor, placeOf } from "./check-items.ts";
import { type HoldRow, isOpen } from "./hold-rows.ts";
import type { StoredEntry } from "./stored.ts";
import { chargeId, findUuid } from "./subjects.ts";
import { type Facts, type Invariant, listDifferences, type Violation } from "./violation.ts";

/** A hold with its rows, and the calls that name it. */
export type Held = {
  readonly name: string;
  readonly customerId: string;
  /** In order of number. The first row is the opening. */
  readonly rows: readonly HoldRow[];
  /** The changes that ended the hold. */
  readonly ends: readonly HoldRow[];
  readonly charges: readonly StoredEntry[];
  readonly reversals: readonly StoredEntry[];
  readonly calls: readonly ChangeCall[];
  /** The feature of each item, in the order of the request that opened the hold. */
  readonly features: readonly string[];
};

export type ChangeCall = Call & { readonly request: HoldChangeRequest };

/** Each used item has one charge, and its price is credits + overage + uncovered. A hold that was not charged has no charges. */
export function checkCharged(held: Held): Violation[] {
  const { name, ends, charges, features } = held;
  const complain = (text: string): Violation[] => [{ invariant: "I1", text: `${name} ${text}` }];
  const end = ends.at(-1);
  if (end === undefined || end.kind === "released" || end.kind === "expired") {
    const closing = end?.kind === "released" ? findClosing(end.answer) : null;
    if (closing !== null && (closing.creditsCharged !== 0 || closing.consumeId !== null))
      return complain(`was released as ${end?.answer}`);
    return charges.length === 0 ? [] : complain(`was not settled, but has ${charges.length} charges`);
  }
  const closing = end.kind === "settled" ? findClosing(end.answer) : null;
  if (end.kind === "settled" && closing === null) return complain(`has an unreadable answer: ${end.answer}`);
  const used = features.flatMap((feature, index): Facts[] => {
    const item = closing?.items[index];
    const quantity = closing === null ? (end.hold.items[index]?.quantity ?? 0) : (item?.quantity ?? 0);
    const price = dueFor({ feature, quantity });
    const uncovered = closing === null ? 0 : (item?.creditsUncovered ?? 0);
    const held = end.hold.items[index]?.overage ?? [];
    const overage = closing === null ? sumOf(held) : (item?.overageCredits ?? 0);
    const amount = uncovered + overage - price;
    return quantity === 0 ? [] : [{ feature, quantity, amount, overage, uncovered }];
  });
  if (charges.length !== used.length)
    return complain(`is ${end.kind} with ${used.length} items, but has ${charges.length} charges`);
  const [first] = charges;
  const consumeId = first === undefined ? null : chargeId(first);
  if (closing !== null && findUuid("con", closing.consumeId) !== consumeId)
    return complain(`was answered with ${closing.consumeId}, but its charge is ${consumeId}`);
  const { recordedAtMs, marker } = end;
  return [
    ...(closing === null ? [] : checkSums(held, closing)),
    ...used.flatMap((expected, index): Violation[] => {
      const differences = listDifferences(charges[index] ?? {}, {
        ...expected,
        ...placeOf(index, used.length),
        sequence: (first?.sequence ?? 0) + index,
        ...{ recordedAtMs, marker, keyHash: null },
      });
      return differences.length === 0 ? [] : complain(`has a charge with ${differences.join(", ")}`);
    }),
  ];
}

/** The reversals of a charge return the price of the reversed quantity: the uncovered part, overage and credits. */
export function checkUncovered({ name, charges, reversals }: Held): Violation[] {
  return charges.flatMap(({ sequence, feature, quantity }): Violation[] => {
    const own = reversals.filter(({ reverses }) => reverses === sequence);
    const reversed = own.reduce((sum, entry) => sum + (entry.quantity ?? 0), 0);
    const returned = own.reduce((sum, entry) => sum + entry.amount + entry.overage + entry.uncovered, 0);
    const priceOf = (units: number): number => dueFor({ feature: feature ?? "", quantity: units });
    const due = priceOf(quantity ?? 0) - priceOf((quantity ?? 0) - reversed);
    if (returned === due) return [];
    return [{ invariant: "I1", text: `${name} has reversals for ${returned}, but their price is ${due}` }];
  });
}

/** The stored response has the quantities of its request, their prices, and the sums of its items. */
function checkSums({ name, ends, features, calls }: Held, closing: Closing): Violation[] {
  const end = ends.at(-1);
  const settle = calls.find(({ request }) => request.marker === end?.marker)?.request;
  const isLate = ends.length > 1;
  const usedOf = (feature: string, index: number): number | undefined => {
    if (settle?.endpoint !== "settle" || settle.used === null) return end?.hold.items[index]?.quantity;
    if (typeof settle.used === "number") return settle.used;
    return settle.used.find((item) => item.feature === feature)?.quantity ?? 0;
  };
  const sum = (of: Exclude<keyof ClosedItem, "feature">): number =>
    closing.items.reduce((total, item) => total + item[of], 0);
  const differences = listDifferences(
    { ...closing, items: closing.items.map(({ feature, quantity }) => `${quantity} ${feature}`).join() },
    {
      ...{ status: "settled", late: isLate },
      creditsCharged: sum("creditsCharged"),
      overageCredits: sum("overageCredits"),
      creditsBeyondHold: sum("creditsBeyondHold"),
      creditsUncovered: sum("creditsUncovered"),
      items: features.map((feature, index) => `${usedOf(feature, index)} ${feature}`).join(),
    },
  );
  for (const item of closing.items) {
    const due = dueFor(item);
    const { creditsRequired, creditsCharged, overageCredits, creditsUncovered } = item;
    if (creditsRequired !== due || creditsCharged + overageCredits + creditsUncovered !== due)
      differences.push(
        `${creditsCharged} + ${overageCredits} + ${creditsUncovered} for ${item.feature} instead of ${due}`,
      );
  }
  if (differences.length === 0) return [];
  return [{ invariant: "I1", text: `${name} was answered with ${differences.join(", ")}` }];
}

/** I1 and I2: each response about the hold's end has the stored bytes, and each rejection reports how the hold first ended. */
export function checkChangeReplies({ name, ends, calls, customerId }: Held): Violation[] {
  const final = ends.at(-1);
  const [first] = ends;
  return calls.flatMap(({ request, outcome }): Violation[] => {
    const complain = (invariant: Invariant, text: string): Violation[] => {
      const reply = JSON.stringify(outcome);
      return [{ invariant, text: `${request.marker} for ${name} got ${reply}, but ${text}` }];
    };
    if (outcome.kind === "ok" && request.endpoint !== "extend") {
      const expected = request.endpoint === "settle" ? "settled" : "released";
      if (final?.kind !== expected) return complain("I1", `it is ${final?.kind ?? "open"}`);
      const named = JSON.stringify({ holdId: request.holdId, customerId }).slice(0, -1);
      if (outcome.body !== `${named},${final.answer?.slice(1)}`)
        return complain("I2", `stored ${final.answer}`);
      const winner = calls.find((call) => call.request.marker === final.marker)?.request ?? request;
      return isSameChange(request, winner) ? [] : complain("I2", `${final.marker} settled it`);
    }
    if (outcome.kind !== "fail") return [];
    const kinds = KINDS_OF_CODE[outcome.code] ?? [];
    const isNamed = [first?.kind, final?.kind].some((kind) => kind !== undefined && kinds.includes(kind));
    return isNamed ? [] : complain("I2", `it is ${final?.kind ?? "open"}`);
  });
}

/** Maps an error code to the ends of a hold that it can report. */
const KINDS_OF_CODE: Readonly<Record<string, readonly string[]>> = {
  hold_settled: ["settled", "charged"],
  hold_released: ["released"],
  hold_expired: ["expired", "charged"],
};

/** Whether one settlement repeats another. */
function isSameChange(a: HoldChangeRequest, b: HoldChangeRequest): boolean {
  if (a.endpoint !== "settle" || b.endpoint !== "settle") return a.endpoint === b.endpoint;
  return a.atMostHeld === b.atMostHeld && JSON.stringify(a.used) === JSON.stringify(b.used);
}

/** An extension never lowers anything, its response shows a stored state, and each request extends a hold at most once. */
export function checkExtended({ name, rows, calls }: Held): Violation[] {
  const states = new Set(
    rows.filter(isOpen).map(({ hold: { items, expiresAt: expiresAtMs } }) => {
      const [{ quantity, parts, overage } = { quantity: 0, parts: [], overage: [] }] = items;
      return describeState({
        quantity,
        creditsHeld: sumOf(parts),
        overageCredits: sumOf(overage),
        expiresAtMs,
      });
    }),
  );
  const violations = calls.flatMap((call): Violation[] => {
    const { request } = call;
    const extension = findExtension(call);
    if (request.endpoint !== "extend" || call.outcome.kind !== "ok") return [];
    const complain = (invariant: Invariant, text: string): Violation[] => [
      {
        invariant,
        text: `${request.marker} extended ${name}, acknowledged as ${call.outcome.kind === "ok" && call.outcome.body}: ${text}`,
      },
    ];
    if (extension === null) return complain("replies", "the response is unreadable");
    const { allowed, quantity, expiresAtMs } = extension;
    if (allowed && (quantity < request.quantity || expiresAtMs < Date.parse(request.expiresAt)))
      return complain("I1", "it is less than what was requested");
    const isStored = states.has(describeState(extension));
    return isStored ? [] : complain("I1", "the hold was never like that");
  });
  const asked = calls.flatMap((call) => {
    const mayBe = findExtension(call)?.allowed ?? isUnknown(call);
    return call.request.endpoint === "extend" && mayBe ? [call.request] : [];
  });
  const extended = rows.filter(({ kind }) => kind === "extended");
  const count = new Set(asked.map(({ marker }) => marker)).size;
  if (extended.length > count)
    violations.push({
      invariant: "I2",
      text: `${name} was extended ${extended.length} times by ${count} requests`,
    });
  const totals = new Set([rows[0]?.hold.items[0]?.quantity, ...asked.map(({ quantity }) => quantity)]);
  const endsMs = new Set([rows[0]?.expiresAtMs, ...asked.map(({ expiresAt }) => Date.parse(expiresAt))]);
  for (const { hold, expiresAtMs } of extended)
    if (!totals.has(hold.items[0]?.quantity) || !endsMs.has(expiresAtMs))
      violations.push({ invariant: "I3", text: `${name} was extended to values that no request had` });
  return violations;
}

function describeState(state: Omit<Extension, "allowed" | "reason">): string {
  return `${state.quantity} for ${state.creditsHeld} + ${state.overageCredits} until ${state.expiresAtMs}`;
}
