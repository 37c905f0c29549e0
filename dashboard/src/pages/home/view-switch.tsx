import { ChartColumn, type LucideIcon, Table2 } from "lucide-react";
import { classNames } from "../../ui/class-names.ts";

type View = "chart" | "table";

const VIEWS: readonly { view: View; name: string; icon: LucideIcon }[] = [
  { view: "chart", name: "Chart", icon: ChartColumn },
  { view: "table", name: "Table", icon: Table2 },
];

/** The same numbers to look at or to read. */
export function ViewSwitch({ view: chosen, onChange }: { view: View; onChange: (view: View) => void }) {
  return (
    <fieldset className="flex gap-0.5 rounded-md bg-sunken p-0.5">
      <legend className="sr-only">Show as</legend>
      {VIEWS.map(({ view, name, icon: Icon }) => (
        <button
          key={view}
          type="button"
          aria-pressed={view === chosen}
          onClick={() => onChange(view)}
          className={classNames(
            "flex h-7 items-center gap-1.5 rounded px-2 text-body font-medium",
            view === chosen ? "bg-surface text-ink shadow-card" : "text-muted hover:text-ink",
          )}
        >
          <Icon className="size-3.5" aria-hidden />
          {name}
        </button>
      ))}
    </fieldset>
  );
}
