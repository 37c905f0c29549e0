import { type ComponentProps, useId } from "react";
import { classNames } from "./class-names.ts";

export type Choice = {
  readonly value: string;
  readonly name: string;
  /** What choosing it means, in one line. */
  readonly note: string;
  readonly isDisabled?: boolean;
};

/** One of a few, where each deserves a line of explanation. */
export function Choices({
  label,
  choices,
  chosen,
  ...input
}: {
  label: string;
  choices: readonly Choice[];
  /** Where no form keeps it. */
  chosen?: string;
} & Omit<ComponentProps<"input">, "id" | "type" | "value" | "className">) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-form font-medium">{label}</legend>
      {choices.map((choice) => (
        <Line
          key={choice.value}
          choice={choice}
          {...input}
          {...(chosen === undefined ? {} : { checked: choice.value === chosen })}
        />
      ))}
    </fieldset>
  );
}

function Line({ choice, ...input }: { choice: Choice } & ComponentProps<"input">) {
  const id = useId();
  const { value, name, note, isDisabled = false } = choice;
  return (
    <label
      className={classNames(
        "flex items-start gap-2.5 rounded-md border border-line px-3 py-2 has-checked:border-accent has-checked:bg-accent-soft",
        isDisabled ? "cursor-default" : "hover:bg-hover",
      )}
    >
      <input
        {...input}
        type="radio"
        value={value}
        disabled={isDisabled}
        aria-labelledby={`${id}-name`}
        aria-describedby={`${id}-note`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0">
        <span id={`${id}-name`} className={classNames("block text-form", isDisabled && "text-muted")}>
          {name}
        </span>
        <span id={`${id}-note`} className="block text-caption text-muted">
          {note}
        </span>
      </span>
    </label>
  );
}
