import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiProblem } from "../../api/api-problem.ts";
import { featuresQuery } from "../../api/catalog-lists.ts";
import { isOfCustomer, nextStepsOf } from "../../format/denial-sentences.ts";
import { formatCount } from "../../format/numbers.ts";
import { describeReason } from "../../format/request-sentences.ts";
import { formatCost, formatLimit } from "../../format/terms.ts";
import { NamedCustomer } from "../../frame/links.tsx";
import { useFeatureNames, useMayActAs, usePoolNames, useScope } from "../../frame/use-scope.ts";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Details } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { DenialStep } from "./denial-now.tsx";
import { type Customer, customerNowQuery, type LoggedRequest, planNowQuery } from "./queries.ts";

/** Names of the denied calls that the API does not store. */
const NOT_STORED = {
  check: { one: "Check", many: "checks", the: "check" },
  "holds/extend": { one: "Extension", many: "extensions", the: "extension" },
} as const;

/** "Why?" for a denied check or extension of a hold. Neither is stored, so the dialog shows the reason and the customer's current state. */
export function WhyCheckDenied({ request }: { request: Check }) {
  const [isOpen, setOpen] = useState(false);
  const { endpoint, reason } = request;
  if ((endpoint !== "check" && endpoint !== "holds/extend") || reason === null) return null;
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="font-medium text-accent underline-offset-2 hover:underline"
      >
        Why?
      </button>
      {/* Closed dialogs in every row would slow down the list. */}
      {isOpen && (
        <Dialog
          isOpen
          onClose={() => setOpen(false)}
          title={`Denied: ${describeReason(reason).toLowerCase()}`}
          note={
            <>
              {NOT_STORED[endpoint].one} at <Time at={request.recordedAt} as="second" />
            </>
          }
        >
          <Explanation request={{ ...request, endpoint, reason }} />
        </Dialog>
      )}
    </>
  );
}

type Check = Pick<
  LoggedRequest,
  "endpoint" | "reason" | "recordedAt" | "feature" | "customerId" | "customerName"
>;
type DeniedCheck = Check & { readonly endpoint: keyof typeof NOT_STORED; readonly reason: string };

function Explanation({ request }: { request: DeniedCheck }) {
  const { customerId, customerName } = request;
  const scope = useScope();
  const isOperator = useMayActAs("operator");
  const nameOf = useFeatureNames();
  const nameOfPool = usePoolNames();
  const customer = useQuery({
    ...customerNowQuery(scope, customerId ?? ""),
    enabled: customerId !== null,
  });
  const isMissing = customer.error instanceof ApiProblem && customer.error.status === 404;
  if (customer.error !== null && !isMissing) return <ProblemCallout error={customer.error} />;
  if (customerId !== null && customer.isPending) return <SkeletonRows rows={3} />;
  const found = customer.data ?? null;
  const steps = stepsOf(request, found);
  return (
    <>
      <p className="text-section">
        {whyOf({ ...request, feature: request.feature && nameOf(request.feature) })}
      </p>
      <h3 className="text-form font-medium">Current state</h3>
      <Details
        items={[
          {
            name: "Customer",
            value: <NamedCustomer customerId={customerId} name={customerName} missing="Unknown or erased" />,
          },
          ...(found === null ? [] : stateOf(found, nameOfPool)),
          ...(request.feature === null
            ? []
            : [{ name: "Feature", value: <Price request={request} customer={found} /> }]),
        ]}
      />
      <p className="text-caption text-muted">
        Denied {NOT_STORED[request.endpoint].many} are logged without the balance and limits at that moment.
      </p>
      {isOperator && steps.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {steps.map((step, index) => (
            <DenialStep
              key={step.kind}
              step={step}
              denial={{ customerId, plan: found?.plan ?? null, feature: request.feature ?? "" }}
              isFirst={index === 0}
            />
          ))}
        </div>
      )}
    </>
  );
}

function whyOf({ endpoint, reason, feature }: DeniedCheck): string {
  const { the } = NOT_STORED[endpoint];
  switch (reason) {
    case "insufficient_credits":
      return `${feature ?? `The ${the}`} would have cost more credits than the customer had.`;
    case "limit_reached":
      return `The request would have exceeded the customer's limit for ${feature ?? "the feature"}.`;
    case "feature_not_in_plan":
      return `The customer's plan did not include ${feature ?? "the feature"}.`;
    case "customer_blocked":
      return "The customer was blocked. All checks, charges and new holds for a blocked customer are denied.";
    case "no_active_plan":
      return "The customer had no plan. Credits can be spent only with a plan.";
    case "customer_not_found":
      return "The customer did not exist, and there was no default plan.";
    default:
      return `${describeReason(reason)}.`;
  }
}

function stateOf(
  { plan, balances, isBlocked }: Customer,
  nameOf: (pool: string) => string,
): { name: string; value: string }[] {
  return [
    { name: "Plan", value: plan?.name ?? "None" },
    ...balances.map(({ pool, balance }) => ({
      name: balances.length === 1 ? "Balance" : `Balance (${nameOf(pool)})`,
      value: formatCount(balance),
    })),
    ...(isBlocked ? [{ name: "Blocked", value: "Yes" }] : []),
  ];
}

/** The feature's cost and limit in the customer's plan. */
function Price({ request: { feature: key }, customer }: { request: DeniedCheck; customer: Customer | null }) {
  const scope = useScope();
  const plan = customer?.plan ?? null;
  const { data: features = [] } = useQuery(featuresQuery(scope));
  const { data: known } = useQuery({ ...planNowQuery(scope, plan), enabled: plan !== null });
  const feature = features.find((each) => each.key === key);
  const version = known?.versions.find(({ number }) => number === plan?.version);
  const terms = version?.features.find((each) => each.feature === key);
  const name = feature?.name ?? key;
  if (terms === undefined) return plan === null ? name : `${name}, not in ${plan.name}`;
  const unit = feature?.unit ?? null;
  const limit = terms.limit === null ? "" : `, ${formatLimit(terms.limit, unit ?? "use")}`;
  return `${name}, ${formatCost(terms.cost, unit)}${limit}`;
}

function stepsOf({ customerId, reason }: DeniedCheck, customer: Customer | null) {
  const isKnown = customer !== null || !isOfCustomer(reason);
  const position = {
    balance: 0,
    creditsRequired: 0,
    overage: null,
    shortfall: null,
    resetsAt: null,
    limit: null,
  };
  const now = { ...position, feature: "", reason, allowed: false };
  const isOverridden = customer?.overrides != null;
  const plan = customer?.plan ?? null;
  return isKnown ? nextStepsOf({ customerId, reason, items: null, plan, isOverridden, now }) : [];
}
