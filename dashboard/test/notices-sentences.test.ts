import { expect, test } from "vitest";
import { NOTICE_TYPES } from "../../service/src/entitlement/catalog.ts";
import { bodyOf, refreshAfter } from "../src/features/webhooks/webhook.ts";
import { lowBalancesText, nameLowBalances, readLowBalances } from "../src/format/low-balances.ts";
import {
  describeNotice,
  NOTICE_TYPES as NAMED,
  NOTICE_GROUPS,
  nameNotice,
  nameNotices,
} from "../src/format/notices.ts";

const NAMES = {
  pool: (key: string) => (key === "credits" ? "Credits" : key),
  feature: (key: string) => (key === "hd.export" ? "HD export" : key),
  plan: (key: string) => (key === "pro" ? "Pro" : key),
  time: (at: string) => at.slice(0, 10),
};

const RESETS = "2026-11-20T20:19:22.577Z";

test.for([
  ["balance.low", { pool: "credits", threshold: 1_000, balance: 90 }, "Credits fell below 1,000. 90 left."],
  ["balance.depleted", { pool: "credits", balance: 0 }, "Credits fell to 0."],
  ["balance.depleted", { pool: "credits", balance: 5 }, "Credits fell to 0, then rose to 5."],
  ["overage.started", { pool: "credits" }, "Credits: overage in use."],
  [
    "limit.reached",
    { feature: "hd.export", limit: 20, resetsAt: RESETS },
    "HD export: all 20 used. Resets 2026-11-20.",
  ],
  [
    "limit.reached",
    { feature: "hd.export", limit: 20, resetsAt: null },
    "HD export: all 20 used. Never resets.",
  ],
  ["plan.changed", { plan: "pro", previousPlan: "starter" }, "starter → Pro."],
  ["plan.changed", { plan: "pro", previousPlan: null }, "No plan → Pro."],
  ["plan.ended", { plan: "pro" }, "Pro ended."],
  ["hold.expired", { holdId: "hld_1", charged: true }, "The hold was charged in full."],
  ["hold.expired", { holdId: "hld_1", charged: false }, "The hold was released."],
  ["hold.uncovered", { feature: "hd.export", credits: 1 }, "HD export: 1 credit not covered."],
  [
    "topup.due",
    { pool: "credits", below: 200, balance: 40, credits: 1_000, topUpId: "top_1", attempt: 1 },
    "Credits: 1,000 requested. 40 left.",
  ],
  [
    "topup.due",
    { pool: "credits", below: 200, balance: 40, credits: 1_000, topUpId: "top_1", attempt: 2 },
    "Credits: 1,000 requested, attempt 2. 40 left.",
  ],
  ["webhook.test", {}, null],
  ["member.joined", { member: "m_7" }, null],
] as const)("a notice of the type %s with %j reads: %s", ([type, data, sentence]) => {
  expect(describeNotice(type, data, NAMES)).toBe(sentence);
});

test("every type of notice has a name and a group, and an unknown type is shown as it is", () => {
  expect(Object.keys(NAMED)).toEqual(NOTICE_TYPES);
  expect(NOTICE_GROUPS.flatMap(({ types }): string[] => [...types])).toEqual(NOTICE_TYPES);
  expect(nameNotice("member.joined")).toBe("member.joined");
  expect(nameNotices(NOTICE_TYPES)).toBe("All types");
  expect(nameNotices(["balance.low", "plan.ended"])).toBe("Low balance, Plan ended");
});

test.for([
  ["1000, 100", [1_000, 100]],
  ["20\n100\n100", [100, 20]],
  ["1000,100", [1_000, 100]],
  ["1 500\n20", [1_500, 20]],
  [" ,\n", []],
  ["500,100", "500,100 is ambiguous. Add a space after the comma for two thresholds, or remove it for one."],
  ["1,000", "1,000 is ambiguous. Add a space after the comma for two thresholds, or remove it for one."],
  ["100, -5", "“-5” is not a whole number from 1 to 1,000,000,000,000."],
  ["0", "“0” is not a whole number from 1 to 1,000,000,000,000."],
  ["10.5", "“10.5” is not a whole number from 1 to 1,000,000,000,000."],
  ["1000000000001", "“1000000000001” is not a whole number from 1 to 1,000,000,000,000."],
  ["1 2 3", "“1 2 3” is not a whole number from 1 to 1,000,000,000,000."],
  ["1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11", "At most 10 numbers."],
] as const)("the low balances %j are read as %j", ([text, expected]) => {
  const read = readLowBalances(text);
  expect("error" in read ? read.error : read.values).toEqual(expected);
});

test("low balances are shown so that they can be read again", () => {
  expect(readLowBalances(lowBalancesText([1_000, 100, 20]))).toEqual({ values: [1_000, 100, 20] });
  expect(nameLowBalances([1_000, 100, 20])).toBe("1,000, 100 and 20");
});

const NOW = Date.parse("2026-11-19T20:00:00Z");
const after = (ms: number) => ({ nextAttemptAt: new Date(NOW + ms).toISOString() });

test.for([
  [[], null],
  [[{ nextAttemptAt: null }], null],
  [[after(-60_000)], 2_000],
  [[after(20_000), after(5_000)], 7_000],
  [[after(6 * 3_600_000)], null],
] as const)("deliveries whose next attempts are %j are loaded again after %j ms", ([deliveries, wait]) => {
  expect(refreshAfter(deliveries, NOW)).toBe(wait);
});

test("the body of a delivery has the time at which something happened, not the time at which it was recorded", () => {
  const notice = { noticeId: "ntc_1", type: "plan.ended", customerId: "ada", customerName: null } as const;
  const times = { effectiveAt: "2026-11-18T00:00:00.000Z", recordedAt: "2026-11-19T00:00:00.000Z" };
  const attempt = { attempts: 0, nextAttemptAt: null, lastAttemptAt: null, status: null, answer: null };
  const data = { customerId: "ada", sequence: 3, plan: "pro" };
  expect(bodyOf({ ...notice, ...times, ...attempt, data, state: "pending" })).toBe(
    '{"type":"plan.ended","timestamp":"2026-11-18T00:00:00.000Z","data":{"customerId":"ada","sequence":3,"plan":"pro"}}',
  );
});
