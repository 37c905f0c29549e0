import { Type } from "typebox";
import { single } from "../../postgres/transaction.ts";
import { brandAs, type CustomerId, type CustomerNumber } from "../../primitives/brand.ts";
import { findCustomers } from "../../store/cell/customers.ts";
import { listNotices } from "../../store/cell/notices.ts";
import { strictObject } from "../fields.ts";
import { historyStartOf, windowAnswer } from "../history-window.ts";
import { ENVIRONMENT_PATH, environmentParams, type Operation, operation, scopeOf } from "../operation.ts";
import { pageOf, pageQuery, readIdCursor, readLimit } from "../page.ts";
import type { ManageParts } from "../parts.ts";
import { describeNotice, Notice, noticePage } from "./describe-notice.ts";
import { NOUN } from "./operations.ts";

/** Lists notices, whether or not a webhook receives them. */
export function noticeOperations({ cellOf, control }: ManageParts): Operation[] {
  return [
    operation({
      method: "GET",
      path: `${ENVIRONMENT_PATH}/notices`,
      access: { role: "viewer", in: "environment" },
      id: "listNotices",
      noun: NOUN,
      summary: "List notices",
      description:
        "Returns the notices recorded for webhooks in the last 30 days, newest first, without tests. Only the types that an enabled " +
        "webhook receives are recorded. Notices from before the workspace's history window are not returned.",
      params: Type.Object(environmentParams),
      query: strictObject({
        ...pageQuery,
        customerId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 255,
            description: "Only notices about this customer.",
            examples: ["customer_42"],
          }),
        ),
      }),
      answer: Type.Object({ ...pageOf(Notice).properties, ...windowAnswer }),
      handle: async (call) => {
        const { environmentId } = scopeOf(call);
        const limit = readLimit(call.query.limit);
        const before = readIdCursor(call.query.cursor) ?? Number.MAX_SAFE_INTEGER;
        const customerId = brandAs<CustomerId>(call.query.customerId ?? "");
        const windowStart = await historyStartOf(control, call);
        const rows = await single(cellOf(scopeOf(call)), async (tx) => {
          const page = { environmentId, before, limit: limit + 1 };
          if (call.query.customerId === undefined) return listNotices(tx, { ...page, customerNumber: null });
          const [customer] = await findCustomers(tx, [{ environmentId, customerId }]);
          if (customer === undefined) return [];
          const customerNumber = brandAs<CustomerNumber>(customer.number);
          return listNotices(tx, { ...page, customerNumber });
        });
        return noticePage({ rows, limit, end: null, windowStart }, (notice) => notice, describeNotice);
      },
    }),
  ];
}
