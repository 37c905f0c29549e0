import { findWaiting, UnfitConnection } from "../postgres/own-backend.ts";
import type { Session } from "../postgres/session.ts";

export type OpenSession = (connectTimeoutMs: number) => Promise<Session>;

const LOOK_PAUSE_MS = 100;

/** One connection, opened when it is needed and opened anew when it broke. */
export class KeptSession {
  readonly #open: OpenSession;
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;

  constructor(open: OpenSession) {
    this.#open = open;
  }

  /** One opening at a time, whoever asks: two would leave a connection that nobody owns. */
  async get(connectTimeoutMs: number): Promise<Session> {
    if (this.#session?.isOpen) return this.#session;
    this.#opening ??= this.#openNext(connectTimeoutMs).finally(() => {
      this.#opening = null;
    });
    this.#session = await this.#opening;
    return this.#session;
  }

  /**
   * A commit that waits for a standby goes on waiting after its connection is given up. Until it has ended no other takes its
   * place: one backend waits for each lane, and not one more every few seconds until the server is full.
   */
  async #openNext(timeoutMs: number): Promise<Session> {
    const giveUpAtMs = performance.now() + timeoutMs;
    const session = await this.#open(timeoutMs);
    const before = this.#session;
    try {
      while (before !== null && (await findWaiting(session, [before.backend])).length > 0) {
        if (performance.now() > giveUpAtMs) throw new UnfitConnection("waiting");
        await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE_MS));
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
