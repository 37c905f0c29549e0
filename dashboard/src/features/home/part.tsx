import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Card } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";

/** The part of a query result that a card needs. */
type Asked<Data> = Pick<UseQueryResult<Data>, "isFetching" | "dataUpdatedAt"> & {
  error: unknown;
  data: Data | undefined;
  refetch: () => unknown;
};

/** A card with its own loading and error state. After an error it shows the old data and its age. */
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
  /** Expected number of rows, for the placeholder. */
  rows?: number;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, isFetching, refetch, dataUpdatedAt } = query;
  return (
    <Card flush title={title} note={note} actions={actions}>
      {error !== null && (
        <div className="flex flex-col items-start gap-3 p-4">
          <ProblemCallout error={error} isRetrying={isFetching} onRetry={refetch} />
          {data !== undefined && (
            <p className="text-caption text-muted">
              Showing data from <Time at={new Date(dataUpdatedAt).toISOString()} />.
            </p>
          )}
        </div>
      )}
      {data !== undefined ? children(data) : error === null && <SkeletonRows rows={rows} />}
    </Card>
  );
}

/** Empty state of a card. */
export function Nothing({ children }: { children: ReactNode }) {
  return <p className="px-4 py-6 text-center text-muted">{children}</p>;
}

/** List with text on the left and a value on the right. */
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
