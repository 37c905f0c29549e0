import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Nothing here yet, why, and what to do next. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <span className="flex size-10 items-center justify-center rounded-full bg-sunken text-muted">
        <Icon className="size-5" aria-hidden />
      </span>
      <div>
        <h3 className="text-form font-semibold">{title}</h3>
        {children !== undefined && <div className="mx-auto mt-1 max-w-md text-muted">{children}</div>}
      </div>
      {action}
    </div>
  );
}
