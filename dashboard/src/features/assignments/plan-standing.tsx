import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { plansQuery } from "../../api/catalog-lists.ts";
import { describeStanding, leavesAt, nameOfKept } from "../../format/plan-standing.ts";
import { formatDay } from "../../format/times.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { LinkButton } from "../../ui/button.tsx";
import { lazyDialog } from "../../ui/lazy.tsx";
import { useClock } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";

export const CancelPlanDialog = lazyDialog(() =>
  import("./cancel-plan.tsx").then((module) => module.CancelPlanDialog),
);
const KeepPlanDialog = lazyDialog(() => import("./cancel-plan.tsx").then((module) => module.KeepPlanDialog));

/** Shows how long the customer has the plan, the plan that follows, and the button that changes this. */
export function PlanStanding({ customer }: { customer: Customer }) {
  const { plan } = customer;
  const keeps = nameOfKept(customer);
  const isOperator = useMayActAs("operator");
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(useScope()));
  const [opened, setOpened] = useState<"keep" | "cancel" | null>(null);
  const fallback = plans.find(({ isDefault }) => isDefault)?.name ?? null;
  const isLeaving = leavesAt(customer) !== null;
  const isCancelable = plan !== null && !plan.isDefault;
  const dialog = { customer, onClose: () => setOpened(null) };
  return (
    <div>
      {describeStanding(customer, fallback, (at) => formatDay(at, clock))}{" "}
      {isOperator && (isLeaving || isCancelable) && (
        <LinkButton onClick={() => setOpened(isLeaving ? "keep" : "cancel")}>
          {!isLeaving ? "Cancel plan" : keeps === null ? "Cancel scheduled change" : `Keep ${keeps}`}
        </LinkButton>
      )}
      {opened === "keep" && <KeepPlanDialog {...dialog} />}
      {opened === "cancel" && <CancelPlanDialog {...dialog} />}
    </div>
  );
}
