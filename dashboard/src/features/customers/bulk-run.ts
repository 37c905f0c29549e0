import type { Customer } from "./queries.ts";

/** What a change does to one customer. `after` is null if nothing changes. */
export type Effect = { readonly customer: Customer; readonly before: string; readonly after: string | null };

/** Restores some customers. Safe to repeat. */
type Undo = { readonly count: number; readonly run: () => Promise<unknown> };

type Failure = { readonly effect: Effect; readonly error: unknown };

type BatchResult = {
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: readonly Failure[];
  readonly undos: readonly Undo[];
};

export type BulkResult = BatchResult & {
  /** Customers that were not reached, because somebody stopped. */
  readonly left: readonly Effect[];
};

/** A change of many customers, a batch at a time. Each batch must be safe to repeat. */
export type BulkChange = {
  readonly size: number;
  readonly send: (batch: readonly Effect[], signal: AbortSignal) => Promise<BatchResult>;
};

type Watch = { readonly onProgress: (count: number) => void; readonly signal: AbortSignal };

export const NOTHING_DONE: BulkResult = { changed: 0, unchanged: 0, failed: [], undos: [], left: [] };

export async function runBulk(
  effects: readonly Effect[],
  { size, send }: BulkChange,
  { onProgress, signal }: Watch,
): Promise<BulkResult> {
  let result = NOTHING_DONE;
  let at = 0;
  for (; at < effects.length && !signal.aborted; at += size) {
    onProgress(at);
    const batch = effects.slice(at, at + size);
    const done = await send(batch, signal).catch(
      (error: unknown): BatchResult => ({
        ...NOTHING_DONE,
        failed: batch.map((effect) => ({ effect, error })),
      }),
    );
    result = {
      changed: result.changed + done.changed,
      unchanged: result.unchanged + done.unchanged,
      failed: [...result.failed, ...done.failed],
      undos: [...result.undos, ...done.undos],
      left: [],
    };
  }
  return { ...result, left: effects.slice(at) };
}

/** The result of a change and of its retry, which may have left some of the same customers. Both can be undone together. */
export function withRetry(before: BulkResult, retry: BulkResult): BulkResult {
  return {
    ...retry,
    changed: before.changed + retry.changed,
    unchanged: before.unchanged + retry.unchanged,
    undos: [...before.undos, ...retry.undos],
  };
}

/**
 * Undoes the newest changes first. One that fails, for example because the customer was erased, does not keep the others from being
 * undone. Throws the first error at the end: all of them can be undone again. If somebody stops, the result has what is left to undo.
 */
export async function undoBulk({ undos }: BulkResult, { onProgress, signal }: Watch): Promise<BulkResult> {
  let changed = 0;
  const errors: unknown[] = [];
  const left = [...undos];
  for (let last = left.pop(); last !== undefined; last = left.pop()) {
    if (signal.aborted) return { ...NOTHING_DONE, changed, undos: [...left, last] };
    try {
      await last.run();
      changed += last.count;
    } catch (error) {
      errors.push(error);
    }
    onProgress(changed);
  }
  if (errors.length > 0) throw errors[0];
  return { ...NOTHING_DONE, changed };
}

/** Customers changed at the same time by single calls. */
const AT_ONCE = 4;

/** Changes each customer by a call of its own. `change` returns how to undo it, or null if nothing changed. */
export function eachCustomer(
  change: (customer: Customer, signal: AbortSignal) => Promise<(() => Promise<unknown>) | null>,
): BulkChange {
  return {
    size: AT_ONCE,
    send: async (batch, signal) => {
      const failed: Failure[] = [];
      const undos: Undo[] = [];
      let unchanged = 0;
      const one = async (effect: Effect): Promise<void> => {
        try {
          const run = await change(effect.customer, signal);
          if (run === null) unchanged += 1;
          else undos.push({ count: 1, run });
        } catch (error) {
          failed.push({ effect, error });
        }
      };
      await Promise.all(batch.map(one));
      return { changed: undos.length, unchanged, failed, undos };
    },
  };
}

export function nameOf({ name, customerId }: Pick<Customer, "name" | "customerId">): string {
  return name ?? customerId;
}
