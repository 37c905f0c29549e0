import type { Doorman } from "../edge/admit-managers.ts";
import { principalOfToken } from "../edge/principal.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { single } from "../postgres/transaction.ts";
import { findLiveManagementToken, touchManagementToken } from "../store/control/management-tokens.ts";
import { findPlace } from "../store/control/places.ts";
import { hashSecret } from "../words/secret.ts";
import { tellTrouble } from "./database-trouble.ts";
import type { LiveSessions } from "./people/live-sessions.ts";

/** Asks the database each time: a removed member or a revoked token is out with their next call. */
export function createDoorman(control: Pool, sessions: LiveSessions): Doorman {
  return {
    findSession: (token, address) => tellTrouble(() => sessions.find(token, address)),
    findToken: (secret) =>
      ask(control, async (tx) => {
        const token = await findLiveManagementToken(tx, hashSecret(secret));
        if (token === null) return null;
        await touchManagementToken(tx, token.id);
        return principalOfToken(token);
      }),
    findPlace: (sought) => ask(control, (tx) => findPlace(tx, sought)),
  };
}

function ask<T>(control: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tellTrouble(() => single(control, work));
}
