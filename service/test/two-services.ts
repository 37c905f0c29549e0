import { type Credits, setupCredits } from "./credits.ts";
import { post, type Reply, startTestService } from "./harness.ts";

export type TwoServices = Credits & {
  readonly urls: readonly [string, string];
  /** Consumes through one of the two services: the first if `turn` is even. */
  consumeAt(turn: number, body: object): Promise<Reply>;
  /** Consumes one image.render for "ada" with a new key. `change` overrides fields. */
  renderAt(turn: number, change?: object): Promise<Reply>;
};

/** Starts two services on one database. */
export async function setupTwo(overrides: Record<string, string> = {}): Promise<TwoServices> {
  const credits = await setupCredits(overrides);
  const { database, project, service } = credits;
  const urls = [service.url, (await startTestService(database, overrides)).url] as const;
  let count = 0;
  const consumeAt = (turn: number, body: object): Promise<Reply> =>
    post(`${urls[turn % 2]}/v1/consume`, project.test.key.secret, body);
  return {
    ...credits,
    urls,
    consumeAt,
    renderAt: (turn, change = {}) => {
      const idempotencyKey = `render-${count++}`;
      return consumeAt(turn, { customerId: "ada", feature: "image.render", idempotencyKey, ...change });
    },
  };
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Counts the allowed replies. Throws if any reply is not 200. */
export function countAllowed(replies: readonly Reply[]): number {
  const failed = replies.filter(({ status }) => status !== 200).map(({ status, text }) => ({ status, text }));
  if (failed.length > 0) throw new Error(`${failed.length} did not return 200: ${failed[0]?.text}`);
  return replies.filter(({ body }) => body["allowed"] === true).length;
}
