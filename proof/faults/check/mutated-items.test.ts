import type { StoredEntry } from "./stored.ts";
import { chargeId, keyHashOf } from "./subjects.ts";
import {
  change,
  chargeAgain,
  isKey,
  isOf,
  type Mutation,
  remove,
  rewriteBody,
  testMutations,
} from "./valid-run/mutations.ts";
import { publicIdOf, type Run } from "./valid-run/run.ts";

const isItem =
  (marker: string, item: number) =>
  (entry: StoredEntry): boolean =>
    entry.marker === marker && entry.item === item;

/** Returns the ID of the second charge of a request. */
function secondOf(run: Run, marker: string): string {
  const entry = run.ledger.find(isItem(marker, 1));
  if (entry === undefined) throw new Error(`${marker} has only one charge`);
  return chargeId(entry);
}

const CHARGES: readonly Mutation[] = [
  {
    bug: "one charge of an acknowledged request is missing",
    invariant: "I1",
    says: /three, acknowledged .* charge 2 of 3 is not in the ledger/,
    mutate: (run) => remove(run.ledger, isItem("three", 1)),
  },
  {
    bug: "a request with unknown outcome has only some of its charges",
    invariant: "I1",
    says: /consume 8 of customer_5, charge 1 of 2, is not followed by the next charge/,
    mutate: (run) => remove(run.ledger, isItem("items-unknown-stored", 1)),
  },
  {
    bug: "only the first item is charged, as if the request had no other items",
    invariant: "I1",
    says: /items-unknown-stored is stored with item null instead of 0, items null instead of 2/,
    mutate: (run) => {
      change(run.ledger, isItem("items-unknown-stored", 0), () => ({ item: null, items: null }));
      remove(run.ledger, isItem("items-unknown-stored", 1));
    },
  },
  {
    bug: "the charge of a request with one item has an item position",
    invariant: "I1",
    says: /one is stored with item 0 instead of null, items 1 instead of null/,
    mutate: (run) => change(run.ledger, isOf("one"), () => ({ item: 0, items: 1 })),
  },
  {
    bug: "the charges of a request are not consecutive",
    invariant: "I1",
    says: /consume 6 of customer_5, charge 2 of 3, does not follow the previous charge/,
    mutate: (run) =>
      change(
        run.ledger,
        (entry) => isOf("three")(entry) && entry.item !== 0,
        ({ item }) => ({ item: item === 1 ? 2 : 1 }),
      ),
  },
  {
    bug: "the charges of a request store different numbers of items",
    invariant: "I1",
    says: /charge 3 of 4, differs from the previous charge: items 4 instead of 3/,
    mutate: (run) => change(run.ledger, isItem("three", 2), () => ({ items: 4 })),
  },
  {
    bug: "one charge of a request has another key hash",
    invariant: "I1",
    says: /consume 5 of customer_5, charge 2 of 3, differs .* keyHash/,
    mutate: (run) => change(run.ledger, isItem("three", 1), () => ({ keyHash: keyHashOf("key-two") })),
  },
  {
    bug: "a charge is part of another request",
    invariant: "I1",
    says: /consume 5 of customer_5, charge 2 of 3, differs .* marker two instead of three/,
    mutate: (run) => change(run.ledger, isItem("three", 1), () => ({ marker: "two" })),
  },
  {
    bug: "the charges of a request are committed at different times",
    invariant: "I1",
    says: /charge 2 of 2, differs .* recordedAtMs/,
    mutate: (run) =>
      change(run.ledger, isItem("items-unknown-stored", 1), ({ recordedAtMs }) => ({
        recordedAtMs: recordedAtMs + 1,
      })),
  },
  {
    bug: "a response and its key refer to the second charge of a request",
    invariant: "I2",
    says: /key-three points to .* which does not exist/,
    mutate: (run) => {
      const id = secondOf(run, "three");
      change(run.keys, isKey("key-three"), () => ({ subjectId: id }));
      rewriteBody(run, "three", /con_\w+/, publicIdOf("con", id));
    },
  },
  ...(
    [
      { field: "name", difference: { feature: "video.encode" } },
      { field: "quantity", difference: { quantity: 91 } },
    ] as const
  ).map(
    ({ field, difference }): Mutation => ({
      bug: `one charge has a different ${field} from its item`,
      invariant: "I1",
      says: new RegExp(`three is stored with ${field}`),
      mutate: (run) => change(run.ledger, isItem("three", 1), () => difference),
    }),
  ),
  {
    bug: "one charge has a different amount from the response",
    invariant: "I1",
    says: /three, acknowledged .* its entry 2 of 3 has price 3 instead of 2, charge 3 instead of 2/,
    mutate: (run) => change(run.ledger, isItem("three", 1), () => ({ amount: -3, parts: "2:-3" })),
  },
  {
    bug: "a request with unknown outcome is charged the wrong amount for an item",
    invariant: "I1",
    says: /consume 8 of customer_5: the charge of item 0 is 61, but the model says 60/,
    mutate: (run) =>
      change(run.ledger, isItem("items-unknown-stored", 0), () => ({ amount: -61, parts: "2:-61" })),
  },
  {
    bug: "a response has the balance before the last item",
    invariant: "I1",
    says: /three, acknowledged .* its entry 1 of 3 has balance 156 instead of 160/,
    mutate: (run) => rewriteBody(run, "three", '"balance":156', '"balance":160'),
  },
  {
    bug: "a request with items is charged twice",
    invariant: "I3",
    says: /three is stored 2 times as charge/,
    mutate: (run) => chargeAgain(run, "three"),
  },
  {
    bug: "a rejected request with items has a charge",
    invariant: "I3",
    says: /items-refused is stored 1 times as charge, expected 0 to 0/,
    mutate: (run) => chargeAgain(run, "two", { marker: "items-refused" }),
  },
];

