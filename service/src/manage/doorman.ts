import type { Doorman } from "../edge/admit-managers.ts";
import { principalOfSession, principalOfToken } from "../edge/principal.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Tx } from "../postgres/statement.ts";
import { single } from "../postgres/transaction.ts";
import { findLiveManagementToken, touchManagementToken } from "../store/control/management-tokens.ts";
import { findPlace } from "../store/control/places.ts";
import { findSession } from "../store/control/sessions.ts";
import { hashSecret } from "../words/secret.ts";
import { tellTrouble } from "./database-trouble.ts";

/** Asks the database each time: a removed member or a revoked token is out with their next call. */
export function createDoorman(control: Pool): Doorman {
  return {
    findSession: (token) =>
      ask(control, async (tx) => {
        const tokenHash = hashSecret(token);
        const member = await findSession(tx, tokenHash);
        return member === null ? null : principalOfSession(member, tokenHash);
      }),
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
