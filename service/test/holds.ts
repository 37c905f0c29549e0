import { expect } from "vitest";
import { verifyDatabase } from "../src/commands/verify/verify-database.ts";
import { brandAs, type Instant } from "../src/primitives/brand.ts";
import { nameHold, parseHoldId } from "../src/primitives/hold-id.ts";
import { type Credits, setupCredits } from "./credits.ts";
import { post, type Reply, type TestDatabase } from "./harness.ts";
import { windBack } from "./wind-back.ts";

export type Holds = Credits & {
  /** Opens a hold for "ada" with a new key. `body` overrides fields. */
  hold(body: object): Promise<Reply>;
  /** Opens a hold and returns its ID. */
  open(body: object): Promise<string>;
  settle(holdId: string, body?: object): Promise<Reply>;
  release(holdId: string, body?: object): Promise<Reply>;
  extend(holdId: string, body?: object): Promise<Reply>;
  /** Reads with the test key. */
  read(path: string): Promise<Reply>;
  /** The balance that a check of a free feature returns. */
  balance(customerId?: string): Promise<number>;
};

/** The catalog of `setupCredits`: image.render costs 10, text.generate 3 per 1,000, export is limited to 5 a day. Ada has 100 credits. */
export async function setupHolds(overrides: Record<string, string> = {}): Promise<Holds> {
  return openHolds(await setupCredits(overrides));
}

/** Calls about holds, by default to the service of `credits`. */
export function openHolds(credits: Credits, url = credits.service.url): Holds {
  const { secret } = credits.project.test.key;
  let count = 0;
  const send = (path: string, body: object) =>
    post(`${url}/v1/${path}`, secret, { customerId: "ada", ...body });
  const hold: Holds["hold"] = (body) => send("holds", { idempotencyKey: `hold-${count++}-${url}`, ...body });
  return {
    ...credits,
    hold,
    open: async (body) => {
      const reply = await hold(body);
      if (reply.body["allowed"] !== true) throw new Error(`not held: ${reply.text}`);
      return String(reply.body["holdId"]);
    },
    settle: (holdId, body = {}) => send(`holds/${holdId}/settle`, body),
    release: (holdId, body = {}) => send(`holds/${holdId}/release`, body),
    extend: (holdId, body = {}) => send(`holds/${holdId}/extend`, body),
    read: async (path) => {
      const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    },
    balance: async (customerId = "ada") => {
      const reply = await send("check", { customerId, feature: "export" });
      return Number(reply.body["balance"]);
    },
  };
}

/** Expects `purser verify` to find nothing. It recomputes wallets, limits and holds from the ledger and the changes of holds. */
export async function expectVerified(database: TestDatabase): Promise<void> {
  expect((await verifyDatabase(database.serviceUrl)).mismatch).toBeNull();
}

/** Ends all open holds a millisecond after they were opened. Their IDs do not change. */
export async function expireHolds(database: TestDatabase): Promise<void> {
  await changeHolds(database, "expires_at = opened_at + interval '1 millisecond'");
  await database.query(
    `update cell.open_holds as o
     set expires_at = h.expires_at
     from cell.hold_changes as h
     where h.customer_number = o.customer_number and h.number = o.change_number`,
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/**
 * Moves wallets and holds into the past by `ms`. A hold's ID contains its opening time, so the ID changes too. Returns a function that maps
 * old IDs to new IDs.
 */
export async function windBackHolds(database: TestDatabase, ms: number): Promise<(holdId: string) => string> {
  await windBack(database, ms);
  const shift = (column: string) => `${column} = ${column} - make_interval(secs => ${ms / 1_000})`;
  await changeHolds(
    database,
    ["opened_at", "expires_at", "effective_at", "recorded_at"].map(shift).join(", "),
  );
  await database.query(`update cell.open_holds set ${shift("expires_at")}`);
  return (holdId) => {
    const id = parseHoldId(holdId);
    if (id === null) throw new Error(`${holdId} is not a hold ID`);
    return nameHold({ ...id, openedAt: brandAs<Instant>(id.openedAt - ms) });
  };
}

/** Resets `holdsUntil` in all wallets, so that the next decision reads all holds that are due. */
export async function forgetNextEnds(database: TestDatabase): Promise<void> {
  await database.query(
    "update cell.wallets set state = regexp_replace(state, ',[0-9]+]$', ',0]') where state ~ '^\\[[45],'",
  );
}

/** Changes rows of an append-only table. Needs a superuser. */
async function changeHolds(database: TestDatabase, set: string): Promise<void> {
  await database.query("set session_replication_role = replica");
  await database.query(`update cell.hold_changes set ${set}`);
  await forgetNextEnds(database);
  await database.query("set session_replication_role = origin");
}
