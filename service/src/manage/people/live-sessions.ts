import { type Principal, principalOfSession } from "../../edge/principal.ts";
import type { Pool } from "../../postgres/pool.ts";
import { lossyTransaction, single } from "../../postgres/transaction.ts";
import { hashSecret } from "../../primitives/secret.ts";
import { getFactors } from "../../store/control/passkeys.ts";
import type { SessionRules } from "../../store/control/session-rules.ts";
import {
  findSession,
  type ListedSession,
  listSessions,
  touchSessions,
} from "../../store/control/sessions.ts";
import { needsSecondFactor } from "./second-factor.ts";

/** Sessions that are not logged out, not expired, used within the idle timeout, and allowed by the settings of single sign-on. */
export class LiveSessions {
  readonly #control: Pool;
  readonly #rules: SessionRules;
  /** Latest IP address of each session whose last use is not yet written to the database. */
  #uses = new Map<number, string>();

  constructor(
    control: Pool,
    idleSeconds: number,
    signOn: Omit<SessionRules, "idleSeconds"> = { issuer: null, onlyLocalOwner: null },
  ) {
    this.#control = control;
    this.#rules = { idleSeconds, ...signOn };
  }

  /** Finds the session's principal. The last use is written later, so that the request does not wait for the write. */
  async find(token: string, address: string): Promise<Principal | null> {
    const tokenHash = hashSecret(token);
    const sought = { tokenHash, rules: this.#rules };
    const member = await single(this.#control, (tx) => findSession(tx, sought));
    if (member === null) return null;
    // A passkey or a requirement may be newer than the session, or than the role of its member.
    if (member.openedWith === "password" && needsSecondFactor(member.factors)) return null;
    this.#uses.set(member.sessionId, address);
    return principalOfSession(member, tokenHash);
  }

  list(memberId: number, tokenHash: Buffer): Promise<ListedSession[]> {
    const of = { memberId, tokenHash, rules: this.#rules };
    return single(this.#control, async (tx) => {
      const isAsked = needsSecondFactor(await getFactors(tx, memberId));
      return (await listSessions(tx, of)).filter(({ openedWith }) => openedWith !== "password" || !isAsked);
    });
  }

  async flush(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    await lossyTransaction(this.#control, (tx) => touchSessions(tx, uses));
  }
}
