import type { UseQueryResult } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Card } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";

/** What a part needs to know of its query, or of two in one. */
type Asked<Data> = Pick<UseQueryResult<Data>, "isFetching" | "dataUpdatedAt"> & {
  error: unknown;
  data: Data | undefined;
  refetch: () => unknown;
};

/** A part of the page that loads and fails for itself. What was read before stays, and says from when it is. */
export function Part<Data>({
  title,
  note,
  actions,
  query,
  rows = 3,
  children,
}: {
  title: string;
  note?: ReactNode;
  actions?: ReactNode;
  query: Asked<Data>;
  /** How high it is likely to be. */
  rows?: number;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, isFetching, refetch, dataUpdatedAt } = query;
  return (
    <Card flush title={title} note={note} actions={actions}>
      {error !== null && (
        <div className="flex flex-col items-start gap-3 p-4">
          <ProblemCallout error={error} />
          {data !== undefined && (
            <p className="text-caption text-muted">
              What stands here is from <Time at={new Date(dataUpdatedAt).toISOString()} />.
            </p>
          )}
          <Button icon={RotateCw} isBusy={isFetching} onClick={() => refetch()}>
            Try again
          </Button>
        </div>
      )}
      {data !== undefined ? children(data) : error === null && <SkeletonRows rows={rows} />}
    </Card>
  );
}

/** Nothing to see in this part, which is mostly good news. */
export function Nothing({ children }: { children: ReactNode }) {
  return <p className="px-4 py-6 text-center text-muted">{children}</p>;
}

/** Lines of a part: what it is on the left, how much on the right. */
export function Lines({ children }: { children: ReactNode }) {
  return <ul className="divide-y divide-line">{children}</ul>;
}

export function LineOf({ children, end }: { children: ReactNode; end: ReactNode }) {
  return (
    <li className="flex min-h-10 items-center justify-between gap-4 px-4 py-1.5">
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-2 wrap-anywhere">{children}</div>
      <div className="flex shrink-0 items-center gap-3 tabular-nums">{end}</div>
    </li>
  );
}
