import type { UseFormRegister } from "react-hook-form";
import type { PlanSummary } from "../../api/catalog-lists.ts";
import { formatTime, nameOfClock } from "../../format/times.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";

export type AssignmentForm = { plan: string; ending: "unsaid" | "none" | "at"; endsAt: string };

export function PlanFields({
  register,
  form,
  plans,
  current,
}: {
  register: UseFormRegister<AssignmentForm>;
  form: AssignmentForm;
  plans: readonly PlanSummary[];
  /** Null without a plan, and for a bulk assignment. */
  current: Customer["plan"];
}) {
  const clock = useClock();
  const end = current !== null && current.key === form.plan ? current.endsAt : null;
  return (
    <>
      <Select
        label="Plan"
        autoFocus
        required
        options={[
          { value: "", label: "Choose a plan", isDisabled: true },
          ...offered(plans, current).map(({ key, name }) => ({
            value: key,
            label: key === current?.key ? `${name} (current)` : name,
          })),
        ]}
        {...register("plan")}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Select
          label="Ends"
          options={
            end === null
              ? [
                  { value: "unsaid", label: "Never" },
                  { value: "at", label: "On a date" },
                ]
              : [
                  { value: "unsaid", label: `No change: ${formatTime(end, clock)}` },
                  { value: "none", label: "Never" },
                  { value: "at", label: "On a later date" },
                ]
          }
          {...register("ending")}
        />
        {form.ending === "at" && (
          <TextField
            label="End date"
            type="datetime-local"
            required
            hint={`In ${nameOfClock(clock)}.`}
            {...register("endsAt")}
          />
        )}
      </div>
    </>
  );
}

/** Published plans that are not archived, and the current plan. */
function offered(plans: readonly PlanSummary[], current: Customer["plan"]): PlanSummary[] {
  return plans.filter(
    ({ key, latest, archivedAt }) => key === current?.key || (latest !== null && archivedAt === null),
  );
}
