import { Switch as BaseSwitch } from "@base-ui/react/switch";
import { ChartColumn, type LucideIcon, Table2 } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

/** A segmented control. */
export function Segments<Value extends string>({
  label,
  options,
  chosen,
  onChoose,
  wraps = false,
}: {
  label: string;
  options: readonly { value: Value; name: string; icon?: LucideIcon }[];
  chosen: Value;
  onChoose: (value: Value) => void;
  /** Wraps to several lines instead of scrolling. */
  wraps?: boolean;
}) {
  return (
    <fieldset
      className={classNames(
        "flex max-w-full gap-0.5 rounded-md bg-sunken p-0.5",
        wraps ? "min-w-0 flex-wrap" : "overflow-x-auto",
      )}
    >
      <legend className="sr-only">{label}</legend>
      {options.map(({ value, name, icon: Icon }) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === chosen}
          onClick={() => onChoose(value)}
          className={classNames(
            "flex h-7 items-center gap-1.5 rounded px-2 text-body font-medium whitespace-nowrap -outline-offset-2",
            value === chosen ? "bg-surface text-ink shadow-card" : "text-muted hover:text-ink",
          )}
        >
          {Icon !== undefined && <Icon className="size-3.5" aria-hidden />}
          {name}
        </button>
      ))}
    </fieldset>
  );
}

export type View = "chart" | "table";

const VIEWS = [
  { value: "chart", name: "Chart", icon: ChartColumn },
  { value: "table", name: "Table", icon: Table2 },
] as const;

/** Switches between chart and table. */
export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return <Segments label="Show as" options={VIEWS} chosen={view} onChoose={onChange} />;
}

export type Choice = {
  readonly value: string;
  readonly name: string;
  /** One-line explanation. */
  readonly note: string;
  readonly isDisabled?: boolean;
};

/** Radio buttons, each with an explanation. */
export function Choices({
  label,
  choices,
  chosen,
  ...input
}: {
  label: string;
  choices: readonly Choice[];
  /** For use outside a form. */
  chosen?: string;
} & Omit<ComponentProps<"input">, "id" | "type" | "value" | "className">) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-1">
      <legend className="mb-1 text-form font-medium">{label}</legend>
      {choices.map((choice) => (
        <ChoiceLine
          key={choice.value}
          choice={choice}
          {...input}
          {...(chosen === undefined ? {} : { checked: choice.value === chosen })}
        />
      ))}
    </fieldset>
  );
}

function ChoiceLine({ choice, ...input }: { choice: Choice } & ComponentProps<"input">) {
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

/** An on/off switch that takes effect immediately. */
export function Switch({
  label,
  isOn,
  onChange,
}: {
  label: ReactNode;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is the control
    <label className="inline-flex h-8 items-center gap-2 px-1 text-form font-medium select-none">
      <BaseSwitch.Root
        checked={isOn}
        onCheckedChange={onChange}
        className="flex h-5 w-9 shrink-0 rounded-full border border-line-strong bg-sunken p-0.5 transition-colors data-checked:border-transparent data-checked:bg-accent"
      >
        <BaseSwitch.Thumb className="size-3.5 rounded-full bg-line-strong transition-[translate] data-checked:translate-x-4 data-checked:bg-on-accent" />
      </BaseSwitch.Root>
      {label}
    </label>
  );
}
