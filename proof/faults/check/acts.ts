import type { Catalog } from "../../../service/src/entitlement/catalog.ts";
import { sumOf } from "../../../service/src/entitlement/part-lists.ts";
import {
  brandAs,
  type FeatureKey,
  type Instant,
  type PoolId,
} from "../../../service/src/primitives/brand.ts";
import { balanceIn } from "../../../service/test/model/customer.ts";
import type { Answer, Item } from "../../../service/test/model/request.ts";
import type { Call } from "../history.ts";
import { type Account, nameOf } from "./accounts.ts";
import { type Act, describeOverage, ledgerBalance } from "./act.ts";
import { type Decision, findDecision, findReversed, type Reversed, type ReversedItem } from "./answers.ts";
import { type HoldCalls, holdCallsIn, listHoldActs } from "./hold-acts.ts";
import type { StoredDenial, StoredEntry, StoredGrant } from "./stored.ts";
import type { Facts } from "./violation.ts";

/** Facts that only responses contain, and no row stores. */
export type Answered = HoldCalls & {
  /** The response to each consume request or request for a hold, by its marker. */
  readonly decisions: ReadonlyMap<string | null, Decision>;
  /** The response to each reversal, by its marker. */
  readonly reversals: ReadonlyMap<string | null, Reversed>;
};

export function answeredBy(calls: readonly Call[]): Answered {
  const decisions = calls.flatMap((call): [string, Decision][] => {
    const decision = call.request.endpoint === "check" ? null : findDecision(call);
    return decision === null ? [] : [[call.request.marker, decision]];
  });
  const reversals = calls.flatMap((call): [string, Reversed][] => {
    const reversed = findReversed(call);
    return reversed === null ? [] : [[call.request.marker, reversed]];
  });
  return { ...holdCallsIn(calls), decisions: new Map(decisions), reversals: new Map(reversals) };
}

/** Lists the rows in ledger order. Returns an error message if they are inconsistent. */
export function listActs(account: Account, catalog: Catalog, answered: Answered): Act[] | string {
  const { customerId, wallet, entries, grants, denials } = account;
  const acts: Act[] = [];
  for (const denial of denials) {
    const items = findDeniedItems(denial);
    if (items === null) return `${denial.marker} was denied for unreadable items: ${denial.items}`;
    acts.push(denialAct(customerId, catalog, { denial, items, answered }));
  }
  const ahead = denials.find(({ sequence }) => sequence > wallet.sequence);
  if (ahead !== undefined)
    return `${ahead.marker} was denied at ${ahead.sequence}, but the ledger ends at ${wallet.sequence}`;
  const consumes: number[] = [];
  const added = grants.filter(({ kind }) => kind !== "allowance");
  const slots = new Set(added.map(({ number }) => number));
  for (const [index, entry] of entries.entries()) {
    if (entry.kind === "consume") {
      consumes.push(entry.sequence);
      // One act has all charges of a request with items. The charges of a hold belong to the end of the hold.
      if ((entry.item ?? 0) === 0 && entry.hold === null)
        acts.push(consumeAct(customerId, chargesFrom(entries, index), answered));
    } else if (entry.kind === "reverse") {
      const consume = consumes.indexOf(entry.reverses ?? 0);
      if (consume < 0)
        return `reverse ${entry.sequence} reverses ${entry.reverses}, which is not an earlier consume`;
      // The response has the balances after the last entry.
      const isLast = !entries.slice(index + 1).some(({ marker }) => marker === entry.marker);
      const items = (isLast ? answered.reversals.get(entry.marker)?.items : null) ?? [];
      acts.push(
        reverseAct(customerId, catalog, { entry, consume, balance: balanceAfter(entries, index), items }),
      );
    } else if (entry.kind === "grant" && slots.has(Number.parseInt(entry.parts, 10))) {
      const grant = added.shift();
      if (grant === undefined) return `grant ${entry.sequence} was never added`;
      acts.push(addAct(customerId, entry, grant));
    }
  }
  if (added.length > 0) return `the ledger has no entry for grant ${added[0]?.number}`;
  acts.push(...listHoldActs(account, catalog, answered));
  return acts.toSorted((a, b) => a.position - b.position || a.atMs - b.atMs);
}

