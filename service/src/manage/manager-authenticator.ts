import type { ManagerAuthenticator } from "../edge/admit-managers.ts";
import { principalOfToken } from "../edge/principal.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { lossyTransaction, single } from "../postgres/transaction.ts";
import { BoundedMap } from "../primitives/bounded-map.ts";
import { hashSecret } from "../primitives/secret.ts";
import { findLiveManagementToken, touchManagementToken } from "../store/control/management-tokens.ts";
import { findScope } from "../store/control/scopes.ts";
import { reportDatabaseErrors } from "./database-trouble.ts";
import type { LiveSessions } from "./people/live-sessions.ts";

const TOUCH_EVERY_MS = 60_000;
const TOUCHED_MAX = 10_000;

/** Reads the database on every call, so a removed member or revoked token loses access at the next call. */
export function createManagerAuthenticator(control: Pool, sessions: LiveSessions): ManagerAuthenticator {
  const touchedAtMs = new BoundedMap<number, number>(TOUCHED_MAX);
  const touch = async (id: number): Promise<void> => {
    const last = touchedAtMs.find(id);
    if (last !== undefined && performance.now() - last < TOUCH_EVERY_MS) return;
    await lossyTransaction(control, (tx) => touchManagementToken(tx, id));
    touchedAtMs.set(id, performance.now());
  };
  return {
    findSession: (token, address) => reportDatabaseErrors(() => sessions.find(token, address)),
    findToken: (secret) =>
      reportDatabaseErrors(async () => {
        const token = await single(control, (tx) => findLiveManagementToken(tx, hashSecret(secret)));
        if (token === null) return null;
        await touch(token.id);
        return principalOfToken(token);
      }),
    findScope: (sought) => ask(control, (tx) => findScope(tx, sought)),
  };
}

function ask<T>(control: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return reportDatabaseErrors(() => single(control, work));
}
