import { useId } from "react";
import type { PlanVersion } from "../catalog/queries.ts";

/** Selects which customers get a new version. */
export function ReachChoice({
  value,
  onChange,
  notes,
}: {
  value: Reach;
  onChange: (reach: Reach) => void;
  notes: Readonly<Record<Reach, string>>;
}) {
  const id = useId();
  return (
    <fieldset>
      <legend className="pb-2 text-form font-medium">Applies to</legend>
      <div className="flex flex-col gap-2">
        {REACHES.map((reach) => (
          <label
            key={reach}
            htmlFor={`${id}-${reach}`}
            className="flex gap-3 rounded-md border border-line px-3 py-2.5 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft"
          >
            <input
              type="radio"
              id={`${id}-${reach}`}
              name={id}
              checked={value === reach}
              onChange={() => onChange(reach)}
              aria-describedby={`${id}-${reach}-note`}
              aria-label={REACH_NAMES[reach]}
              className="mt-0.5 size-4 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span className="block text-form font-medium">{REACH_NAMES[reach]}</span>
              <span id={`${id}-${reach}-note`} className="block text-muted">
                {notes[reach]}
              </span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

export type Reach = PlanVersion["reach"];

const REACHES = ["new_assignments", "next_period", "now"] as const satisfies readonly Reach[];

export const REACH_NAMES: Record<Reach, string> = {
  new_assignments: "New assignments only",
  next_period: "All customers, at their next renewal",
  now: "All customers, now",
};
