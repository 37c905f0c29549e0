import type { StoredEntry } from "./stored.ts";
import {
  change,
  isOf,
  type Mutation,
  rewriteBody,
  rewriteWallet,
  testMutations,
} from "./valid-run/mutations.ts";
import { openingOf } from "./valid-run/play-holds.ts";
import { entryOf, type Run } from "./valid-run/run.ts";

/** Adds `by` to the overage of a charge, without changing the credits. */
function moveOverage(run: Run, marker: string, by: number): void {
  change(run.ledger, isOf(marker), ({ overage, overageParts }) => {
    const [grant] = overageParts.split(":");
    return { overage: overage + by, overageParts: `${grant}:${overage + by}` };
  });
}

const isReversalOf = (run: Run, marker: string) => (entry: StoredEntry) =>
  entry.customer === entryOf(run, marker).customer && entry.reverses === entryOf(run, marker).sequence;

const MUTATIONS: readonly Mutation[] = [
  {
    bug: "the overage of an acknowledged charge is lost",
    invariant: "I1",
    says: /beyond, acknowledged .* price 60 instead of 90, overage 0 instead of 30/,
    mutate: (run) => change(run.ledger, isOf("beyond"), () => ({ overage: 0, overageParts: "" })),
  },
  {
    bug: "a charge has more overage than its price",
    invariant: "I4",
    says: /customer_8: entry \d+, consume, charges 100 instead of 90/,
    mutate: (run) => moveOverage(run, "beyond", 10),
  },
  {
    bug: "a charge with unknown outcome has the wrong overage",
    invariant: "I4",
    says: /customer_8: entry \d+, consume, charges 9 instead of 10/,
    mutate: (run) => moveOverage(run, "beyond-unknown", -1),
  },
  {
    bug: "overage is used before credits",
    invariant: "I1",
    says: /customer_8: the charge is 30, but the model says 40/,
    mutate: (run) =>
      change(run.ledger, isOf("within"), ({ parts }) => ({
        ...{ amount: -30, overage: 10, overageParts: `${parts.split(":")[0]}:10` },
        ...{ parts: parts.replace("-40", "-30") },
      })),
  },
  {
    bug: "a response has overage that was not charged",
    invariant: "I1",
    says: /beyond, acknowledged .* overage 30 instead of 40/,
    mutate: (run) => {
      rewriteBody(run, "beyond", '"overageCredits":30', '"overageCredits":40');
      rewriteBody(run, "beyond", '"creditsCharged":60', '"creditsCharged":50');
    },
  },
  {
    bug: "the credits and overage in a response add up to less than the price",
    invariant: "replies",
    says: /beyond of .* should charge 70 credits/,
    mutate: (run) => rewriteBody(run, "beyond", '"overageCredits":30', '"overageCredits":20'),
  },
  {
    bug: "a response charges overage although credits are left",
    invariant: "replies",
    says: /beyond of .* has overage that its balance does not explain/,
    mutate: (run) => rewriteBody(run, "beyond", '"balance":0', '"balance":5'),
  },
  {
    bug: "a check returns overage although the balance covers the price",
    invariant: "replies",
    says: /beyond-check of .* has overage that its balance does not explain/,
    mutate: (run) => rewriteBody(run, "beyond-check", '"overageCredits":30', '"overageCredits":90'),
  },
  {
    bug: "a response has an overage limit that no plan has",
    invariant: "replies",
    says: /beyond of .* has more overage than its plan allows/,
    mutate: (run) => rewriteBody(run, "beyond", '"credits":600', '"credits":700'),
  },
  {
    bug: "a response has more overage than its plan allows",
    invariant: "replies",
    says: /beyond of .* has more overage than its plan allows/,
    mutate: (run) => rewriteBody(run, "beyond", '"used":30', '"used":601'),
  },
  {
    bug: "the period's overage in a response differs from the sum of earlier charges",
    invariant: "I4",
    says: /customer_8: the period's overage is 20 of 600, 570 left, but the model says 30 of 600, 570 left/,
    mutate: (run) => rewriteBody(run, "beyond", '"used":30', '"used":20'),
  },
  {
    bug: "a denial shows the wrong remaining overage",
    invariant: "I4",
    says: /beyond-denied of customer_8.*the period's overage is 1 of 600/,
    mutate: (run) => rewriteBody(run, "beyond-denied", /"used":\d+/, '"used":1'),
  },
  {
    bug: "a response for a plan with overage omits the overage",
    invariant: "I4",
    says: /customer_9: the period's overage is none/,
    mutate: (run) => {
      rewriteBody(run, "unlimited", /,"overage":\{[^}]*\},"overageCredits":\d+/, "");
    },
  },
  {
    bug: "a response charges overage, but omits the overage of the period",
    invariant: "replies",
    says: /beyond of .* unreadable response/,
    mutate: (run) => rewriteBody(run, "beyond", /"overage":\{[^}]*\},/, ""),
  },
  {
    bug: "more overage is used than the plan allows",
    invariant: "I4",
    says: /consume \d+ of customer_8 leaves \d+ overage of grant \d+, but its plan allows 600/,
    mutate: (run) => moveOverage(run, "beyond", 1_000),
  },
  {
    bug: "a hold sets aside more overage than the plan allows",
    invariant: "I4",
    says: /hold \d+ of customer_8, opened leaves \d+ overage of grant \d+, but its plan allows 600/,
    mutate: (run) =>
      change(run.holdChanges, isOf("hold-over"), ({ state }) => ({
        state: state.replace(/,50\]\]/, ",900]]"),
      })),
  },
  {
    bug: "the overage of an open hold is lost",
    invariant: "I1",
    says: /hold-over, acknowledged .* for 10 instead of 6 images.render for 60, overage 0 instead of 50/,
    mutate: (run) =>
      change(run.holdChanges, isOf("hold-over"), ({ state }) => ({
        state: state.replace(/,\[\d+,50\]/, ""),
      })),
  },
  {
    bug: "the wallet counts less overage than was used",
    invariant: "I4",
    says: /customer_8: grant 1 has a used overage of \d+ in the wallet, \d+ according to its ledger/,
    mutate: (run) => rewriteWallet(run, entryOf(run, "beyond"), /(\[1,\d+,1,\d+,null,)\d+/, "$11"),
  },
  {
    bug: "the wallet counts less overage than is held",
    invariant: "I4",
    says: /customer_8: grant 1 has a held overage of 1 in the wallet, \d+ according to its holds/,
    mutate: (run) => rewriteWallet(run, entryOf(run, "beyond"), /(\[1,\d+,1,\d+,null,\d+,)\d+/, "$11"),
  },
  {
    bug: "a settlement loses its overage",
    invariant: "I1",
    says: /customer_8 has a charge with overage 60 instead of 70/,
    mutate: (run) => moveOverage(run, "settle-over", -10),
  },
  {
    bug: "a settlement returns different overage than it charges",
    invariant: "I1",
    says: /customer_8 was answered with .*overageCredits 80 instead of 70/,
    mutate: (run) => {
      const { hold } = openingOf(run, "hold-over");
      change(
        run.holdChanges,
        (row) => row.hold === hold && row.marker === "settle-over",
        ({ answer }) => ({
          answer: answer?.replace('"overageCredits":70', '"overageCredits":80') ?? null,
        }),
      );
    },
  },
  {
    bug: "a hold that is charged when it expires loses its overage",
    invariant: "I1",
    says: /customer_8 has a charge with .*overage 10 instead of 20/,
    mutate: (run) => {
      const { customer, hold } = openingOf(run, "hold-over-charged");
      change(
        run.ledger,
        (row) => row.customer === customer && row.hold === hold && row.kind === "consume",
        ({ overageParts }) => ({ overage: 10, overageParts: overageParts.replace(":20", ":10") }),
      );
    },
  },
  {
    bug: "a reversal returns credits before overage",
    invariant: "I4",
    says: /reverse \d+ of customer_8: credits is 20, but the model says 10/,
    mutate: (run) =>
      change(run.ledger, isReversalOf(run, "beyond"), ({ amount, parts, overageParts }) => ({
        ...{ amount: amount + 10, parts: parts.replace(":10", ":20") },
        ...{ overage: 20, overageParts: overageParts.replace(":30", ":20") },
      })),
  },
  {
    bug: "a reversal undoes overage counted by another grant",
    invariant: "I4",
    says: /customer_8: .* undoes 30 credits of overage in grant 2, but charge \d+ used only 0/,
    mutate: (run) => change(run.ledger, isReversalOf(run, "beyond"), () => ({ overageParts: "2:30" })),
  },
  {
    bug: "a reversal undoes more overage than was used",
    invariant: "I4",
    says: /customer_8: .* undoes 40 credits of overage in grant 1, but charge \d+ used only 30/,
    mutate: (run) =>
      change(run.ledger, isReversalOf(run, "beyond"), () => ({ overage: 40, overageParts: "1:40" })),
  },
];

testMutations(MUTATIONS);
