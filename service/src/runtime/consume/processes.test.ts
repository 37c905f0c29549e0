import { expect, test } from "vitest";
import { expectSoundBooks } from "../../../test/books.ts";
import { setupCredits } from "../../../test/credits.ts";
import { post } from "../../../test/harness.ts";
import { servePurser } from "../../../test/purser.ts";
import { rounds } from "../../../test/rounds.ts";
import { countAllowed, times } from "../../../test/two-services.ts";

test("concurrent consume requests to two operating system processes, with credits for 10, are charged exactly 10 times", {
  timeout: 600_000,
}, async () => {
  const { assign, project, database } = await setupCredits();
  const served = await Promise.all([servePurser(database.serviceUrl), servePurser(database.serviceUrl)]);
  const urls = served.map(({ url }) => url);
  for (const round of rounds(20)) {
    const customerId = `customer-${round}`;
    await assign(customerId);
    const copies = times(50, (i) => {
      // Each key is sent twice, once through each process.
      const idempotencyKey = `${round}-${Math.floor(i / 2)}`;
      const body = { customerId, feature: "image.render", idempotencyKey };
      return post(`${urls[i % 2]}/v1/consume`, project.test.key.secret, body);
    });
    const others = times(50, (i) => {
      const body = { customerId, feature: "image.render", idempotencyKey: `${round}-alone-${i}` };
      return post(`${urls[i % 2]}/v1/consume`, project.test.key.secret, body);
    });
    const [copied, alone] = await Promise.all([Promise.all(copies), Promise.all(others)]);
    const ids = [...copied, ...alone].map(({ body }) => body["consumeId"]).filter((id) => id !== null);
    expect({ round, charges: new Set(ids).size }).toEqual({ round, charges: 10 });
    for (let i = 0; i < 50; i += 2) expect(copied[i]?.text).toBe(copied[i + 1]?.text);
    countAllowed([...copied, ...alone]);
  }
  expect(await database.count("cell.ledger", "kind = 2")).toBe(10 * rounds(20).length);
  await expectSoundBooks(database);
});
