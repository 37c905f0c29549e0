import { request } from "node:http";
import { expect, test } from "vitest";
import { post, type Setup, setup } from "../../test/harness.ts";
import { setupManage } from "../../test/manage.ts";

const EVENT = { customerId: "c", event: "e", quantity: 1 };

/** An event padded with spaces to an exact size. */
const bodyOf = (bytes: number): string => JSON.stringify(EVENT).padEnd(bytes, " ");

type Raw = { status: number; code: unknown };

/** Sends raw bytes that fetch would reject or correct. */
function send(
  { service, project }: Setup,
  body: Buffer | string,
  headers: Record<string, string>,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${service.url}/v1/events`, {
      method: "POST",
      headers: { authorization: `Bearer ${project.test.key.secret}`, ...headers },
    });
    outgoing.once("error", reject);
    outgoing.once("response", async (incoming) => {
      const text = (await incoming.setEncoding("utf8").toArray()).join("");
      resolve({ status: incoming.statusCode ?? 0, code: JSON.parse(text).code });
    });
    outgoing.end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json" };

test("a body of 64 KiB is accepted, and one byte more is rejected", async () => {
  const parts = await setup();
  expect(await send(parts, bodyOf(65_536), JSON_TYPE)).toEqual({ status: 200, code: undefined });
  expect(await send(parts, bodyOf(65_537), JSON_TYPE)).toEqual({ status: 413, code: "body_too_large" });
  const chunked = { ...JSON_TYPE, "transfer-encoding": "chunked" };
  expect(await send(parts, bodyOf(65_536), chunked)).toEqual({ status: 200, code: undefined });
  expect(await send(parts, bodyOf(65_537), chunked)).toEqual({ status: 413, code: "body_too_large" });
  expect(await parts.database.count("cell.events")).toBe(2);
});

test.each([
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=UTF-8",
  "Application/JSON",
])("the media type %s is accepted", async (type) => {
  const parts = await setup();
  expect((await send(parts, JSON.stringify(EVENT), { "content-type": type })).status).toBe(200);
});

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "application/problem+json",
  "text/json",
  "json",
])("the media type %s is rejected", async (type) => {
  const parts = await setup();
  const reply = await send(parts, JSON.stringify(EVENT), { "content-type": type });
  expect(reply).toEqual({ status: 415, code: "unsupported_media_type" });
});

test("a body without a media type is rejected", async () => {
  const parts = await setup();
  const reply = await send(parts, JSON.stringify(EVENT), {});
  expect(reply).toEqual({ status: 415, code: "unsupported_media_type" });
});

const text = JSON.stringify(EVENT);
const inMetadata = (json: string): string => `${text.slice(0, -1)},"metadata":${json}}`;

test.each<[string, Buffer | string, string]>([
  ["an empty body", "", "invalid_json"],
  ["blanks", "  \n", "invalid_json"],
  ["a truncated body", text.slice(0, -1), "invalid_json"],
  ["two values", `${text}${text}`, "invalid_json"],
  ["single quotes", "{'customerId':'c'}", "invalid_json"],
  ["NaN", text.replace(":1}", ":NaN}"), "invalid_json"],
  ["a byte that is not UTF-8", Buffer.from(text.replace('"c"', '"\u00ff"'), "latin1"), "invalid_json"],
  ["an overlong NUL", Buffer.from(text.replace('"c"', '"\u00c0\u0080"'), "latin1"), "invalid_json"],
  [
    "a surrogate in UTF-8",
    Buffer.from(text.replace('"c"', '"\u00ed\u00a0\u0080"'), "latin1"),
    "invalid_json",
  ],
  ["UTF-16", Buffer.from(`\ufeff${text}`, "utf16le"), "invalid_json"],
  ["__proto__", `${text.slice(0, -1)},"__proto__":{"quantity":1}}`, "invalid_json"],
  ["__proto__, escaped", `${text.slice(0, -1)},"\\u005f_proto__":{}}`, "invalid_json"],
  ["__proto__ in metadata", inMetadata('{"a":[{"__proto__":1}]}'), "invalid_json"],
  ["constructor.prototype in metadata", inMetadata('{"constructor":{"prototype":1}}'), "invalid_json"],
  ["null", "null", "invalid_request"],
  ["a number", "1", "invalid_request"],
  ["an array", `[${text}]`, "invalid_request"],
  ["an array nested as deep as the body allows", "[".repeat(32_000) + "]".repeat(32_000), "invalid_request"],
])("%s gets 400, and nothing is stored", async (_, body, code) => {
  const parts = await setup();
  expect(await send(parts, body, JSON_TYPE)).toEqual({ status: 400, code });
  expect(await parts.database.count("cell.customers")).toBe(0);
});

test("a request without a body or media type gets 400 invalid_request", async () => {
  const parts = await setup();
  expect(await send(parts, "", {})).toEqual({ status: 400, code: "invalid_request" });
});

test.each<[string, string, string]>([
  ["a field", `${text.slice(0, -1)},"quantity":2}`, "quantity"],
  ["a field with the same value", `${text.slice(0, -1)},"quantity":1}`, "quantity"],
  ["a field, escaped", `${text.slice(0, -1)},"\\u0071uantity":2}`, "quantity"],
  ["a name in metadata", inMetadata('{"a":1,"b":{},"a":2}'), "a"],
  ["a name deep in metadata", inMetadata('{"a":[{"b":{"c":":","c":"\\"}"}}]}'), "c"],
  ["the empty name", inMetadata('{"":1,"":2}'), ""],
  ["a name that looks like an index", inMetadata('{"0":1,"1":2,"0":3}'), "0"],
])("a duplicate of %s gets a 400 that names the member, and nothing is stored", async (_, body, member) => {
  const { record, database } = await setup();
  const reply = await record(body);
  expect([reply.status, reply.body["code"]]).toEqual([400, "invalid_json"]);
  expect(reply.body["detail"]).toContain(`the \`${member}\` member more than once`);
  expect(await database.count("cell.customers")).toBe(0);
});

test("check, consume and the management API reject duplicate members too", async () => {
  const { service, tokens, project, here, manage } = await setupManage();
  const doubled =
    '{"customerId":"ada","feature":"image.render","idempotencyKey":"k","quantity":1,"quantity":2}';
  for (const path of ["check", "consume"]) {
    const reply = await post(`${service.url}/v1/${path}`, project.test.key.secret, doubled);
    expect([path, reply.status, reply.body["code"]]).toEqual([path, 400, "invalid_json"]);
  }
  const body = '{"amount":1,"amount":1000}';
  const reply = await manage("POST", `${here}/customers/ada/credits`, { body, token: tokens.operator });
  expect([reply.status, reply.body["code"]]).toEqual([400, "invalid_json"]);
  expect(reply.body["detail"]).toContain("`amount`");
});

test("the error for `__proto__` names that member, and the error for invalid JSON names no member", async () => {
  const { record } = await setup();
  expect((await record('{"__proto__":{}}')).body["detail"]).toContain("__proto__");
  for (const body of ["prototype", '{"prototype":']) {
    expect((await record(body)).body["detail"]).toBe("The body could not be parsed as JSON.");
  }
});
