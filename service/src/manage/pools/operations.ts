import { Type } from "typebox";
import { single } from "../../postgres/transaction.ts";
import { loadCatalog } from "../../store/cell/catalogs.ts";
import { poolContents } from "../catalog/content.ts";
import { pageByKey } from "../catalog/page-by-key.ts";
import { keyField, nameField, strictObject } from "../fields.ts";
import {
  contextOf,
  ENVIRONMENT_PATH,
  environmentParams,
  type Operation,
  operation,
  scopeOf,
} from "../operation.ts";
import { pageOf, pageQuery } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { definePool } from "./define-pool.ts";

const NOUN = "Pools";

const Pool = Type.Object({
  key: Type.String({ examples: ["credits"] }),
  name: Type.String({ examples: ["Credits"] }),
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
      description: "Sorted by key. Every environment starts with `credits`.",
      params: Type.Object(environmentParams),
      query: strictObject(pageQuery),
      answer: pageOf(Pool),
      handle: async (call) => {
        const { cell, environmentId } = scopeOf(call);
        const catalog = await single(cellOf(cell), (tx) => loadCatalog(tx, environmentId));
        return pageByKey(poolContents(catalog), call.query);
      },
    }),
    operation({
      method: "PUT",
      path: `${ENVIRONMENT_PATH}/pools/:key`,
      access: { role: "admin", in: "environment" },
      id: "putPool",
      noun: NOUN,
      summary: "Create or rename a pool",
      description: "Safe to repeat. Pools are never deleted.",
      params: Type.Object({ ...environmentParams, key: keyField }),
      body: strictObject({ name: nameField }),
      answer: Pool,
      codes: ["catalog_too_large"],
      handle: async (call) => {
        const pool = { key: call.params.key, name: call.body.name };
        await definePool(cellOf(scopeOf(call).cell), contextOf(call), pool);
        return pool;
      },
    }),
  ];
}
