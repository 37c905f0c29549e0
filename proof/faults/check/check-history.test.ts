import { expect, test } from "vitest";
import { checkHistory } from "./check-history.ts";
import { again, callOf, emptyRun, eventOf, OUTCOME_UNKNOWN, okEvent, UNAVAILABLE } from "./valid-run/run.ts";
import { validRun } from "./valid-run/valid-run.ts";

test("a valid run has the verdict `pass`", () => {
  const run = validRun();
  expect(checkHistory(run, run)).toEqual({
    verdict: "pass",
    violations: [],
    doubts: [],
    counts: {
      event: { acknowledged: 3, unknown: 3, stored: 4 },
      charge: { acknowledged: 19, unknown: 7, stored: 22 },
      denial: { acknowledged: 9, unknown: 9, stored: 11 },
      hold: { acknowledged: 16, unknown: 2, stored: 17 },
      reversal: { acknowledged: 5, unknown: 3, stored: 7 },
    },
  });
});

test("a run whose rows could not be read has the verdict `unknown`", () => {
  expect(checkHistory(validRun(), null)).toMatchObject({
    verdict: "unknown",
    violations: [],
    counts: { event: { stored: null }, charge: { stored: null }, denial: { stored: null } },
  });
});

test("a violation fails the run even if the rows could not be read", () => {
  const run = validRun();
  run.calls.push(callOf(eventOf("keyed", "key-1"), again(okEvent(2))));
  expect(checkHistory(run, null).verdict).toBe("fail");
});

test("a run without acknowledged requests has the verdict `unknown`", () => {
  const run = emptyRun();
  run.calls.push(callOf(eventOf("a", null), UNAVAILABLE), callOf(eventOf("b", "key-1"), OUTCOME_UNKNOWN));
  expect(checkHistory(run, run).verdict).toBe("unknown");
});

test("a run with only acknowledged events has the verdict `unknown`", () => {
  const run = validRun();
  run.calls = run.calls.filter(({ request }) => request.endpoint === "events");
  const { events, keys, customers, features, plans, planVersions } = run;
  const eventKeys = keys.filter(({ endpoint }) => endpoint === 3);
  const calls = run.calls.filter(({ request }) => request.marker !== "image-counterpart");
  const stored = { ...emptyRun(), events, keys: eventKeys, features, plans, planVersions };
  const wallets = customers.map(({ number }) => ({
    ...{ customer: number, sequence: 0, decidedAtMs: 0, balance: 0 },
    state: "[1,0,0,null,[],[]]",
  }));
  const report = checkHistory({ calls, manageCalls: [] }, { ...stored, customers, wallets });
  expect(report).toMatchObject({ verdict: "unknown", violations: [] });
});
