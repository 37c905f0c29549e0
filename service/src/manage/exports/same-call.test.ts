import { expect, test } from "vitest";
import { EXPORTED, read, setupExport, sinceVisit } from "../../../test/exports.ts";

test("a cursor resumes only its own export", async () => {
  const managed = await setupExport();
  const { manage, here } = managed;
  const from = `from=${sinceVisit(-1_000)}`;
  for (const kind of EXPORTED) {
    const [first] = await read(managed, `${kind}?format=ndjson&${from}`);
    const goOn = async (path: string) => {
      const { status, body } = await manage("GET", `${path}&cursor=${first?.cursor}`);
      return status === 200 ? 200 : body["detail"];
    };
    const other = expect.stringContaining("belongs to another export");
    expect(await goOn(`exports/${kind}?${from}`)).toBe(200);
    expect(await goOn(`exports/${kind}?format=ndjson&${from}`)).toBe(200);
    expect(await goOn(`exports/${kind}?format=ndjson`)).toEqual(other);
    expect(await goOn(`exports/${kind}?${from}&to=${sinceVisit(86_400_000)}`)).toEqual(other);
    expect(await goOn(`${here.replace(/test$/, "live")}/exports/${kind}?${from}`)).toEqual(other);
    for (const another of EXPORTED.filter((name) => name !== kind && name !== "events" && kind !== "events"))
      expect(await goOn(`exports/${another}?${from}`)).toEqual(other);
  }
});

test("the changed grants in a ledger export add up to each amount and appear in the grant export", async () => {
  const managed = await setupExport();
  type Part = { grant: number; amount: number };
  const entries = await read(managed, "ledger?format=ndjson");
  const grants = await read(managed, "grants?format=ndjson");
  const known = new Set(grants.map(({ customerId, grant }) => `${customerId} ${grant}`));
  expect(entries.length).toBeGreaterThan(5);
  for (const { customerId, amount, parts } of entries) {
    const all = parts as Part[];
    expect(all.reduce((sum, part) => sum + part.amount, 0)).toBe(amount);
    for (const { grant } of all) expect(known).toContain(`${customerId} ${grant}`);
  }
  const [row] = await read(managed, "ledger?format=csv");
  expect(JSON.parse(String(row?.["parts"]))).toEqual([{ grant: 1, amount: 100 }]);
});
