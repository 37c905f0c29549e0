import { expect, onTestFinished, test } from "vitest";
import { setupCredits } from "../../../../test/credits.ts";
import { expectExactSums, settle } from "../../../../test/usage.ts";
import { Session } from "../../../postgres/session.ts";
import type { Parameter, Rows, Statement } from "../../../postgres/statement.ts";
import { brandAs, type Instant } from "../../../words/brand.ts";
import { type Repairing, repairDay } from "./repair-day.ts";
import { utcDay } from "./utc-day.ts";
import { verifyUsage } from "./verify-usage.ts";

const SLICES_NEEDED = 4;
/** Their parameters: environments, from, to, how many slices of customers, which of them. */
const OF_SOME = ["usage_expected.compare", "usage_remake.insert_customers"];

/** A server that does not get through more than a fourth of the customers of one moment in its time. */
class Slow implements Repairing {
  readonly #session: Session;
  readonly #crowdedAt: number;
  /** That of the crowded moment. */
  readonly taken: string[] = [];

  constructor(session: Session, crowdedAt: number) {
    this.#session = session;
    this.#crowdedAt = crowdedAt;
  }

  get isOpen(): boolean {
    return this.#session.isOpen;
  }

  begin = () => this.#session.begin();
  commit = () => this.#session.commit();
  rollback = () => this.#session.rollback();

  async run(statement: Statement, parameters: readonly Parameter[] = []): Promise<Rows> {
    const [, from, to, slices, slice] = parameters;
    const isOf = Date.parse(String(from)) <= this.#crowdedAt && this.#crowdedAt < Date.parse(String(to));
    if (OF_SOME.includes(statement.name) && isOf) {
      if (Number(slices) < SLICES_NEEDED) throw new Error("Query read timeout");
      this.taken.push(`${slice} of ${slices}`);
    }
    return this.#session.run(statement, parameters);
  }
}

test("a quarter that is too much for a statement is verified and repaired by some customers at a time", {
  timeout: 120_000,
}, async () => {
  const { database, project, cell } = await setupCredits();
  const [row] = await database.query("select date_trunc('hour', now()) as at");
  const at = new Date(String(row?.["at"])).getTime();
  await database.query(
    `insert into cell.events (recorded_at, id, environment_id, customer_number, event, quantity, occurred_at, request_id)
     select now(), gen_random_uuid(), $1, i % 200, 'event.' || i % 3, i, $2::timestamptz, 'r' from generate_series(1, 2000) as i`,
    [project.test.environmentId, new Date(at)],
  );
  await settle({ cell, database });
  const session = await Session.open({ url: database.serviceUrl, name: "test", connectTimeoutMs: 5_000 });
  onTestFinished(() => session.destroy());
  const all = Array.from({ length: SLICES_NEEDED }, (_, slice) => `${slice} of ${SLICES_NEEDED}`);
  const verify = async () => {
    const slow = new Slow(session, at);
    return { ...(await verifyUsage(slow, null)), taken: slow.taken };
  };
  expect(await verify()).toEqual({ wrong: null, rows: 2_000, taken: all });

  await database.query("update cell.usage_customer_quarters set count = count + 1 where customer_number = 7");
  await database.query("update cell.usage_quarters set count = count + 1");
  // What all used is what each did, and more than the rows say.
  const { wrong } = await verify();
  expect(wrong).toMatchObject({ customerNumber: 7, missing: { count: -1 } });
  await database.query("update cell.usage_quarters set quantity = quantity + 1");
  const slow = new Slow(session, at);
  await repairDay(slow, utcDay(brandAs<Instant>(at)));
  expect(slow.taken).toEqual(all);
  await expectExactSums(database);
  expect((await verify()).wrong).toBe(null);
});
