import { findWaiting, UnfitConnection } from "../postgres/own-backend.ts";
import type { Session } from "../postgres/session.ts";

export type OpenSession = (connectTimeoutMs: number) => Promise<Session>;

const POLL_MS = 100;

/** One connection, opened on demand and reopened after it breaks. */
export class KeptSession {
  readonly #open: OpenSession;
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;

  constructor(open: OpenSession) {
    this.#open = open;
  }

  /** Returns the open connection, or opens one. Concurrent calls share one attempt, because a second connection would leak. */
  async get(connectTimeoutMs: number): Promise<Session> {
    if (this.#session?.isOpen) return this.#session;
    this.#opening ??= this.#openNext(connectTimeoutMs).finally(() => {
      this.#opening = null;
    });
    this.#session = await this.#opening;
    return this.#session;
  }

  /**
   * Opens a connection to replace a broken one. A commit that waits for a synchronous standby keeps waiting after its connection is
   * closed. The new connection is not used until the old backend has stopped waiting. Otherwise, each retry would add a waiting
   * backend until the server has no connections left.
   */
  async #openNext(timeoutMs: number): Promise<Session> {
    const giveUpAtMs = performance.now() + timeoutMs;
    const session = await this.#open(timeoutMs);
    const before = this.#session;
    try {
      while (before !== null && (await findWaiting(session, [before.backend])).length > 0) {
        if (performance.now() > giveUpAtMs) throw new UnfitConnection("waiting");
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } catch (error) {
      session.destroy();
      throw error;
    }
    return session;
  }

  destroy(): void {
    this.#session?.destroy();
  }
}
