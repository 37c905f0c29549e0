import type { Session } from "../postgres/session.ts";

export type OpenSession = (connectTimeoutMs: number) => Promise<Session>;

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
    this.#opening ??= this.#open(connectTimeoutMs).finally(() => {
      this.#opening = null;
    });
    this.#session = await this.#opening;
    return this.#session;
  }

  destroy(): void {
    this.#session?.destroy();
  }
}
