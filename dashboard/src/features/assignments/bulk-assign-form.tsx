import { useMutation, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { UsersRound } from "lucide-react";
import { useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { plansQuery } from "../../api/catalog-lists.ts";
import { callOf, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf } from "../../format/numbers.ts";
import { readMoment } from "../../format/times.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { useClock } from "../../ui/time.tsx";
import { useAbort } from "../../ui/use-abort.ts";
import type { CustomerFilters } from "../customers/queries.ts";
import {
  assignBulk,
  BULK_PATH,
  type BulkBody,
  BulkDone,
  BulkPreviewView,
  type BulkProgress,
  BulkRunning,
  bulkFilterOf,
  previewBulk,
} from "./bulk-assignment.tsx";
import { type AssignmentForm, EMPTY_ASSIGNMENT, PlanFields } from "./plan-fields.tsx";

function BulkAssignForm({ filters, onClose }: { filters: CustomerFilters; onClose: () => void }) {
  const scope = useScope();
  const clock = useClock();
  const { data: plans } = useSuspenseQuery(plansQuery(scope));
  const [progress, setProgress] = useState<BulkProgress | null>(null);
  const { begin, stop } = useAbort();
  const { register, setValue, control, handleSubmit } = useForm<AssignmentForm>({
    defaultValues: EMPTY_ASSIGNMENT,
  });
  const form = useWatch({ control, compute: (values: AssignmentForm) => values });
  const endsAt = form.ending === "at" ? readMoment(form.endsAt, clock) : null;
  const body: BulkBody = {
    filter: bulkFilterOf(filters),
    plan: form.plan,
    ...(endsAt === null ? {} : { endsAt }),
  };
  const isReady = form.plan !== "" && (form.ending !== "at" || endsAt !== null);
  const preview = useQuery({
    queryKey: ["bulk preview", scope, body],
    queryFn: ({ signal }) => previewBulk(scope, body, signal),
    enabled: isReady,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const assign = useMutation({
    mutationFn: ({ parts }: { parts: NonNullable<typeof preview.data>["parts"] }) =>
      assignBulk(scope, { body, parts }, { onProgress: setProgress, signal: begin() }),
    onSettled: () => void refresh("customers"),
    // Stopped, or the number of customers changed: show a new preview.
    onError: () => void preview.refetch(),
  });
  const name = plans.find(({ key }) => key === form.plan)?.name ?? "a plan";
  if (assign.data !== undefined) return <BulkDone done={assign.data} plan={name} onClose={onClose} />;
  const seen = preview.data;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit(async () => {
        if (seen !== undefined) await assign.mutateAsync({ parts: seen.parts }).catch(() => {});
      })}
    >
      <PlanFields register={register} setValue={setValue} form={form} plans={plans} customer={null} />
      {isReady && preview.isFetching && (
        <p role="status" className="text-muted">
          Checking all matching customers…
        </p>
      )}
      {seen !== undefined && !preview.isFetching && <BulkPreviewView preview={seen} />}
      {assign.isPending && <BulkRunning progress={progress} parts={seen?.parts.length ?? 1} />}
      <ProblemCallout error={assign.error ?? preview.error} />
      {seen !== undefined && (
        <ApiCall
          call={callOf("post", BULK_PATH, {
            params: { path: scope },
            body: { ...body, expectedCount: seen.parts[0]?.matching ?? 0 },
          })}
        />
      )}
      <DialogActions>
        {assign.isPending ? <Button onClick={stop}>Stop</Button> : <Button onClick={onClose}>Cancel</Button>}
        <Button
          type="submit"
          tone="primary"
          isBusy={assign.isPending}
          isDisabled={seen === undefined || preview.isFetching || seen.changed === 0}
        >
          {inEnvironment(
            seen === undefined ? "Assign" : `Assign ${name} to ${countOf(seen.changed, "customer")}`,
            scope.environment,
          )}
        </Button>
      </DialogActions>
    </form>
  );
}

/** Assigns one plan to all customers that match the filters, on all pages. */
export function BulkAssignButton({ filters, isDisabled }: { filters: CustomerFilters; isDisabled: boolean }) {
  const isOperator = useMayActAs("operator");
  const [isOpen, setOpen] = useState(false);
  if (!isOperator) return null;
  const onClose = () => setOpen(false);
  return (
    <>
      <Button tone="quiet" icon={UsersRound} isDisabled={isDisabled} onClick={() => setOpen(true)}>
        Bulk assign plan
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={onClose}
        isWide
        title="Bulk assign plan"
        note={describeFilters(filters)}
      >
        {filters.balanceBelow === undefined ? (
          <BulkAssignForm filters={filters} onClose={onClose} />
        ) : (
          <>
            <Callout tone="warn" title="Remove the balance filter first">
              Balances change while plans are assigned. Filter by plan, search or blocked state instead.
            </Callout>
            <DialogActions>
              <Button onClick={onClose}>Close</Button>
            </DialogActions>
          </>
        )}
      </Dialog>
    </>
  );
}

function describeFilters({ search, plan, blocked }: CustomerFilters): string {
  const conditions = [
    plan === undefined ? null : `on plan ${plan}`,
    search === undefined ? null : `matching “${search}”`,
    blocked === undefined ? null : blocked ? "that are blocked" : "that are not blocked",
  ].filter((part) => part !== null);
  return conditions.length === 0
    ? "All customers in this environment"
    : `All customers ${conditions.join(", ")}`;
}
