import { expect, test } from "vitest";
import { describeAction } from "../src/features/audit/sentences.ts";
import { findRenewal, stateOfGrant } from "../src/features/credits/grants.ts";
import type { Grant, Hold } from "../src/features/ledger/queries.ts";
import { compareReuse } from "../src/features/requests/compare-reuse.ts";
import type { KeyHistory } from "../src/features/requests/queries.ts";
import { describeHeld, describeResult } from "../src/format/holds.ts";
import { describeKey, ENDPOINTS, outcomeOf, pathOf } from "../src/format/request-sentences.ts";
import { formatDuration } from "../src/format/times.ts";

const HOLD: Hold = {
  holdId: "hld_1",
  status: "open",
  openedAt: "2026-11-15T10:00:00.000Z",
  // The hold was extended. In the stored response, it expires 15 minutes after it was opened.
  expiresAt: "2026-11-15T11:00:00.000Z",
  endedAt: null,
  onExpiry: "release",
  memberId: null,
  metadata: null,
  creditsHeld: 20,
  creditsCharged: 0,
  creditsReleased: 0,
  overageCredits: 0,
  creditsBeyondHold: 0,
  creditsUncovered: 0,
  late: false,
  consumeId: null,
  items: [
    {
      feature: "chat.tokens",
      pool: "credits",
      quantity: 4_000,
      creditsHeld: 20,
      overageCredits: 0,
      quantityUsed: 0,
    },
  ],
};

const STORY: KeyHistory = {
  idempotencyKey: "k",
  state: "kept",
  endpoint: "holds",
  recordedAt: HOLD.openedAt,
  customerId: "ada",
  customerName: null,
  answer: { quantity: 2_000, creditsHeld: 10, expiresAt: "2026-11-15T10:15:00.000Z" },
  charge: null,
  charges: [],
  denial: null,
  hold: HOLD,
  event: null,
  uses: [],
};

const NAMES = { feature: (): string => "Chat tokens", event: (key: string): string => key };

test("one sentence describes how a hold ended", () => {
  const settled = { ...HOLD, status: "settled", creditsCharged: 8 } as const;
  expect(describeResult(HOLD)).toBe("The hold is open.");
  expect(describeResult({ ...settled, creditsReleased: 12 })).toBe(
    "Settled: 8 credits charged, 12 released.",
  );
  expect(describeResult({ ...settled, late: true, creditsUncovered: 5 })).toBe(
    "Settled after it expired: 8 credits charged, 5 not covered.",
  );
  expect(describeResult({ ...HOLD, status: "released" })).toBe("Released. Nothing was charged.");
  expect(describeResult({ ...HOLD, status: "expired" })).toMatch(/Nothing was charged\.$/);
  expect(describeResult({ ...HOLD, status: "charged", creditsCharged: 20 })).toMatch(/20 credits charged\.$/);
});

test("one sentence describes the hold that an idempotency key opened", () => {
  expect(describeKey(STORY, NAMES)).toBe(
    "Set aside 10 credits for ada (2,000 × Chat tokens). The hold is open.",
  );
  const items = [...HOLD.items, { ...HOLD.items[0], feature: "export" }] as Hold["items"];
  expect(describeKey({ ...STORY, customerId: null, answer: null, hold: { ...HOLD, items } }, NAMES)).toMatch(
    /^Set aside 20 credits for an erased customer \(2 items\)\./,
  );
});

test("held credits are described separately from the balance, and durations use one unit", () => {
  expect([describeHeld(1), describeHeld(1_200)]).toEqual(["1 more is held", "1,200 more are held"]);
  const durations = [400, 89_000, 900_000, 7_200_000, 3 * 86_400_000].map(formatDuration);
  expect(durations).toEqual(["0 s", "89 s", "15 min", "2 h", "3 days"]);
});

