import { setTimeout as pause } from "node:timers/promises";
import { openPool, type Pool } from "../../../service/src/postgres/pool.ts";
import { integerBetween } from "../../harness/chance.ts";
import type { History } from "../history/history.ts";
import type { ManageCall, ManageRequest } from "../history/manage-call.ts";
import { CUSTOMERS } from "../load/customers.ts";
import type { Installation } from "../machines/prepare-database.ts";
import { carryOut } from "./carry-out.ts";
import { makeManageRequest } from "./make-manage-request.ts";

const THINK_MS = { min: 20, max: 300 };
/** One in this many is asked for again, as a billing system's webhook comes twice. */
const TWICE_ONE_IN = 4;

/** The automation of whoever runs the installation: one thing after another, beside the callers' load. */
export class Operator {
  readonly #installation: Installation;
  readonly #history: History;
  readonly #cell: Pool;
  #loop: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(installation: Installation, history: History) {
    this.#installation = installation;
    this.#history = history;
    // As the role of the service: what it may not do, its management may not do either.
    const url = installation.serviceUrl;
    this.#cell = openPool({ url, name: "purser faults operator", sizeMax: 2, onIdleError: () => {} });
  }

  /** Customers with their plans and credits; throws unless all of it was done. */
  async settle(): Promise<void> {
    for (const { customerId, plan, bought } of CUSTOMERS) {
      await this.#mustDo({ operation: "assignPlan", customerId, plan });
      if (bought === 0) continue;
      const reference = `first ${customerId}`;
      const kind = "purchase";
      await this.#mustDo({
        operation: "addCredits",
        customerId,
        kind,
        credits: bought,
        expiresAtMs: null,
        reference,
      });
    }
  }

  start(): void {
    this.#loop = this.#work();
  }

  /** Ends when the call under way has ended, and nothing of it is connected any more. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#loop;
    await this.#cell.end();
  }

  async #work(): Promise<void> {
    while (!this.#isStopping) {
      await pause(integerBetween(THINK_MS.min, THINK_MS.max));
      const request = makeManageRequest(this.#history);
      const { outcome } = await this.#do(request);
      const isRepeated = outcome.kind === "unknown" || integerBetween(0, TWICE_ONE_IN) === 0;
      if (isRepeated && !this.#isStopping) await this.#do(request);
    }
  }

  #do(request: ManageRequest): Promise<ManageCall> {
    return this.#history.recordManage(carryOut(this.#cell, this.#installation.project.context, request));
  }

  async #mustDo(request: ManageRequest): Promise<void> {
    const { outcome } = await this.#do(request);
    if (outcome.kind !== "done")
      throw new Error(`${JSON.stringify(request)} came to ${JSON.stringify(outcome)}`);
  }
}
