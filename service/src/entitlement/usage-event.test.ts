import { expect, test } from "vitest";
import { brandAs, type CustomerId, type EventKey, type Instant, type Quantity } from "../primitives/brand.ts";
import { parseMetadata } from "./metadata.ts";
import { decideEvent, type UsageEvent } from "./usage-event.ts";

const NOW = brandAs<Instant>(Date.UTC(2026, 10, 14, 10));
const LIMITS = { bytesMax: 20, keysMax: 3, depthMax: 2 };
const DAY_MS = 24 * 3_600_000;
const EARLIEST = brandAs<Instant>(NOW - 35 * DAY_MS);
const LATEST = brandAs<Instant>(NOW + 300_000);

function eventWith(parts: { timestamp?: number; metadata?: object }): UsageEvent {
  const parsed = parseMetadata(parts.metadata ?? {});
  return {
    customerId: brandAs<CustomerId>("customer_1"),
    event: brandAs<EventKey>("tokens"),
    quantity: brandAs<Quantity>(1),
    memberId: null,
    metadata: parsed.kind === "metadata" ? parsed.metadata : null,
    timestamp: parts.timestamp === undefined ? null : brandAs<Instant>(parts.timestamp),
  };
}

test("an event without a timestamp is accepted at any time", () => {
  expect(decideEvent(eventWith({}), LIMITS, NOW)).toEqual({ kind: "accepted" });
});

test.each([
  ["35 days ago", EARLIEST],
  ["now", NOW],
  ["5 minutes ahead", LATEST],
])("a timestamp of exactly %s is accepted", (_, timestamp) => {
  expect(decideEvent(eventWith({ timestamp }), LIMITS, NOW)).toEqual({
    kind: "accepted",
  });
});

test.each([
  ["a millisecond more than 35 days ago", EARLIEST - 1],
  ["a millisecond more than 5 minutes ahead", LATEST + 1],
])("a timestamp of %s is out of range, and the response contains the range", (_, timestamp) => {
  expect(decideEvent(eventWith({ timestamp }), LIMITS, NOW)).toEqual({
    kind: "timestamp_out_of_range",
    earliest: EARLIEST,
    latest: LATEST,
  });
});

test.each([
  ["bytes", { a: "x".repeat(12) }, { a: "x".repeat(13) }, { max: 20, actual: 21 }],
  ["keys", { a: 1, b: 2, c: 3 }, { a: 1, b: 2, c: { d: 4 } }, { max: 3, actual: 4 }],
  ["depth", { a: [1] }, { a: [[1]] }, { max: 2, actual: 3 }],
])("metadata may reach its limit of %s but not exceed it", (limit, within, beyond, measured) => {
  const limits = limit === "bytes" ? LIMITS : { ...LIMITS, bytesMax: 1_000 };
  expect(decideEvent(eventWith({ metadata: within }), limits, NOW).kind).toBe("accepted");
  expect(decideEvent(eventWith({ metadata: beyond }), limits, NOW)).toEqual({
    kind: "metadata_limit_exceeded",
    limit,
    ...measured,
  });
});

test("if the workspace allows no metadata, events without metadata are accepted", () => {
  const none = { bytesMax: 0, keysMax: 0, depthMax: 1 };
  expect(decideEvent(eventWith({}), none, NOW).kind).toBe("accepted");
  expect(decideEvent(eventWith({ metadata: { a: 1 } }), none, NOW).kind).toBe("metadata_limit_exceeded");
});
