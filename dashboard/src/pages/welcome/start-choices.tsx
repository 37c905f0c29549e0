import { type ComponentProps, type ReactNode, useId } from "react";
import type { UseFormRegister } from "react-hook-form";
import { describeFeatures, describePlans, SAMPLE_CATALOG } from "./sample-catalog.ts";

export type Start = "sample" | "blank";

/** What a project sells on its first day. Both are only in test: live stays empty until somebody promotes. */
export function StartChoices({ register }: { register: UseFormRegister<{ name: string; start: Start }> }) {
  return (
    <fieldset className="grid gap-3 md:grid-cols-[3fr_2fr]">
      <legend className="mb-1 text-form font-medium">Start with</legend>
      <Choice title="Sample catalog" value="sample" {...register("start")}>
        <Sample />
      </Choice>
      <Choice title="Blank" value="blank" {...register("start")}>
        <p>
          No features and no plans. Usage events work at once; a charge needs a feature, which you define
          yourself.
        </p>
      </Choice>
    </fieldset>
  );
}

function Sample() {
  return (
    <>
      <p>Something to charge for, in test alone. Change or archive any of it.</p>
      <ul className="flex flex-col gap-1">
        {describeFeatures(SAMPLE_CATALOG).map(({ key, name, cost }) => (
          <li key={key}>
            <span className="text-ink">{name}</span>: {cost}
          </li>
        ))}
      </ul>
      <ul className="flex flex-col gap-1">
        {describePlans(SAMPLE_CATALOG).map(({ key, name, terms, isDefault }) => (
          <li key={key}>
            <span className="text-ink">{name}</span> plan{isDefault && ", the default"}: {terms}
          </li>
        ))}
      </ul>
    </>
  );
}

/** All of it can be clicked, and the title alone is its name. */
function Choice({
  title,
  children,
  ...input
}: { title: string; children: ReactNode } & Omit<
  ComponentProps<"input">,
  "id" | "type" | "className" | "title"
>) {
  const id = useId();
  return (
    <div className="relative flex items-start gap-2.5 rounded-lg border border-line p-3 hover:bg-hover has-checked:border-accent has-checked:bg-accent-soft">
      <input
        {...input}
        id={id}
        type="radio"
        aria-describedby={`${id}-note`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-form font-medium after:absolute after:inset-0">
          {title}
        </label>
        <div id={`${id}-note`} className="mt-1 flex flex-col gap-2 text-muted">
          {children}
        </div>
      </div>
    </div>
  );
}
