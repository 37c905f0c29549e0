import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { renderOpenApi } from "./openapi.ts";

const LOCKED = readFileSync(join(import.meta.dirname, "../../../openapi/runtime.json"), "utf8");

test("the published contract is what the routes state; `npm run openapi` writes it anew", async () => {
  expect(`${await renderOpenApi()}\n`).toBe(LOCKED);
});

test("the running service hands out the published contract", async () => {
  const { service } = await setup();
  const reply = await fetch(`${service.url}/openapi/runtime.json`);
  expect(await reply.json()).toEqual(JSON.parse(LOCKED));
});