const DENIALS: readonly Mutation[] = [
  {
    bug: "the items before the denied item are charged",
    invariant: "I4",
    says: /items-dry, denied as .*it was charged/,
    mutate: (run) => chargeAgain(run, "two", { marker: "items-dry", keyHash: keyHashOf("key-items-dry") }),
  },
  {
    bug: "the denial of a request with items is not stored",
    invariant: "I3",
    says: /items-limited is stored 0 times as denial/,
    mutate: (run) => remove(run.denials, isOf("items-limited")),
  },
  {
    bug: "a denial is stored without the items before the denied item",
    invariant: "I4",
    says: /items-dry is stored with items \[\["video.encode",25\]\] instead of/,
    mutate: (run) => change(run.denials, isOf("items-dry"), () => ({ items: '[["video.encode",25]]' })),
  },
  {
    bug: "a denial of a request with items is stored without them",
    invariant: "I4",
    says: /items-dry is stored with .*item null instead of 0, items null instead of/,
    mutate: (run) => change(run.denials, isOf("items-dry"), () => ({ item: null, items: null })),
  },
  {
    bug: "a denial is stored with unreadable items",
    invariant: "I4",
    says: /items-dry-unknown was denied for unreadable items/,
    mutate: (run) => change(run.denials, isOf("items-dry-unknown"), () => ({ items: "[[" })),
  },
  {
    bug: "a denial of a request without items is stored with items",
    invariant: "I4",
    says: /limited is stored with item 0 instead of null/,
    mutate: (run) =>
      change(run.denials, isOf("limited"), () => ({ item: 0, items: '[["reports.export",39]]' })),
  },
  {
    bug: "a denial names a different item from the response",
    invariant: "I4",
    says: /items-dry, denied as .* stored with item 1 instead of 2/,
    mutate: (run) => change(run.denials, isOf("items-dry"), () => ({ item: 1 })),
  },
  {
    bug: "a denial names an item that could be charged",
    invariant: "I4",
    says: /items-dry-unknown .*: the denied item is 0, but the model says 1/,
    mutate: (run) =>
      change(run.denials, isOf("items-dry-unknown"), () => ({
        item: 0,
        feature: "images.render",
        quantity: 5,
      })),
  },
  {
    bug: "the required credits in a denial include only the denied item",
    invariant: "I4",
    says: /items-dry, denied as .* stored with creditsRequired 50 instead of 60/,
    mutate: (run) => change(run.denials, isOf("items-dry"), () => ({ creditsRequired: 50 })),
  },
  {
    bug: "the required credits in a denial with unknown outcome include only the denied item",
    invariant: "I1",
    says: /items-dry-unknown .*: the charge is 180, but the model says 230/,
    mutate: (run) => change(run.denials, isOf("items-dry-unknown"), () => ({ creditsRequired: 180 })),
  },
  {
    bug: "the required credits in a denial include all pools",
    invariant: "I4",
    says: /items-dry, denied as .* stored with creditsRequired 70 instead of 60/,
    mutate: (run) => change(run.denials, isOf("items-dry"), () => ({ creditsRequired: 70 })),
  },
  {
    bug: "a request with items is denied although balance and limits allow it",
    invariant: "I4",
    says: /items-dry-unknown .*: outcome is insufficient_credits, but the model says allowed/,
    mutate: (run) =>
      change(run.denials, isOf("items-dry-unknown"), () => ({
        quantity: 1,
        items: '[["images.render",5],["tokens.generate",1]]',
      })),
  },
  {
    bug: "a denial of an item has the wrong reason",
    invariant: "I4",
    says: /items-dry-unknown .*: outcome is limit_reached, but the model says insufficient_credits/,
    mutate: (run) => change(run.denials, isOf("items-dry-unknown"), () => ({ reason: "limit_reached" })),
  },
  {
    bug: "a denial of an item is stored with the wrong limit usage",
    invariant: "I4",
    says: /items-limited, denied as .* stored with limitUsed 5 instead of 4/,
    mutate: (run) => change(run.denials, isOf("items-limited"), () => ({ limitUsed: 5 })),
  },
];

testMutations([...CHARGES, ...DENIALS]);
