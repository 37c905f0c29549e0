import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import { brandAs, type FeatureKey, type PoolId } from "../../../service/src/primitives/brand.ts";
import { balanceIn, type Customer } from "../../../service/test/model/customer.ts";
import { viewOf } from "../../../service/test/model/model.ts";
import type { Answer, Request } from "../../../service/test/model/request.ts";
import type { Call } from "../history.ts";
import type { Account } from "./accounts.ts";
import { type Act, describeOverage } from "./act.ts";
import { type Decision, findClosing } from "./answers.ts";
import { creditsIn, type HoldRow } from "./hold-rows.ts";
import type { Facts } from "./violation.ts";

/** Facts from requests and responses that the rows of holds do not store, by marker. */
export type HoldCalls = {
  /** The settlements that may only use the credits of the hold. */
  readonly atMostHeld: ReadonlySet<string | null>;
};

type Sent = HoldCalls & { readonly decisions: ReadonlyMap<string | null, Decision> };

export function holdCallsIn(calls: readonly Call[]): HoldCalls {
  const atMostHeld = calls.flatMap(({ request }) =>
    request.endpoint === "settle" && request.atMostHeld ? [request.marker] : [],
  );
  return { atMostHeld: new Set(atMostHeld) };
}

/** The changes that requests made. The model expires holds without a request. */
export function listHoldActs({ customerId, holds }: Account, catalog: Catalog, sent: Sent): Act[] {
  return holds.flatMap((row): Act[] => {
    const { kind, hold, sequence, recordedAtMs: atMs } = row;
    const act = {
      name: `hold ${hold.number} of ${customerId}, ${kind} at ${sequence}`,
      position: sequence + 0.5,
      atMs,
      planVersion: null,
      isDenial: false,
    };
    switch (kind) {
      case "opened":
        return [{ ...act, planVersion: hold.planVersion, ...opening(row, catalog, sent) }];
      case "extended":
        return [{ ...act, ...extension(row) }];
      case "settled":
      case "released":
        return [{ ...act, ...end(row, sent) }];
      default:
        return [];
    }
  });
}

type Decided = Pick<Act, "request" | "stored" | "expect">;

function opening({ hold, marker }: HoldRow, catalog: Catalog, { decisions }: Sent): Decided {
  const keyOf = new Map([...catalog.features].map(([key, { id }]): [number, FeatureKey] => [id, key]));
  const { onExpiry, openedAt, expiresAt, memberId } = hold;
  const terms = { expiresInMs: expiresAt - openedAt, onExpiry, memberId };
  const items = hold.items.map(({ feature, quantity }) => {
    return { feature: keyOf.get(feature) ?? brandAs<FeatureKey>(""), quantity };
  });
  // Undefined if the response was lost.
  const answered = decisions.get(marker)?.items;
  return {
    request: { kind: "hold", items, terms },
    stored: {
      outcome: "allowed",
      "the plan's version": hold.planVersion,
      ...numbered(hold.items, (item, index) => ({
        "the charge": creditsIn(item),
        "the overage": sumOf(item.overage),
        "the balance": answered?.[index]?.balance,
        "the use": answered?.[index]?.limit?.used,
        "the period's overage": describeOverage(answered?.[index]?.overage),
      })),
    },
    expect: (answer, customer) => {
      if (answer.kind !== "decided") return { outcome: answer.kind };
      return {
        outcome: answer.reason ?? "allowed",
        "the plan's version": answer.planVersion,
        ...numbered(answer.items, ({ after }, index) => {
          const { credits, overage } = findOpen(customer, hold.number)?.items[index] ?? {};
          return {
            "the charge": credits,
            "the overage": overage,
            ...(answered !== undefined && {
              "the balance": after?.balance,
              "the use": after?.limit?.used,
              "the period's overage": describeOverage(after?.overage),
            }),
          };
        }),
      };
    },
  };
}

function extension({ hold }: HoldRow): Decided {
  const [item] = hold.items;
  const quantity = item?.quantity ?? 0;
  return {
    request: { kind: "extend", ...indexOf(hold), quantity, expiresAt: hold.expiresAt },
    stored: {
      outcome: "extended",
      ...{ quantity, credits: item === undefined ? 0 : creditsIn(item), end: hold.expiresAt },
      overage: sumOf(item?.overage ?? []),
    },
    expect: ({ kind: outcome }, customer) => {
      const { expiresAt: end, items } = findOpen(customer, hold.number) ?? {};
      return { outcome, ...items?.[0], end };
    },
  };
}

function findOpen(customer: Customer, number: number) {
  const index = customer.holds.slice(0, number - 1).filter(({ state }) => state === "open").length;
  return viewOf(customer).holds[index];
}

/** The response is stored with the hold's end, whether or not it arrived. */
function end({ kind, hold, marker, answer: text }: HoldRow, { atMostHeld }: HoldCalls): Decided {
  const closing = findClosing(text);
  const answered = closing?.items ?? [];
  const request: Request =
    kind === "released"
      ? { kind: "release", ...indexOf(hold) }
      : {
          kind: "settle",
          ...indexOf(hold),
          quantities: hold.items.map((_, index) => answered[index]?.quantity ?? 0),
          atMostHeld: atMostHeld.has(marker),
        };
  return {
    request,
    stored: {
      outcome: kind,
      late: closing?.late,
      released: closing?.creditsReleased,
      ...numbered(answered, (item) => ({
        "the charge": item.creditsCharged,
        "the overage": item.overageCredits,
        "the price": item.creditsRequired,
        "the use beyond the hold": item.creditsBeyondHold,
        uncovered: item.creditsUncovered,
        "the balance": item.balance,
      })),
    },
    expect: (answer, customer) => {
      const balances = numbered(hold.items, ({ pool }) => ({
        "the balance": balanceIn(customer, brandAs<PoolId>(pool)),
      }));
      const used = answer.kind === "settled" ? answer.items : [];
      const held = answer.kind === "settled" && answer.isLate ? [] : hold.items;
      const released = used.reduce((left, item) => left - item.creditsFromHold, total(held.map(creditsIn)));
      return { outcome: answer.kind, released, ...settledFacts(answer), ...balances };
    },
  };
}

function settledFacts(answer: Answer): Facts {
  if (answer.kind !== "settled") return {};
  return {
    late: answer.isLate,
    ...numbered(answer.items, (item) => ({
      "the charge": item.creditsCharged,
      "the overage": item.overageCredits,
      "the price": item.creditsRequired,
      "the use beyond the hold": item.creditsBeyondHold,
      uncovered: item.creditsUncovered,
    })),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function indexOf({ number }: { readonly number: number }): { hold: number } {
  return { hold: number - 1 };
}

/** The facts of each item. */
function numbered<T>(items: readonly T[], factsOf: (item: T, index: number) => Facts): Facts {
  return Object.fromEntries(
    items.flatMap((item, index) =>
      Object.entries(factsOf(item, index)).map(([name, value]) => [`${name} of item ${index}`, value]),
    ),
  );
}
