import { setTimeout as pause } from "node:timers/promises";
import { integerBetween, pickFrom } from "../../harness/chance.ts";
import type { History } from "../history/history.ts";
import { Client } from "./client.ts";
import type { Target } from "./post.ts";
import { playScenario } from "./scenarios.ts";

const CLIENTS = 16;
/** Between turns: enough load that batches form, little enough that both cores serve more than this program. */
const THINK_MS_MAX = 6;
/** After an outage was seen: without it the history would be mostly refusals, which cost next to nothing to give. */
const BACK_OFF_MS = { min: 10, max: 50 };

/** Sixteen clients, each in its own loop until told to stop. */
export class Load {
  readonly #clients: readonly Client[];
  readonly #loops: Promise<unknown>;
  #isStopping = false;

  constructor(target: Target, history: History) {
    this.#clients = Array.from(
      { length: CLIENTS },
      (_, index) => new Client(`client-${index}`, target, history),
    );
    this.#loops = Promise.all(this.#clients.map((client) => this.#loop(client)));
  }

  /** Ends when every call under way has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#loops;
    for (const client of this.#clients) client.close();
  }

  async #loop(client: Client): Promise<void> {
    const others = this.#clients.filter((other) => other !== client);
    while (!this.#isStopping) {
      const calls = await playScenario(client, pickFrom(others) ?? client);
      const isTrouble = calls.some(({ outcome }) => outcome.kind === "info");
      await pause(
        isTrouble ? integerBetween(BACK_OFF_MS.min, BACK_OFF_MS.max) : integerBetween(0, THINK_MS_MAX),
      );
    }
  }
}