/** Returns the charge at this position and all later charges of the same request. */
function chargesFrom(entries: readonly StoredEntry[], index: number): StoredEntry[] {
  const later = entries.slice(index, index + (entries[index]?.items ?? 1));
  const end = later.findIndex(({ kind, item }, at) => kind !== "consume" || (item ?? 0) !== at);
  return end < 0 ? later : later.slice(0, end);
}

function consumeAct(customerId: string, charges: readonly StoredEntry[], { decisions }: Answered): Act {
  const [first] = charges;
  if (first === undefined) throw new Error("a request has a charge");
  const { planVersion } = first;
  const answered = decisions.get(first.marker)?.items;
  return {
    ...actOf(customerId, first),
    request: { kind: "decide", items: charges.map(({ feature, quantity }) => toItem(feature, quantity)) },
    planVersion,
    stored: {
      outcome: "allowed",
      ...chargeFacts(
        charges.map(({ amount, pool, overage: beyond }, index) => {
          // The model returns the balances after the whole request.
          const last = charges.findLast((charge) => charge.pool === pool);
          const overage = describeOverage(answered?.[index]?.overage);
          return { charge: -amount, beyond, balance: last?.balanceAfter, overage };
        }),
      ),
      "the plan's version": planVersion,
    },
    expect: (answer, customer) => {
      if (answer.kind !== "decided") return { outcome: answer.kind };
      return {
        outcome: answer.reason ?? "allowed",
        ...chargeFacts(
          answer.items.map(({ creditsRequired, after }, index) => {
            const pool = brandAs<PoolId>(charges[index]?.pool ?? 0);
            const taken = customer.consumes[customer.charges.at(index - charges.length) ?? -1];
            const beyond = sumOf(taken?.overage ?? []);
            const overage = answered === undefined ? undefined : describeOverage(after?.overage);
            const balance = ledgerBalance(customer, pool);
            return { charge: creditsRequired - beyond, beyond, balance, overage };
          }),
        ),
        "the plan's version": answer.planVersion,
      };
    },
  };
}

type ChargeFacts = {
  readonly charge: number;
  /** The part of the price that is overage. */
  readonly beyond: number;
  readonly balance: number | undefined;
  /** The value in the response. Undefined if the response was lost. */
  readonly overage: string | undefined;
};

function chargeFacts(charges: readonly ChargeFacts[]): Facts {
  return Object.fromEntries(
    charges.flatMap(({ charge, beyond, balance, overage }, index) => {
      const of = charges.length === 1 ? "" : ` of item ${index}`;
      return [
        [`the charge${of}`, charge],
        [`the overage${of}`, beyond],
        [`the balance${of}`, balance],
        [`the period's overage${of}`, overage],
      ];
    }),
  );
}

type Denied = {
  readonly denial: StoredDenial;
  readonly items: readonly Item[];
  readonly answered: Answered;
};

function denialAct(customerId: string, catalog: Catalog, { denial, items, answered }: Denied): Act {
  const { marker, sequence, recordedAtMs, planVersion, reason } = denial;
  const decision = answered.decisions.get(marker);
  const quantity = decision?.affordableQuantity ?? null;
  const shown = decision?.items[decision.deniedItem ?? 0]?.overage;
  const poolOf = (index: number): number | undefined => {
    const item = items[index];
    return item === undefined ? undefined : catalog.features.get(item.feature)?.pool;
  };
  return {
    name: `${marker} of ${customerId}, denied at ${sequence}`,
    position: sequence + 0.5,
    atMs: recordedAtMs,
    request: { kind: "decide", items },
    planVersion,
    isDenial: true,
    stored: {
      outcome: reason,
      "the denied item": denial.item ?? 0,
      "the charge": denial.creditsRequired,
      "the balance": denial.balance,
      "the plan's version": planVersion,
      "the limit": denial.limitQuantity,
      "the use": denial.limitUsed,
      "the affordable quantity": quantity,
      "the period's overage": describeOverage(shown),
    },
    expect: (answer) => {
      if (answer.kind !== "decided" || answer.deniedItem === null) return { outcome: outcomeOf(answer) };
      const { deniedItem } = answer;
      const needed = answer.items.filter(
        (_, index) => index <= deniedItem && poolOf(index) === poolOf(deniedItem),
      );
      const before = answer.items[deniedItem]?.before;
      return {
        outcome: answer.reason,
        "the denied item": deniedItem,
        "the charge": needed.reduce((sum, { creditsRequired }) => sum + creditsRequired, 0),
        "the balance": before?.balance,
        "the plan's version": answer.planVersion,
        "the limit": before?.limit?.quantity ?? null,
        "the use": before?.limit?.used ?? null,
        ...(quantity !== null && { "the affordable quantity": answer.affordableQuantity }),
        ...(shown !== undefined && { "the period's overage": describeOverage(before?.overage) }),
      };
    },
  };
}

