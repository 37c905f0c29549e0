import type { ManageCall, ManageOutcome } from "../../history/manage-call.ts";
import { type Mutation, testMutations } from "../valid-run/mutations.ts";
import type { Run } from "../valid-run/run.ts";
import { change, remove } from "../valid-run/tamper.ts";
import { entryOf } from "../valid-run/valid-run.ts";

const isReference = (reference: string) => (grant: { reference: string | null }) =>
  grant.reference === reference;
const isAbout =
  (name: string) =>
  ({ request }: ManageCall): boolean =>
    JSON.stringify(request).includes(`"${name}"`);

const answer = (run: Run, name: string, outcome: ManageOutcome): void =>
  change(run.manageCalls, isAbout(name), () => ({ outcome }));

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "credits that were said to be added are missing",
    invariant: "I1",
    says: /pay-2 is granted 0 times/,
    mutate: (run) => remove(run.grants, isReference("pay-2")),
  },
  {
    bug: "a payment that was notified twice is credited twice",
    invariant: "I3",
    says: /pay-2 is granted 2 times/,
    mutate: (run) => {
      const grant = run.grants.find(isReference("pay-2"));
      if (grant !== undefined) run.grants.push({ ...grant, number: 9 });
    },
  },
  {
    bug: "credits that were refused are there",
    invariant: "I3",
    says: /pay-2 is granted 1 times, where 0 to 0 are right/,
    mutate: (run) => answer(run, "pay-2", { kind: "refused", reason: "too_many_grants" }),
  },
  {
    bug: "credits with another amount than was asked for",
    invariant: "I1",
    says: /pay-2 is .*"credits":301.* instead of/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ credits: 301 })),
  },
  {
    bug: "credits for another customer",
    invariant: "I1",
    says: /pay-2 is .*"customer":2.* instead of/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ customer: 2 })),
  },
  {
    bug: "credits nobody asked for",
    invariant: "I3",
    says: /pay-2, was never asked for/,
    mutate: (run) => remove(run.manageCalls, isAbout("pay-2")),
  },
  {
    bug: "a grant revoked without anybody asking",
    invariant: "I3",
    says: /never asked for to be revoked/,
    mutate: (run) => change(run.grants, isReference("pay-2"), () => ({ isRevoked: true })),
  },
  {
    bug: "a reversal that was acknowledged is missing",
    invariant: "I1",
    says: /consume 5 .* has 0 for 0 credits reversed, where 500 for 2/,
    mutate: (run) => remove(run.ledger, ({ reverses }) => reverses === entryOf(run, "tokens").sequence),
  },
  {
    bug: "a reversal nobody asked for",
    invariant: "I3",
    says: /consume 5 .* has 500 for 2 credits reversed, where 0 for 0/,
    mutate: (run) =>
      remove(
        run.manageCalls,
        ({ request }) => request.operation === "reverseConsume" && request.quantity === 500,
      ),
  },
  {
    bug: "a plan that was assigned is not there",
    invariant: "I1",
    says: /customer_1 has plan starter, and was given growth/,
    mutate: (run) => {
      const last = run.manageCalls.findLast(isAbout("starter"));
      remove(run.manageCalls, (call) => call === last);
    },
  },
  {
    bug: "a plan nobody assigned",
    invariant: "I1",
    says: /customer_1 has plan starter, and was given free/,
    mutate: (run) => remove(run.manageCalls, ({ request }) => request.operation === "assignPlan"),
  },
];

testMutations(MUTATIONS);
