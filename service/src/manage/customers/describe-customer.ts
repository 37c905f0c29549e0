import { type Static, Type } from "typebox";
import { OverageView } from "../../edge/hold-fields.ts";
import type { Catalog } from "../../entitlement/catalog.ts";
import { decisionTime } from "../../entitlement/draft.ts";
import { overagePosition } from "../../entitlement/overage.ts";
import { findPeriodEnd } from "../../entitlement/plan-version.ts";
import { viewWallet } from "../../entitlement/view-wallet.ts";
import { balanceOf, heldIn, type Wallet } from "../../entitlement/wallet.ts";
import type { Instant } from "../../primitives/brand.ts";
import { formatTimestamp } from "../../primitives/timestamp.ts";
import type { CustomerRecord } from "../../store/cell/customer-list.ts";
import { nullable, timeField, timeOf, timeOrNull } from "../fields.ts";
import { Alerts, describeAlerts } from "./alerts.ts";
import { describeOverrides, Overrides } from "./overrides.ts";

export const Customer = Type.Object({
  customerId: Type.String({ description: "Your customer ID.", examples: ["customer_42"] }),
  name: nullable(Type.String({ examples: ["Acme GmbH"] })),
  email: nullable(Type.String({ examples: ["billing@acme.example"] })),
  billingReference: nullable(
    Type.String({
      description: "The customer's ID in your billing system.",
      examples: ["cus_NffrFeUfNV2Hib"],
    }),
  ),
  metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  createdAt: timeField,
  isBlocked: Type.Boolean({
    description:
      "If true, all checks, charges and new holds for this customer are denied. The customer keeps the plan and credits.",
  }),
  plan: nullable(
    Type.Object({
      key: Type.String({ examples: ["pro"] }),
      name: Type.String({ examples: ["Pro"] }),
      version: Type.Integer({ examples: [3] }),
      isDefault: Type.Boolean({
        description: "True for the environment's default plan, false for an assigned plan.",
      }),
      anchor: timeField,
      periodEndsAt: nullable(
        timeOf(
          "When the allowance with the longest period renews next, or when the plan ends if that is sooner. When you assign a " +
            "plan, `period_end` means this time. Null if no allowance renews.",
          "2026-12-15T00:00:00Z",
        ),
      ),
      endsAt: nullable(timeField),
    }),
  ),
  planAsOf: nullable(
    timeOf("`asOf` of the latest billing event that set or ended the plan. Older events are ignored."),
  ),
  nextPlan: nullable(
    Type.Object(
      {
        key: Type.String({ examples: ["basic"] }),
        name: Type.String({ examples: ["Basic"] }),
        startsAt: timeField,
        endsAt: nullable(timeField),
        anchor: timeField,
      },
      { description: "The pending plan change. Null if there is none." },
    ),
  ),
  overrides: nullable(Overrides),
  alerts: Alerts,
  balances: Type.Array(
    Type.Object({
      pool: Type.String({ examples: ["credits"] }),
      balance: Type.Integer({ description: "Credits that can be spent.", examples: [1250] }),
      held: Type.Integer({ description: "Credits that open holds set aside.", examples: [0] }),
      overage: nullable(OverageView),
    }),
  ),
});

export type Customer = Static<typeof Customer>;

/** Describes the customer with due changes applied. These changes are not written. */
export function describeCustomer(record: CustomerRecord, catalog: Catalog, clock: Instant): Customer {
  const wallet = viewWallet(catalog, record.wallet, clock);
  const now = decisionTime(catalog, record.wallet, clock);
  const { assignment } = wallet;
  const plan = assignment === null ? undefined : catalog.plans.get(assignment.plan);
  const version = assignment === null ? undefined : catalog.versions.get(assignment.version);
  return {
    customerId: record.customerId,
    name: record.name,
    email: record.email,
    billingReference: record.billingReference,
    metadata: record.metadata,
    createdAt: formatTimestamp(record.createdAt),
    isBlocked: wallet.isBlocked,
    plan:
      assignment === null || plan === undefined || version === undefined
        ? null
        : {
            key: plan.key,
            name: plan.name,
            version: version.number,
            isDefault: assignment.isDefault,
            anchor: formatTimestamp(assignment.anchor),
            periodEndsAt: timeOrNull(findPeriodEnd(catalog, assignment, now)),
            endsAt: timeOrNull(assignment.endsAt),
          },
    planAsOf: timeOrNull(wallet.planAsOf),
    nextPlan: describeNext(catalog, wallet),
    overrides: describeOverrides(catalog, wallet.overrides),
    alerts: describeAlerts(catalog, { wallet, customerNumber: record.customerNumber, at: now }),
    balances: [...catalog.pools.values()].map(({ id, key }) => ({
      pool: key,
      balance: balanceOf(wallet, id),
      held: heldIn(wallet, id),
      overage: overagePosition(wallet, version ?? null, id),
    })),
  };
}

function describeNext(catalog: Catalog, { next }: Wallet): Customer["nextPlan"] {
  const plan = next === null ? undefined : catalog.plans.get(next.plan);
  if (next === null || plan === undefined) return null;
  return {
    key: plan.key,
    name: plan.name,
    startsAt: formatTimestamp(next.startsAt),
    endsAt: timeOrNull(next.endsAt),
    anchor: formatTimestamp(next.anchor),
  };
}
