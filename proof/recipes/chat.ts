import { defineFeature } from "../../service/src/manage/features/define-feature.ts";
import { expectSoundBooks } from "../../service/test/books.ts";
import { type Credits, setupCredits } from "../../service/test/credits.ts";
import { expectVerified } from "../../service/test/holds.ts";
import { type LineToPurser, startLineTo } from "./line.ts";

/** A token costs one credit, so credits equal tokens. */
export const FEATURE = "chat.tokens";
export const CUSTOMER = "grace";

export type Chat = Credits & {
  readonly line: LineToPurser;
  /** The environment variables that a recipe reads. */
  readonly env: { readonly PURSER_URL: string; readonly PURSER_KEY: string };
  /** The customer's balance and charges, and how the holds ended. */
  readBooks(): Promise<Books>;
};

export type Books = {
  readonly balance: number;
  readonly charged: readonly number[];
  readonly uncovered: number;
  readonly ended: readonly string[];
  readonly open: number;
};

/** Starts Purser behind a proxy that can fail, and creates a customer with this many credits. */
export async function openChat(credits: number): Promise<Chat> {
  const purser = await setupCredits();
  const { cell, context, database, service, project } = purser;
  const feature = { key: FEATURE, name: "Chat tokens", unit: "token", pool: "credits" };
  await defineFeature(cell, context, { ...feature, cost: { credits: 1, per: 1 } });
  await purser.publish({
    key: "chat",
    name: "Chat",
    allowances: [],
    features: [{ feature: FEATURE, limit: null }],
  });
  await purser.assign(CUSTOMER, "chat");
  await purser.topUp(CUSTOMER, credits);
  const line = await startLineTo(service.url);
  return {
    ...purser,
    line,
    env: { PURSER_URL: line.url, PURSER_KEY: project.test.key.secret },
    readBooks: async () => {
      await expectSoundBooks(database);
      await expectVerified(database);
      const { body } = await purser.check({ customerId: CUSTOMER, feature: FEATURE });
      const charges = await database.query(
        "select quantity, coalesce(uncovered, 0) as uncovered from cell.ledger where feature_id is not null order by sequence",
      );
      const ends = await database.query(
        "select kind from cell.hold_changes where kind > 2 order by hold_number, number",
      );
      return {
        balance: Number(body["balance"]),
        charged: charges.map(({ quantity }) => Number(quantity)),
        uncovered: charges.reduce((sum, { uncovered }) => sum + Number(uncovered), 0),
        ended: ends.map(({ kind }) => (kind === 3 ? "settled" : kind === 4 ? "released" : `kind ${kind}`)),
        open: await database.count("cell.open_holds"),
      };
    },
  };
}
