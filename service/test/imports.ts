import { expect } from "vitest";
import { type Managed, setupManage } from "./manage.ts";

type Answer = Readonly<Record<string, unknown>>;

/** Sends a file like curl. The import's name is `opening` unless the query has one. */
export async function sendFile(
  { service, here, tokens }: Managed,
  csv: string | Uint8Array<ArrayBuffer>,
  query = "",
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Answer }> {
  const name = /\bname=/.test(query) ? "" : "name=opening&";
  const response = await fetch(`${service.url}${here}/imports?${name}${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.operator}`, "content-type": "text/csv", ...headers },
    body: csv,
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

/** Three new customers, and the existing customer `ada`. */
export const FILE = `customerId,name,email,billingReference,plan,planEndsAt,credits,pool,expiresAt,reference
c1,"Company, the first",1@example.com,cus_1,pro,,250,,,
c2,Company 2,,,pro,2099-01-01T00:00:00Z,,,,
c3,,,,,,40,credits,2099-02-01T00:00:00+02:00,pay_3
ada,Ada,,,pro,,10,,,
`;

export async function balanceOf({ manage }: Managed, customer: string): Promise<unknown> {
  const { body } = await manage("GET", `customers/${customer}`);
  return (body["balances"] as { balance: number }[])[0]?.balance;
}

const DUO = {
  pools: [
    { key: "credits", name: "Credits" },
    { key: "minutes", name: "Minutes" },
  ],
  plans: [
    {
      key: "duo",
      name: "Duo",
      allowances: [
        { pool: "credits", credits: 1_000, period: "month", rollover: 1 },
        { pool: "minutes", credits: 60, period: "year", rollover: 0 },
      ],
      features: [{ feature: "image.render", limit: null }],
    },
  ],
};

/** `setupManage` with a second pool, and plan "duo" with an allowance in each pool. */
export async function setupDuo(): Promise<Managed> {
  const managed = await setupManage();
  const { manage } = managed;
  const body = { catalog: DUO, reach: "new_assignments" };
  const { version } = (await manage("POST", "catalog/diff", { body })).body;
  const applied = await manage("POST", "catalog/apply", { body: { ...body, expectedVersion: version } });
  expect([applied.status, applied.text]).toEqual([200, applied.text]);
  return managed;
}
