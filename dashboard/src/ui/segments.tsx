import { ChartColumn, type LucideIcon, Table2 } from "lucide-react";
import { classNames } from "./class-names.ts";

/** One of a few, all in sight and one click away. */
export function Segments<Value extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  label: string;
  options: readonly { value: Value; name: string; icon?: LucideIcon }[];
  chosen: Value;
  onChoose: (value: Value) => void;
}) {
  return (
    <fieldset className="flex max-w-full gap-0.5 overflow-x-auto rounded-md bg-sunken p-0.5">
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

/** The same numbers to look at or to read. */
export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return <Segments label="Show as" options={VIEWS} chosen={view} onChoose={onChange} />;
}
