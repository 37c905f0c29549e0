import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { chooseRequestId } from "./request-id.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1 };
const OURS = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const choose = (given: string | string[] | undefined) =>
  chooseRequestId({ headers: given === undefined ? {} : { "x-request-id": given } });

test.each(["a", "my-request", "7f3a:1/2+3=._", "x".repeat(128)])(
  "the caller's request ID %s is kept",
  (given) => {
    expect(choose(given)).toBe(given);
  },
);

test.each([
  ["none", undefined],
  ["an empty ID", ""],
  ["an ID that is too long", "x".repeat(129)],
  ["an ID with a space", "a b"],
  ["an ID with a line break", "a\nb"],
  ["an ID with a quote", 'a"b'],
  ["an ID with markup", "<script>"],
  ["an ID beyond ASCII", "größe"],
  ["two IDs", ["a", "b"]],
])("a request with %s gets a new request ID", (_, given) => {
  expect(choose(given)).toMatch(OURS);
});

test("every reply has a request ID, which is also in the body of errors and stored with events", async () => {
  const { database, record } = await setup();
  const accepted = await record(EVENT);
  expect(accepted.headers.get("x-request-id")).toMatch(OURS);
  expect(await database.query("select request_id from cell.events")).toEqual([
    { request_id: accepted.headers.get("x-request-id") },
  ]);
  const refused = await record({}, { "x-request-id": "mine" });
  expect([refused.headers.get("x-request-id"), refused.body["requestId"]]).toEqual(["mine", "mine"]);
  const [one, other] = [await record({}), await record({})];
  expect(one.body["requestId"]).not.toBe(other.body["requestId"]);
});
