import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { plansQuery } from "../../api/catalog-lists.ts";
import { answerOf, api } from "../../api/client.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { tell } from "../../ui/toast.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { formatCount } from "../../words/numbers.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import type { Customer } from "./queries.ts";
import { useCustomerWritten } from "./use-customer-written.ts";

export function EndPlanDialog({
  customer,
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  const { customerId, name, plan } = customer;
  const place = usePlace();
  const refresh = useCustomerWritten(customerId);
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  const fallback = plans.find(({ isDefault }) => isDefault);
  const end = useMutation({
    mutationFn: () =>
      answerOf(
        api.DELETE("/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan", {
          params: { path: { ...place, customerId } },
        }),
      ),
    onSuccess: async ({ outcome, customer: after }) => {
      const balance = `Balance ${sumOf(customer)} → ${sumOf(after)}`;
      if (outcome === "ended")
        tell(`${plan?.name ?? "The plan"} has ended for ${name ?? customerId}`, balance);
      else tell("Nothing changed", "No plan was assigned any more");
      onClose();
      await refresh();
    },
  });
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`End ${plan?.name ?? "the plan"} of ${name ?? customerId}`}
      action={inEnvironment(`End ${plan?.name ?? "the plan"} now`, place.environment)}
      isDangerous
      work={end}
      call={{ method: "DELETE", path: pathIn(place, "customers", customerId, "plan") }}
    >
      <ul className="flex list-disc flex-col gap-1 pl-5">
        <li>What is left of the plan's credits ends now. Top-ups stay.</li>
        <li>
          {fallback === undefined
            ? "There is no default plan: every request will be denied until a plan is assigned."
            : `The default plan, ${fallback.name}, takes over.`}
        </li>
      </ul>
    </ConfirmDialog>
  );
}

/** One pool says it all nearly everywhere. */
function sumOf({ balances }: Customer): string {
  return balances.map(({ balance }) => formatCount(balance)).join(" / ") || "0";
}
