import type { Lacking } from "../postgres/lacking.ts";
import type { CatalogCache } from "../store/cell/catalogs.ts";

export type ParkedOptions<T> = {
  readonly catalogs: CatalogCache;
  /** They may try again. `isFetched`: what they lacked was there a moment ago. */
  readonly onBack: (things: readonly T[], isFetched: boolean) => void;
  readonly onFailure: (error: unknown) => void;
};

/** Also when nothing was fetched by then: where they come from it is known who has waited too long. */
const WAIT_MS_MAX = 500;
const FAILURE_PAUSE_MS = 50;

/** Requests that lack something which is being fetched, on another connection: nobody else waits for it meanwhile. */
export class Parked<T> {
  readonly #options: ParkedOptions<T>;
  #size = 0;

  constructor(options: ParkedOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  park(all: readonly { readonly lacking: Lacking; readonly thing: T }[]): void {
    for (const some of Map.groupBy(all, ({ lacking }) => lacking.what).values()) {
      const [first] = some;
      if (first !== undefined)
        void this.#wait(
          first.lacking,
          some.map(({ thing }) => thing),
        );
    }
  }

  async #wait(lacking: Lacking, things: readonly T[]): Promise<void> {
    this.#size += things.length;
    let isFetched = false;
    const fetching = this.#options.catalogs.fetch(lacking).then(
      () => {
        isFetched = true;
      },
      async (error) => {
        this.#options.onFailure(error);
        await pause(FAILURE_PAUSE_MS);
      },
    );
    await Promise.race([fetching, pause(WAIT_MS_MAX)]);
    this.#size -= things.length;
    this.#options.onBack(things, isFetched);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
