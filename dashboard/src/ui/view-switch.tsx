import { ChartColumn, Table2 } from "lucide-react";
import { Segments } from "./segments.tsx";

export type View = "chart" | "table";

const VIEWS = [
  { value: "chart", name: "Chart", icon: ChartColumn },
  { value: "table", name: "Table", icon: Table2 },
] as const;

/** The same numbers to look at or to read. */
export function ViewSwitch({ view, onChange }: { view: View; onChange: (view: View) => void }) {
  return <Segments label="Show as" options={VIEWS} chosen={view} onChoose={onChange} />;
}
