import type { ManageCall, ManageOutcome } from "../history.ts";
import type { StoredEntry } from "./stored.ts";
import { change, type Mutation, remove, testMutations } from "./valid-run/mutations.ts";
import { entryOf, type Run } from "./valid-run/run.ts";

const isReference = (reference: string) => (grant: { reference: string | null }) =>
  grant.reference === reference;
const isAbout =
  (name: string) =>
  ({ request }: ManageCall): boolean =>
    JSON.stringify(request).includes(`"${name}"`);

const answer = (run: Run, name: string, outcome: ManageOutcome): void =>
  change(run.manageCalls, isAbout(name), () => ({ outcome }));

function forgetLast(run: Run, name: string): void {
  const last = run.manageCalls.findLast(isAbout(name));
  remove(run.manageCalls, (call) => call === last);
}

/** A reversal of one of the three charges of a request with items. */
const isReversalOf = (item: number, quantity: number) => (entry: StoredEntry) =>
  entry.kind === "reverse" && entry.items === 3 && entry.item === item && entry.quantity === quantity;
const isOfItem =
  (index: number) =>
  ({ request }: ManageCall): boolean =>
    request.operation === "reverseConsume" && request.item === index;
/** The only request with several charges that is reversed as a whole. */
const isWhole = ({ outcome }: ManageCall): boolean =>
  outcome.kind === "reversed" && (outcome.items?.length ?? 0) > 1;

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "an acknowledged top-up is missing",
    invariant: "I1",
    says: /pay-2 is granted 0 times/,
    mutate: (run) => remove(run.grants, isReference("pay-2")),
  },
  {
    bug: "a repeated payment notification is credited twice",
    invariant: "I3",
    says: /pay-2 is granted 2 times/,
    mutate: (run) => {
      const grant = run.grants.find(isReference("pay-2"));
      if (grant !== undefined) run.grants.push({ ...grant, number: 9 });
    },
  },
  {
    bug: "a rejected top-up is stored",
    invariant: "I3",
    says: /pay-2 is granted 1 times, expected 0 to 0/,
    mutate: (run) => answer(run, "pay-2", { kind: "refused", reason: "too_many_grants" }),
  },
  {
    bug: "a top-up has a different amount from the request",
    invariant: "I1",
    says: /pay-2 is stored with credits 301 instead of 300/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ credits: 301 })),
  },
  {
    bug: "a top-up is stored for another customer",
    invariant: "I1",
    says: /pay-2 is stored with customerId customer_2 instead of customer_1/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ customer: 2 })),
  },
  {
    bug: "a top-up was never requested",
    invariant: "I3",
    says: /pay-2, was never requested/,
    mutate: (run) => remove(run.manageCalls, isAbout("pay-2")),
  },
  {
    bug: "a grant is revoked without a request",
    invariant: "I3",
    says: /was revoked without a request/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ isRevoked: true })),
  },
  {
    bug: "an acknowledged reversal is missing",
    invariant: "I1",
    says: /consume 5 .* has 0 reversed for 0 credits and 0 overage, expected 500 for 2 and 0/,
    mutate: (run) => remove(run.ledger, ({ reverses }) => reverses === entryOf(run, "tokens").sequence),
  },
  {
    bug: "a reversal was never requested",
    invariant: "I3",
    says: /consume 5 .* has 500 reversed for 2 credits and 0 overage, expected 0 for 0 and 0/,
    mutate: (run) =>
      remove(
        run.manageCalls,
        ({ request }) => request.operation === "reverseConsume" && request.quantity === 500,
      ),
  },
  {
    bug: "an assigned plan is missing",
    invariant: "I1",
    says: /customer_1 has plan starter, expected studio/,
    mutate: (run) => forgetLast(run, "starter"),
  },
  {
    bug: "a pending plan was dropped without a record",
    invariant: "I4",
    says: /customer_1 holds plan .*, but the model says plan .*, then plan/,
    mutate: (run) => remove(run.assignments, ({ kind }) => kind === "unscheduled"),
  },
  {
    bug: "a pending plan was never scheduled",
    invariant: "I1",
    says: /customer_2 has plan growth, expected free/,
    mutate: (run) => forgetLast(run, "growth"),
  },
  {
    bug: "a pending plan has the wrong start",
    invariant: "I4",
    says: /customer_2 holds plan .*, then plan .* at \d+,.* but the model says/,
    mutate: (run) =>
      change(
        run.assignments,
        ({ kind, effectiveAtMs, recordedAtMs }) =>
          kind === "scheduled" && effectiveAtMs === recordedAtMs + 999,
        ({ effectiveAtMs }) => ({ effectiveAtMs: effectiveAtMs + 1 }),
      ),
  },
  {
    bug: "a plan was never assigned",
    invariant: "I1",
    says: /customer_1 has plan starter, expected free/,
    mutate: (run) => remove(run.manageCalls, ({ request }) => request.operation === "assignPlan"),
  },
  {
    bug: "a top-up is stored in another pool",
    invariant: "I1",
    says: /pay-3 is stored with pool credits instead of minutes/,
    mutate: (run) => change(run.grants, isReference("pay-3"), () => ({ pool: 1 })),
  },
  {
    bug: "a reversal of a whole request does not reverse one of the charges",
    invariant: "I1",
    says: /consume 6 of customer_5 has 0 reversed for 0 credits and 0 overage, expected 1001 for 4 and 0/,
    mutate: (run) => remove(run.ledger, isReversalOf(2, 1_001)),
  },
  {
    bug: "a reversal of a whole request neither reverses nor reports one of the charges",
    invariant: "I1",
    says: /consume 6 of customer_5 is not reversed, but its whole request is/,
    mutate: (run) => {
      remove(run.ledger, isReversalOf(2, 1_001));
      change(run.manageCalls, isWhole, ({ outcome }) => {
        if (outcome.kind !== "reversed") throw new Error("nothing was reversed");
        return { outcome: { ...outcome, items: (outcome.items ?? []).filter(({ item }) => item !== 2) } };
      });
    },
  },
  {
    bug: "a reversal of a whole request with unknown outcome reverses only some charges",
    invariant: "I1",
    says: /consume 6 of customer_5 is not reversed, but its whole request is/,
    mutate: (run) => {
      remove(run.ledger, isReversalOf(2, 1_001));
      const outcome: ManageOutcome = { kind: "unknown", reason: "reset" };
      change(run.manageCalls, isWhole, () => ({ outcome }));
    },
  },
  {
    bug: "an acknowledged reversal of one item is missing",
    invariant: "I1",
    says: /consume 5 of customer_5 has 60 reversed for 1 credits and 0 overage, expected 90 for 2 and 0/,
    mutate: (run) => remove(run.ledger, isReversalOf(1, 30)),
  },
  {
    bug: "a reversal of one item was never requested",
    invariant: "I3",
    says: /consume 5 of customer_5 has 90 reversed for 2 credits and 0 overage, expected 60 for 1 and 0/,
    mutate: (run) => remove(run.manageCalls, isOfItem(1)),
  },
  {
    bug: "a reversal of one item reverses another item instead",
    invariant: "I3",
    says: /consume 5 of customer_5 has 90 reversed for 2 credits and 0 overage, expected 60 for 1 and 0/,
    mutate: (run) =>
      change(run.manageCalls, isOfItem(1), ({ request, outcome }) => {
        if (request.operation !== "reverseConsume" || outcome.kind !== "reversed") return {};
        const items = (outcome.items ?? []).map((item) => ({ ...item, item: 2 }));
        return { request: { ...request, item: 2 }, outcome: { ...outcome, items } };
      }),
  },
  {
    bug: "a reversal of an item is stored with another item's position",
    invariant: "I4",
    says: /entry 10, reverse, differs from charge 5 in pool, feature, plan, overrides, hold or item position/,
    mutate: (run) => change(run.ledger, isReversalOf(1, 30), () => ({ item: 2 })),
  },
  {
    bug: "an acknowledged charge is not found when it is reversed",
    invariant: "I1",
    says: /was not found when it was reversed, but was acknowledged/,
    mutate: (run) => {
      const call = run.manageCalls.find(isOfItem(1));
      if (call === undefined) throw new Error("no item was reversed");
      run.manageCalls.push({ ...call, outcome: { kind: "refused", reason: "consume_not_found" } });
    },
  },
];

testMutations(MUTATIONS);
