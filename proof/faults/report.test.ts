import { expect, test } from "vitest";
import type { Run } from "./check/valid-run/run.ts";
import { validRun } from "./check/valid-run/valid-run.ts";
import { describeReport, judgeRun, summarize } from "./report.ts";

function judge(run: Run) {
  const { calls, manageCalls, ...stored } = run;
  const nothing = { mismatch: null, restarts: [], outages: [], retried: 0, death: null, doubts: [] };
  return judgeRun({ calls, manageCalls, stored, ...nothing });
}

test("a run with too few overage charges and reversals has doubts", () => {
  expect(judge(validRun()).doubts).toEqual([
    expect.stringMatching(/^there are only \d+ charges with overage, /),
    expect.stringMatching(/^there are only \d+ charges of holds with overage, /),
    expect.stringMatching(/^there are only \d+ reversals by API key, /),
    expect.stringMatching(/^there are only \d+ reversals of overage by API key, /),
  ]);
});

test("the totals include overage and reversals", () => {
  const report = judge(validRun());
  expect(summarize(report)).toMatchObject({
    overage_charges: 13,
    overage_holds: 5,
    overage_settled: 4,
    overage_reversals: 6,
    reversals_acknowledged: 5,
    reversals_stored: 7,
    reversals_rejected: 2,
  });
  expect(describeReport(report)).toMatch(/^overage +\d+ credits in 13 charges/m);
  expect(describeReport(report)).toMatch(/^reversals +5 acknowledged ≤ 7 stored/m);
});
