import { type Static, Type } from "typebox";
import type { Pool } from "../../postgres/pool.ts";
import { single } from "../../postgres/transaction.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { completePool, type GivenPool, type PoolContent, poolContents } from "../catalog/content.ts";
import { lowBalancesField, lowBalancesInput } from "../catalog/schema.ts";
import { beginWriting, writePool } from "../catalog/writing.ts";
import type { Context } from "../context.ts";
import { editCatalog } from "../edit-catalog.ts";
import { nameField, poolKeyField, strictObject } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { pageByKey, pageOf, pageQuery } from "../page.ts";
import type { ManageParts } from "../parts.ts";

const NOUN = "Pools";

export const CreditPool = Type.Object({
  key: Type.String({ examples: ["credits"] }),
  name: Type.String({ examples: ["Credits"] }),
  lowBalances: lowBalancesField,
});

export function poolOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/pools`,
      access: { role: "viewer", in: "environment" },
      id: "listPools",
      noun: NOUN,
      summary: "List pools",
      description: "Lists credit pools, sorted by key. Every environment starts with the pool `credits`.",
      params: Type.Object(environmentParams),
      query: strictObject(pageQuery),
      answer: pageOf(CreditPool),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const catalog = await single(cellOf(scopeOf(call)), (tx) => loadCatalog(tx, environmentId));
        const { items, nextCursor } = pageByKey(poolContents(catalog), call.query);
        return { items: items.map(describe), nextCursor };
      },
    }),
    operation({
      method: "PUT",
      path: `${ENVIRONMENT_PATH}/pools/:key`,
      access: { role: "admin", in: "environment" },
      id: "putPool",
      noun: NOUN,
      summary: "Create or edit a pool",
      description:
        "Creates the pool, or edits it if a pool with this key exists. Safe to repeat. Pools cannot be deleted.",
      params: Type.Object({ ...environmentParams, key: poolKeyField }),
      body: strictObject({
        name: Type.String({ ...nameField, examples: ["Credits"] }),
        lowBalances: lowBalancesInput,
      }),
      answer: CreditPool,
      codes: ["catalog_too_large", "upgrade_unfinished"],
      handle: async (call) => {
        const pool = { key: call.params.key, ...call.body };
        return describe(await definePool(cellOf(scopeOf(call)), contextOf(call), pool));
      },
    }),
  ];
}

function describe({ lowBalances, ...pool }: PoolContent): Static<typeof CreditPool> {
  return { ...pool, lowBalances: [...lowBalances] };
}

/** Creates or edits a pool. */
export function definePool(cell: Pool, context: Context, pool: GivenPool): Promise<PoolContent> {
  return editCatalog(cell, context, async (tx, catalog, at) => {
    const before = poolContents(catalog).find(({ key }) => key === pool.key) ?? null;
    const after = completePool(pool, before);
    const writing = beginWriting(tx, context.environmentId, catalog, at);
    return { outcome: after, audits: await writePool(writing, before, after) };
  });
}
