import type { Managed } from "./manage.ts";

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

/** Three new customers and an existing one: `ada`. */
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
