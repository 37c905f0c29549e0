import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { setup } from "../../test/harness.ts";
import { renderOpenApi } from "./openapi.ts";

const APIS = ["runtime", "manage"] as const;

const readLocked = (api: string): string =>
  readFileSync(join(import.meta.dirname, `../../../openapi/${api}.json`), "utf8");

test.each(APIS)(
  "the published contract of the %s API matches the routes; `npm run openapi` regenerates it",
  async (api) => {
    expect(`${await renderOpenApi(api)}\n`).toBe(readLocked(api));
  },
);

test("the running service serves the published contracts", async () => {
  const { service } = await setup();
  for (const api of APIS) {
    const reply = await fetch(`${service.url}/openapi/${api}.json`);
    expect(await reply.json()).toEqual(JSON.parse(readLocked(api)));
  }
});
