import { expect, test } from "vitest";
import {
  mergeTail,
  outcomeOptions,
  readOutcome,
  readSearch,
  writeOutcome,
} from "../src/features/requests/request-filters.ts";
import { outcomeOf } from "../src/format/request-sentences.ts";

const rows = (...ids: string[]) => ids.map((id) => ({ id }));

test("the live tail and the request list are merged, newest first, without duplicates", () => {
  expect(mergeTail(rows("5", "4"), { rows: rows("3", "2"), hasMore: true })).toEqual(
    rows("5", "4", "3", "2"),
  );
  expect(mergeTail(rows("5", "4"), { rows: rows("5", "4", "3"), hasMore: true })).toEqual(
    rows("5", "4", "3"),
  );
  expect(mergeTail(rows("2", "1"), { rows: rows("4", "3"), hasMore: false })).toEqual(
    rows("4", "3", "2", "1"),
  );
});

test("live tail rows older than the end of a partial list are dropped", () => {
  expect(mergeTail(rows("5", "4"), { rows: rows("90", "80"), hasMore: true })).toEqual(rows("90", "80"));
});

test("the outcome is Denied for denials, Rejected for 4xx and Failed for 5xx", () => {
  const asked = { endpoint: "consume", status: 200, code: null, reason: null } as const;
  expect(outcomeOf(asked)).toEqual({ kind: "ok", name: "Allowed", why: null });
  expect(outcomeOf({ ...asked, endpoint: "check" }).name).toBe("Available");
  expect(outcomeOf({ ...asked, endpoint: "events" }).name).toBe("Recorded");
  const batch = {
    ...asked,
    endpoint: "events/batch",
    counts: { accepted: 98, replayed: 1, rejected: 2 },
  } as const;
  expect(outcomeOf(batch)).toEqual({ kind: "ok", name: "Recorded", why: "98 events, 1 replay, 2 rejected" });
  expect(outcomeOf({ ...asked, reason: "limit_reached" })).toMatchObject({ kind: "denied", why: /limit/i });
  expect(outcomeOf({ ...asked, status: 404, code: "feature_not_found" })).toEqual({
    kind: "rejected",
    name: "Rejected",
    why: "Unknown feature",
  });
  expect(outcomeOf({ ...asked, status: 503, code: "new_code" })).toMatchObject({
    kind: "failed",
    why: "new_code",
  });
});

test("the outcome filter supports statuses, reasons and codes, including unknown codes", () => {
  for (const filter of [
    {},
    { status: "4xx" },
    { status: "409" },
    { reason: "limit_reached" },
    { code: "brand_new" },
  ]) {
    expect(readOutcome(writeOutcome(filter))).toEqual(filter);
    expect(outcomeOptions(filter).map(({ value }) => value)).toContain(writeOutcome(filter));
  }
});

test("invalid search parameters of the request list are dropped", () => {
  expect(readSearch({ endpoint: "consume", status: 409, customerId: 42, live: true, do: "try" })).toEqual({
    endpoint: "consume",
    status: "409",
    customerId: "42",
    live: true,
    do: "try",
  });
  expect(readSearch({ endpoint: "x", status: "999", code: "", reason: {}, live: "yes", do: "harm" })).toEqual(
    {},
  );
});
