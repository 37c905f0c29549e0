import { expect } from "vitest";
import type { Reply, TestDatabase } from "./harness.ts";
import { type Managed, setupManage } from "./manage.ts";

export const PAYMENT = {
  credits: 500,
  kind: "purchase",
  reference: "pi_1",
  price: { amount: 4_900, currency: "EUR" },
};

/** Ada has 100 credits and, as grant 2, a payment of 500 that Bob made. Bob has 100 credits. */
export async function setupMove(): Promise<Managed> {
  const managed = await setupManage();
  await managed.assign("bob");
  await add(managed, {});
  return managed;
}

export async function add({ manage }: Managed, body: object, customer = "ada"): Promise<Reply> {
  const reply = await manage("POST", `customers/${customer}/credits`, { body: { ...PAYMENT, ...body } });
  expect(reply.status, reply.text).toBe(200);
  return reply;
}

type Asked = { from?: string; grant?: number; to?: string; body?: object; token?: string };

export function move(
  { manage }: Managed,
  { from = "ada", grant = 2, to = "bob", body = {}, token }: Asked = {},
) {
  const path = `customers/${from}/grants/${grant}/move`;
  return manage("POST", path, { body: { to, ...body }, ...(token === undefined ? {} : { token }) });
}

export function preview({ manage }: Managed, { from = "ada", grant = 2, to = "bob" }: Asked = {}) {
  return manage("POST", `customers/${from}/grants/${grant}/move/preview`, { body: { to } });
}

export async function balanceOf({ manage }: Managed, customer: string): Promise<number> {
  const { body } = await manage("GET", `customers/${customer}`);
  const [pool] = body["balances"] as { balance: number; held: number }[];
  return (pool?.balance ?? 0) + (pool?.held ?? 0);
}

export const render = ({ consume }: Managed, quantity: number, idempotencyKey: string, customerId = "ada") =>
  consume({ customerId, feature: "image.render", quantity, idempotencyKey });

export async function listGrants({ manage }: Managed, customer: string): Promise<Record<string, unknown>[]> {
  return (await manage("GET", `customers/${customer}/grants`)).body["items"] as Record<string, unknown>[];
}

export const listAudit = async ({ manage }: Managed, query: string): Promise<Record<string, unknown>[]> =>
  (await manage("GET", `audit?action=credits.moved${query}`)).body["items"] as Record<string, unknown>[];

/** Everything written: wallets, ledger, grants, moves and audit entries. */
export async function countRows(database: TestDatabase): Promise<number[]> {
  const tables = ["cell.ledger", "cell.grants", "cell.grant_moves", "cell.audit", "cell.hold_changes"];
  const counts = [];
  for (const table of tables) counts.push(await database.count(table));
  return counts;
}
