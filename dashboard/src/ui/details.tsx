import type { ReactNode } from "react";

/** Names and what they are, one under the other. */
export function Details({ items }: { items: readonly { name: string; value: ReactNode }[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-2">
      {items.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

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
