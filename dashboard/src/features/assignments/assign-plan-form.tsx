import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { plansQuery } from "../../api/catalog-lists.ts";
import { refresh } from "../../api/query-client.ts";
import { useWrite } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { readMoment } from "../../format/times.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { useClock } from "../../ui/preferences.ts";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { tell } from "../../ui/toast.tsx";
import type { Customer } from "../customers/queries.ts";
import {
  type AssignmentBody,
  AssignmentPreview,
  assignmentPreviewQuery,
  isSameAssignment,
} from "./assignment-preview.tsx";
import { type AssignmentForm, PlanFields } from "./plan-fields.tsx";

function AssignPlanForm({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const { customerId } = customer;
  const place = usePlace();
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(place));
  const { register, control, handleSubmit, formState } = useForm<AssignmentForm>({
    defaultValues: { plan: "", ending: "unsaid", endsAt: "" },
  });
  const form = useWatch({ control, compute: (values: AssignmentForm) => values });
  const body = readForm(form, readMoment(form.endsAt, clock));
  const preview = useQuery(assignmentPreviewQuery(place, customerId, body));
  const requestOf = (wanted: AssignmentBody) => ({
    params: { path: { ...place, customerId } },
    body: wanted,
  });
  const assign = useWrite(
    "post",
    "/manage/v1/projects/{projectId}/{environment}/customers/{customerId}/plan",
    {
      onSuccess: async ({ outcome, customer: { plan } }) => {
        if (outcome === "changed") {
          tell(`${customer.name ?? customerId} has ${plan?.name ?? "no plan"} now`, changeOf(customer, plan));
          onClose();
        }
        await refresh("customers");
      },
    },
  );
  const chosen = plans.find(({ key }) => key === form.plan);
  const { error, variables: { body: asked } = { body } } = assign;
  const isUnchanged =
    assign.isSuccess && assign.data.outcome === "unchanged" && isSameAssignment(asked, body);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit(async () => {
        await assign.mutateAsync(requestOf(body)).catch(() => {});
      })}
    >
      <PlanFields register={register} form={form} plans={plans} current={customer.plan} />
      {chosen !== undefined && !isUnchanged && (
        <AssignmentPreview
          customer={customer}
          plan={chosen}
          effect={preview.data}
          isOld={preview.isFetching}
          error={preview.error}
        />
      )}
      {isUnchanged && (
        <div role="status">
          <Callout
            tone="good"
            title={`Nothing changed: ${customer.name ?? customerId} has ${chosen?.name} already`}
          >
            No credits were added and none were taken.
          </Callout>
        </div>
      )}
      {isAboutEnd(error) && isSameAssignment(asked, body) ? (
        <Callout tone="warn" title={`${chosen?.name} would end earlier`}>
          <p className="mb-2">{error.message.replace(/ To end it earlier.*$/, "")}</p>
          <Button
            onClick={() => void assign.mutateAsync(requestOf({ ...body, shorten: true })).catch(() => {})}
            isBusy={assign.isPending}
          >
            End earlier
          </Button>
        </Callout>
      ) : (
        <ProblemCallout error={isAboutEnd(error) ? null : error} />
      )}
      {form.plan !== "" && <ApiCall call={assign.callOf(requestOf(body))} />}
      <DialogActions>
        <Button onClick={onClose}>{isUnchanged ? "Close" : "Cancel"}</Button>
        <Button
          type="submit"
          tone="primary"
          isBusy={formState.isSubmitting || assign.isPending}
          isDisabled={chosen === undefined || (form.ending === "at" && body.endsAt === undefined)}
        >
          {inEnvironment(`Assign ${chosen?.name ?? "a plan"}`, place.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}

function isAboutEnd(error: unknown): error is ApiProblem {
  return error instanceof ApiProblem && error.code === "would_shorten";
}

/** What is not said about an end leaves the one there is. */
function readForm({ plan, ending }: AssignmentForm, endsAt: string | null): AssignmentBody {
  if (ending === "none") return { plan, endsAt: null };
  return ending === "at" && endsAt !== null ? { plan, endsAt } : { plan };
}

function changeOf({ plan: before }: Customer, after: Customer["plan"]): string {
  return before?.key === after?.key ? "Its end has changed" : `${before?.name ?? "No plan"} → ${after?.name}`;
}

export function AssignPlanDialog({
  customer,
  isOpen,
  onClose,
}: {
  customer: Customer;
  isOpen: boolean;
  onClose: () => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Assign a plan to ${customer.name ?? customer.customerId}`}
    >
      <AssignPlanForm customer={customer} onClose={onClose} />
    </Dialog>
  );
}