function outcomeOf(answer: Answer): string {
  return answer.kind === "decided" ? (answer.reason ?? "allowed") : answer.kind;
}

/** Null if the stored items are unreadable. */
function findDeniedItems({ items, feature, quantity }: StoredDenial): Item[] | null {
  if (items === null) return [toItem(feature, quantity)];
  try {
    const pairs: readonly [string, number][] = JSON.parse(items);
    return pairs.map(([key, count]) => toItem(key, count));
  } catch {
    return null;
  }
}

function toItem(feature: string | null, quantity: number | null): Item {
  return { feature: brandAs<FeatureKey>(feature ?? ""), quantity: quantity ?? 0 };
}

type Undone = {
  readonly entry: StoredEntry;
  /** The index of the reversed charge. */
  readonly consume: number;
  readonly balance: number;
  /** The items in the response. */
  readonly items: readonly ReversedItem[];
};

function reverseAct(customerId: string, catalog: Catalog, { entry, consume, balance, items }: Undone): Act {
  const named = (balanceOf: (item: ReversedItem) => number | null): Facts =>
    Object.fromEntries(items.map((item) => [`the balance for ${item.feature}`, balanceOf(item)]));
  const { pool, amount, overage, quantity } = entry;
  return {
    ...actOf(customerId, entry),
    request: { kind: "reverse", consume, quantity },
    stored: {
      ...{ outcome: "reversed", credits: amount, "the overage": overage, "the balance": balance },
      ...named((item) => item.balance),
    },
    expect: (answer, customer) =>
      answer.kind === "reversed"
        ? {
            outcome: answer.kind,
            credits: answer.credits,
            "the overage": answer.overageCredits,
            "the balance": ledgerBalance(customer, brandAs<PoolId>(pool)),
            ...named(({ feature }) => {
              const own = catalog.features.get(brandAs<FeatureKey>(feature))?.pool;
              return own === undefined ? null : balanceIn(customer, own);
            }),
          }
        : { outcome: answer.kind },
  };
}

function addAct(customerId: string, entry: StoredEntry, grant: StoredGrant): Act {
  const { kind, credits, expiresAtMs } = grant;
  const pool = brandAs<PoolId>(entry.pool);
  if (kind === "allowance") throw new Error("an allowance is not added");
  const expiresAt = expiresAtMs === null ? null : brandAs<Instant>(expiresAtMs);
  return {
    ...actOf(customerId, entry),
    request: { kind: "add", pool, source: kind, credits, expiresAt },
    stored: { outcome: "added", "the balance": entry.balanceAfter },
    expect: ({ kind: outcome }, customer) => ({ outcome, "the balance": ledgerBalance(customer, pool) }),
  };
}

function actOf(
  customerId: string,
  entry: StoredEntry,
): Pick<Act, "name" | "position" | "atMs" | "planVersion" | "isDenial"> {
  const { sequence: position, recordedAtMs: atMs } = entry;
  return { name: nameOf(customerId, entry), position, atMs, planVersion: null, isDenial: false };
}

/** The balance after a reversal. Credits returned to expired grants expire immediately, with one entry for each grant. */
function balanceAfter(entries: readonly StoredEntry[], index: number): number {
  const [reversal, ...later] = entries.slice(index);
  if (reversal === undefined) return Number.NaN;
  const returned = new Set(reversal.parts.split(",").map((part) => Number.parseInt(part, 10)));
  const isKept = ({ kind, recordedAtMs, parts }: StoredEntry): boolean =>
    kind !== "expire" ||
    recordedAtMs !== reversal.recordedAtMs ||
    !returned.delete(Number.parseInt(parts, 10));
  const end = later.findIndex(isKept);
  const expiries = end < 0 ? later : later.slice(0, end);
  return (expiries.at(-1) ?? reversal).balanceAfter;
}
