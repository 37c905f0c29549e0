import type { UseFormRegister } from "react-hook-form";
import type { PlanSummary } from "../../api/catalog-lists.ts";
import { formatTime, nameOfClock } from "../../format/times.ts";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import type { Customer } from "../customers/queries.ts";

export type AssignmentForm = { plan: string; ending: "unsaid" | "none" | "at"; endsAt: string };

/** Which plan, and until when. */
export function PlanFields({
  register,
  form,
  plans,
  current,
}: {
  register: UseFormRegister<AssignmentForm>;
  form: AssignmentForm;
  plans: readonly PlanSummary[];
  /** Null: none, or those of many. */
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
            label: key === current?.key ? `${name}, the current plan` : name,
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
                  { value: "at", label: "At a time" },
                ]
              : [
                  { value: "unsaid", label: `As now: ${formatTime(end, clock)}` },
                  { value: "none", label: "Never" },
                  { value: "at", label: "At a later time" },
                ]
          }
          {...register("ending")}
        />
        {form.ending === "at" && (
          <TextField
            label="End"
            type="datetime-local"
            required
            hint={`By ${nameOfClock(clock)}. A trial is a plan with an end.`}
            {...register("endsAt")}
          />
        )}
      </div>
    </>
  );
}

/** Published and not archived, and whichever the customer has. */
function offered(plans: readonly PlanSummary[], current: Customer["plan"]): PlanSummary[] {
  return plans.filter(
    ({ key, latest, archivedAt }) => key === current?.key || (latest !== null && archivedAt === null),
  );
}
