import { Type } from "typebox";
import { contextOf, type Operation, operation, scopeOf } from "../operation.ts";
import type { ManageParts } from "../parts.ts";
import { Alerts, AlertsBody, setAlerts } from "./alerts.ts";
import { Customer } from "./describe-customer.ts";
import {
  CUSTOMER_PATH,
  customerIdOf,
  customerNotFound,
  customerParams,
  readChanged,
  readOrNotFound,
} from "./operations.ts";

/** Sets and reads the thresholds and the rules for top-ups of one customer. */
export function customerAlertsOperations({ cellOf }: ManageParts): Operation[] {
  return [
    operation({
      method: "PUT",
      path: `${CUSTOMER_PATH}/alerts`,
      access: { role: "operator", in: "environment" },
      id: "setAlerts",
      noun: "Customers",
      summary: "Set a customer's thresholds and rules for top-ups",
      description:
        'Replaces all of the customer\'s rules. `{"pools": {}}` removes them. Safe to repeat.\n\n' +
        "With a rule for top-ups, webhooks receive `topup.due` when the balance is below `below`. One request for each pool is open at a " +
        "time:\n\n" +
        "- A purchase of at least the requested credits in the pool closes the request.\n" +
        "- The request is repeated after 24 hours if the balance is still below `below`, with the same `topUpId` and the next `attempt`. " +
        "Later repeats follow after 2, 4, 8, 16 and then every 32 days.\n" +
        "- A changed rule keeps the request open. The next attempt requests the new `credits`.\n\n" +
        "A request is opened by usage, including a denied request, or immediately by a new rule. Nothing is requested while the " +
        "customer is blocked, has no plan or only the default plan, or while no webhook receives `topup.due`.",
      params: customerParams,
      body: AlertsBody,
      answer: Type.Object({ outcome: Type.Enum(["changed", "unchanged"]), customer: Customer }),
      codes: ["unknown_key", "upgrade_unfinished"],
      handle: async (call) => {
        const { kind: outcome } = await setAlerts(cellOf(scopeOf(call)), contextOf(call), {
          customerId: customerIdOf(call),
          ...call.body,
        });
        if (outcome === "customer_not_found") throw customerNotFound();
        return { outcome, customer: await readChanged(cellOf, call) };
      },
    }),
    operation({
      method: "GET",
      path: `${CUSTOMER_PATH}/alerts`,
      access: { role: "viewer", in: "environment" },
      id: "readAlerts",
      noun: "Customers",
      summary: "Read a customer's thresholds and rules for top-ups",
      description: "Returns the same rules and open requests as `alerts` of the customer.",
      params: customerParams,
      answer: Alerts,
      handle: async (call) => (await readOrNotFound(cellOf, call)).alerts,
    }),
  ];
}
