import { expect, test } from "vitest";
import { post, setup } from "../../service/test/harness.ts";

const EVENT = { customerId: "customer_1", event: "tokens.generated", quantity: 3 };

test.each(["/events", "/v2/events", "/v1", "/v1/v1/events", "/V1/events"])(
  "operations are under /v1, so %s gets 404",
  async (path) => {
    const { database, service, project } = await setup();
    const reply = await post(service.url + path, project.test.key.secret, EVENT);
    expect(reply).toMatchObject({ status: 404, body: { code: "not_found" } });
    expect(await database.count("cell.events")).toBe(0);
  },
);

test("every operation in the OpenAPI document is under /v1, including events", async () => {
  const { service } = await setup();
  const openapi = await fetch(`${service.url}/openapi/runtime.json`);
  const { paths }: { paths: Record<string, object> } = JSON.parse(await openapi.text());
  expect(Object.keys(paths).filter((path) => !path.startsWith("/v1/"))).toEqual([]);
  expect(paths["/v1/events"]).toHaveProperty("post");
});

test("/v1/events accepts only POST", async () => {
  const { service, project, record } = await setup();
  expect((await record(EVENT)).status).toBe(200);
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    const reply = await fetch(`${service.url}/v1/events`, {
      method,
      headers: { authorization: `Bearer ${project.test.key.secret}` },
    });
    expect(reply.status, method).toBe(405);
    expect(reply.headers.get("allow")).toBe("POST");
    expect(await reply.json()).toMatchObject({ code: "method_not_allowed" });
  }
});
