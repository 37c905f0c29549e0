import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

/** A section on paper. `flush` for what brings its own padding, such as a table. */
export function Card({
  title,
  note,
  actions,
  flush = false,
  children,
}: {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface shadow-card">
      {title !== undefined && (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-2">
          <div className="min-w-0">
            <h2 className="text-form font-semibold">{title}</h2>
            {note !== undefined && <p className="text-caption text-muted">{note}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={classNames(!flush && "p-4")}>{children}</div>
    </section>
  );
}
