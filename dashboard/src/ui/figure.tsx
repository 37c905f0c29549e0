import type { ReactNode } from "react";

/** One number that matters, and what it is. */
export function Figure({ name, value, note }: { name: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3 shadow-card">
      <p className="text-caption font-medium text-muted">{name}</p>
      <p className="text-figure font-semibold tracking-tight tabular-nums">{value}</p>
      {note !== undefined && <div className="text-caption text-muted">{note}</div>}
    </div>
  );
}
