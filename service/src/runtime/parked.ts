import { setTimeout as pause } from "node:timers/promises";
import type { MissingData } from "../postgres/missing-data.ts";
import type { EnvironmentId } from "../primitives/brand.ts";
import type { CatalogCache } from "../store/cell/catalogs.ts";

type ParkedOptions<T> = {
  readonly catalogs: CatalogCache;
  /** Called when the requests can be tried again. `isFetched` is true if the missing part was loaded. */
  readonly onRelease: (waiting: readonly T[], isFetched: boolean) => void;
  readonly onFailure: (error: unknown) => void;
};

/** Requests return to their queue after this time even if nothing was loaded, because the queue checks their age. */
const WAIT_MS_MAX = 500;
const FAILURE_PAUSE_MS = 50;
/** Maximum number of requests per environment, so that one unreadable catalog cannot use up the space for other environments. */
const ENVIRONMENT_LENGTH_MAX = 1_000;
/** Maximum number of requests in all environments, to bound memory. */
const LENGTH_MAX = 2_000;

type Parkable = { readonly request: { readonly environmentId: EnvironmentId } };

/** Requests that wait for a part of the catalog. The part is loaded on another connection, so that other requests continue. */
export class Parked<T extends Parkable> {
  readonly #options: ParkedOptions<T>;
  readonly #lengths = new Map<EnvironmentId, number>();
  #size = 0;

  constructor(options: ParkedOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Lets requests wait for the missing parts. Returns the requests that exceed a limit. */
  park(all: readonly { readonly missing: MissingData; readonly pending: T }[]): T[] {
    const overflow: T[] = [];
    const admitted = all.filter(({ pending }) => {
      const hasRoom = this.#admit(pending);
      if (!hasRoom) overflow.push(pending);
      return hasRoom;
    });
    for (const some of Map.groupBy(admitted, ({ missing }) => missing.what).values()) {
      const [first] = some;
      if (first !== undefined)
        void this.#wait(
          first.missing,
          some.map(({ pending }) => pending),
        );
    }
    return overflow;
  }

  #admit({ request: { environmentId } }: T): boolean {
    const length = this.#lengths.get(environmentId) ?? 0;
    if (length >= ENVIRONMENT_LENGTH_MAX || this.#size >= LENGTH_MAX) return false;
    this.#lengths.set(environmentId, length + 1);
    this.#size += 1;
    return true;
  }

  #release({ request: { environmentId } }: T): void {
    const length = (this.#lengths.get(environmentId) ?? 0) - 1;
    if (length > 0) this.#lengths.set(environmentId, length);
    else this.#lengths.delete(environmentId);
    this.#size -= 1;
  }

  async #wait(missing: MissingData, waiting: readonly T[]): Promise<void> {
    let isFetched = false;
    const fetching = this.#options.catalogs.fetch(missing).then(
      () => {
        isFetched = true;
      },
      async (error) => {
        this.#options.onFailure(error);
        await pause(FAILURE_PAUSE_MS);
      },
    );
    await Promise.race([fetching, pause(WAIT_MS_MAX)]);
    for (const pending of waiting) this.#release(pending);
    this.#options.onRelease(waiting, isFetched);
  }
}
