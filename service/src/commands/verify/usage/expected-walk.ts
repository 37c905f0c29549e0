import type { Tx } from "../../../postgres/statement.ts";
import { addToExpected, type ExpectedRange } from "../../../store/cell/usage/expected.ts";
import { readUsageProgress, type UsageProgress } from "../../../store/cell/usage/progress.ts";
import { findStretch } from "../../../store/cell/usage/stretch.ts";

const ROWS_MAX = 5_000;
const PAUSE_MS = 100;

/** Reads the rows that the sums hold by now, from where it stopped on. Rows below the progress never change. */
export class ExpectedWalk {
  readonly #range: ExpectedRange;
  #addedTo = 0;

  constructor(range: ExpectedRange) {
    this.#range = range;
  }

  /** The number up to which the rows were read. */
  get addedTo(): number {
    return this.#addedTo;
  }

  async catchUp(tx: Tx): Promise<void> {
    const { transactionNumber } = await readWholeProgress(tx);
    await this.readTo(tx, transactionNumber);
  }

  async readTo(tx: Tx, limit: number): Promise<void> {
    while (this.#addedTo < limit) {
      const stretch = await findStretch(tx, { from: this.#addedTo, limit, rowsMax: ROWS_MAX });
      for (let slice = 0; slice < stretch.slices; slice++)
        await addToExpected(tx, stretch, slice, this.#range);
      this.#addedTo = stretch.to;
    }
  }
}

/** Of a large transaction the sums hold some customers a moment before the others. */
export async function readWholeProgress(
  tx: Tx,
  read: (tx: Tx) => Promise<UsageProgress> = readUsageProgress,
): Promise<UsageProgress> {
  for (;;) {
    const progress = await read(tx);
    if (progress.slices.done === 0) return progress;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
