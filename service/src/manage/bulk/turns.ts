import { Problem } from "../../edge/problem.ts";

/** Long work for many customers: so many at once leave processor and connections to everybody else. Per process. */
const AT_ONCE_MAX = 2;
const RETRY_AFTER_SECONDS = 10;

export class Turns {
  #running = 0;

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE_MAX) {
      throw new Problem("overloaded", {
        detail: `This process is at ${AT_ONCE_MAX} such calls already. Send it again when one is done.`,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }
}
