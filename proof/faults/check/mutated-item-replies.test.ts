import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import { chargeAgain, firstCall, type Mutation, rewriteBody, testMutations } from "./valid-run/mutations.ts";
import { again, callOf, type Run } from "./valid-run/run.ts";
import { validRun } from "./valid-run/valid-run.ts";

const REPLIES: readonly Mutation[] = [
  {
    bug: "a replay of a request with items has different bytes",
    invariant: "I2",
    says: /key-three: different responses/,
    mutate: (run) => {
      const { request, outcome } = firstCall(run, "three");
      if (outcome.kind !== "ok") return;
      const body = outcome.body.replace(/"balance":128/, '"balance":56');
      run.calls.push(callOf(request, again({ ...outcome, body })));
    },
  },
  {
    bug: "a response has fewer items than the request",
    invariant: "replies",
    says: /three .* returned different items from the request/,
    mutate: (run) => rewriteBody(run, "three", /,\{"feature":"tokens.generate"[^}]*\}/, ""),
  },
  {
    bug: "a response has a different item from the request",
    invariant: "replies",
    says: /three .* returned another feature/,
    mutate: (run) => rewriteBody(run, "three", '"images.render"', '"video.encode"'),
  },
  {
    bug: "a response charges the wrong amount for an item",
    invariant: "replies",
    says: /three .* should charge 2 credits/,
    mutate: (run) => rewriteBody(run, "three", '"creditsCharged":2,', '"creditsCharged":3,'),
  },
  {
    bug: "a denial charges an item",
    invariant: "replies",
    says: /items-dry .* should charge 0 credits/,
    mutate: (run) => rewriteBody(run, "items-dry", '"creditsCharged":0', '"creditsCharged":10'),
  },
  {
    bug: "an item is in a different pool from its feature",
    invariant: "replies",
    says: /three-check returned pool credits for audio.transcribe, which is in minutes/,
    mutate: (run) => rewriteBody(run, "three-check", '"pool":"minutes"', '"pool":"credits"'),
  },
  {
    bug: "a response denies a different item than its numbers require",
    invariant: "replies",
    says: /items-dry .* has item 2 denied for insufficient_credits by its own numbers/,
    mutate: (run) => rewriteBody(run, "items-dry", '"deniedItem":2', '"deniedItem":0'),
  },
  {
    bug: "a check is allowed although its numbers require a denial",
    invariant: "replies",
    says: /three-check .* has item 2 denied for insufficient_credits by its own numbers/,
    mutate: (run) => rewriteBody(run, "three-check", /"balance":180/g, '"balance":23'),
  },
  {
    bug: "a check with items is charged",
    invariant: "I7",
    says: /three-check is stored 1 times as charge/,
    mutate: (run) => chargeAgain(run, "three", { marker: "three-check" }),
  },
];

const AFFORDABLE: readonly Mutation[] = [
  ...(
    [
      { marker: "items-dry", what: "the denied item", is: 24 },
      { marker: "items-limited", what: "a limited item", is: 46 },
      { marker: "limited", what: "a limited feature", is: 38 },
      { marker: "dry", what: "a feature", is: 0 },
      { marker: "missing", what: "a feature that is not in the plan", is: 0 },
    ] as const
  ).flatMap(({ marker, what, is }): Mutation[] => {
    const mutate = (run: Run): void =>
      rewriteBody(run, marker, `"affordableQuantity":${is}`, `"affordableQuantity":${is + 1}`);
    const says = new RegExp(`${marker} of .* the affordable quantity is ${is + 1}, but the model says ${is}`);
    return [
      { bug: `the affordable quantity of ${what} is too large`, invariant: "I4", says, mutate },
      {
        bug: `the affordable quantity of ${what} exceeds the response's numbers`,
        invariant: "replies",
        says: new RegExp(`${marker} of client-0 should not call ${is + 1} affordable`),
        mutate,
      },
    ];
  }),
  {
    bug: "the affordable quantity in a check is too small",
    invariant: "replies",
    says: /items-dry-check .* should not call 23 affordable/,
    mutate: (run) =>
      rewriteBody(run, "items-dry-check", '"affordableQuantity":24', '"affordableQuantity":23'),
  },
  {
    bug: "a denial has no affordable quantity",
    invariant: "replies",
    says: /dry has no affordable quantity/,
    mutate: (run) => rewriteBody(run, "dry", /"affordableQuantity":\d+,/, ""),
  },
  {
    bug: "a denial with items has no affordable quantity",
    invariant: "replies",
    says: /items-dry has no affordable quantity/,
    mutate: (run) => rewriteBody(run, "items-dry", /"affordableQuantity":\d+,/, ""),
  },
  {
    bug: "an allowed request has an affordable quantity",
    invariant: "replies",
    says: /image should have no affordable quantity/,
    mutate: (run) => rewriteBody(run, "image", '"consumeId"', '"affordableQuantity":3,"consumeId"'),
  },
];

testMutations([...REPLIES, ...AFFORDABLE]);

// A run that finishes an upgrade. A call takes 5 ms, and the next call starts 5 ms later.

const MISSING = "has no affordable quantity";
const UNDUE = "should have no affordable quantity";

test.each([
  // The replay of this request is sent after the upgrade.
  { marker: "dry", upgrade: "after", hasQuantity: false, problem: null },
  { marker: "dry", upgrade: "after", hasQuantity: true, problem: UNDUE },
  { marker: "dry", upgrade: "before", hasQuantity: false, problem: MISSING },
  { marker: "dry", upgrade: "before", hasQuantity: true, problem: null },
  // The earlier release answers checks without the affordable quantity, and the new release includes it.
  { marker: "items-dry-check", upgrade: "after", hasQuantity: false, problem: null },
  { marker: "items-dry-check", upgrade: "after", hasQuantity: true, problem: null },
  { marker: "items-dry-check", upgrade: "before", hasQuantity: false, problem: MISSING },
  { marker: "items-dry-check", upgrade: "before", hasQuantity: true, problem: null },
])("upgrade finished $upgrade $marker; affordable quantity: $hasQuantity; problem: $problem", (one) => {
  const { marker, upgrade, hasQuantity, problem } = one;
  const run = validRun();
  if (!hasQuantity) rewriteBody(run, marker, /"affordableQuantity":\d+,?/, "");
  const { startMs, endMs } = firstCall(run, marker);
  const finished =
    upgrade === "before" ? { startMs: startMs - 2, endMs: startMs } : { startMs: endMs, endMs: endMs + 2 };
  const own = checkHistory({ ...run, finished }, run).violations.filter(({ text }) =>
    text.startsWith(`${marker} `),
  );
  expect(own.map(({ text }) => text)).toEqual(problem === null ? [] : [expect.stringContaining(problem)]);
});