test("every endpoint has a path and a named outcome", () => {
  expect(ENDPOINTS.map(pathOf)).toEqual([
    "/v1/check",
    "/v1/consume",
    "/v1/consume/{consumeId}/reverse",
    "/v1/events",
    "/v1/events/batch",
    "/v1/holds",
    "/v1/holds/{holdId}/extend",
    "/v1/holds/{holdId}/settle",
    "/v1/holds/{holdId}/release",
  ]);
  const names = ENDPOINTS.map(
    (endpoint) => outcomeOf({ endpoint, status: 200, code: null, reason: null }).name,
  );
  expect(names).toEqual([
    ...["Available", "Allowed", "Reversed", "Recorded", "Recorded"],
    ...["Held", "Extended", "Settled", "Released"],
  ]);
  const late = { endpoint: "holds/settle", status: 409, code: "hold_released", reason: null } as const;
  expect(outcomeOf(late)).toMatchObject({ kind: "rejected", why: "Hold already released" });
});

test("a rejected reuse of a hold's key is compared with the original request, not with the extended hold", () => {
  const use = {
    endpoint: "holds",
    customerId: "ada",
    feature: "chat.tokens",
    event: null,
    refused: { differs: ["expiresInSeconds", "onExpiry"], quantity: 2_000, timestamp: null },
  } as KeyHistory["uses"][number];
  const rows = compareReuse(STORY, use).map(({ field, first, refused }) => [field, first, refused]);
  expect(rows).toEqual([
    ["endpoint", "holds", "holds"],
    ["customerId", "ada", "ada"],
    ["feature", "chat.tokens", "chat.tokens"],
    ["quantity", "2,000", "2,000"],
    ["metadata", null, null],
    ["expiresInSeconds", "900", "different (not logged)"],
    ["onExpiry", "release", "charge"],
  ]);
  const other = { ...use, endpoint: "consume", refused: { ...use.refused, differs: ["endpoint"] } };
  const fields = compareReuse(STORY, other as typeof use).map(({ field }) => field);
  expect(fields).not.toContain("expiresInSeconds");
});

test("a grant whose credits are all held is neither spent nor expired", () => {
  const grant = {
    kind: "allowance",
    pool: "credits",
    remaining: 0,
    held: 20,
    revokedAt: null,
    movedTo: null,
  } as Grant;
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  const now = Date.parse(expiresAt) + 1;
  expect(stateOfGrant({ ...grant, expiresAt }, [], now)).toBe("held");
  expect(stateOfGrant({ ...grant, held: 0, expiresAt }, [], now)).toBe("expired");
  expect(stateOfGrant({ ...grant, remaining: 1, expiresAt }, [], now)).toBe("open");
  expect(stateOfGrant({ ...grant, expiresAt, revokedAt: expiresAt }, [], now)).toBe("revoked");
  const former = { ...grant, held: 0, expiresAt: null };
  const allowance = { pool: "credits", credits: 100, period: "month", rollover: 0, overage: 0 } as const;
  expect(findRenewal(allowance, [former, { ...grant, expiresAt }])).toBe(expiresAt);
});

test("the audit log describes each manual release or reversal in one sentence, including its overage", () => {
  const describe = (action: string, after: object): string => {
    const entry = { action, subject: "x", before: { balances: { credits: 80 } }, after };
    const pieces = describeAction(entry as unknown as Parameters<typeof describeAction>[0]);
    return pieces.map(({ kind, text }) => (kind === "customer" ? "ada" : text)).join("");
  };
  const after = { balances: { credits: 100 }, credits: 20 };
  expect(describe("hold.released", after)).toBe("released a hold of 20 credits for ada");
  expect(describe("hold.released", { ...after, overageCredits: 5 })).toBe(
    "released a hold of 20 credits and 5 credits of overage for ada",
  );
  expect(describe("hold.released", { ...after, credits: 0, overageCredits: 1 })).toBe(
    "released a hold of 1 credit of overage for ada",
  );
  expect(describe("consume.reversed", after)).toBe("reversed a charge and returned 20 credits to ada");
  expect(describe("consume.reversed", { ...after, overageCredits: 5 })).toBe(
    "reversed a charge, returned 20 credits to ada and reversed 5 credits of overage",
  );
});
