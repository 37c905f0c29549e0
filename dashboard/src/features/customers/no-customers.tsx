import { SearchX, UsersRound } from "lucide-react";
import { useEffect } from "react";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import type { CustomerFilters } from "./queries.ts";

type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => unknown;
};

/**
 * Plan, block and balance follow from time, so the API looks at some customers a page: as long as it has found nobody and
 * there are more, the next page is asked for by itself. Used beside the query: an effect of a component within would come
 * before the query has heard of another filter.
 */
export function useReadOn(
  { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage }: Pages,
  isEmpty: boolean,
) {
  const isDue = isEmpty && hasNextPage && !isFetchingNextPage && !isFetchNextPageError;
  useEffect(() => {
    if (isDue) fetchNextPage();
  }, [isDue, fetchNextPage]);
}

/** Nothing to show, and why. */
export function NoCustomers({
  pages: { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage },
  pagesRead,
  filters,
}: {
  pages: Pages;
  pagesRead: number;
  filters: CustomerFilters;
}) {
  const isOperator = useMayActAs("operator");
  if (isFetchNextPageError && !isFetchingNextPage) {
    return (
      <div className="flex flex-col items-start gap-3 p-4">
        <ProblemCallout error={error} />
        <Button onClick={() => void fetchNextPage()}>Look on</Button>
      </div>
    );
  }
  if (hasNextPage) {
    return (
      <>
        <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
          Nobody found yet, still looking: {countOf(pagesRead, "page")} searched so far.
        </p>
        <SkeletonRows rows={4} />
      </>
    );
  }
  if (Object.keys(filters).length === 0) {
    return (
      <EmptyState
        icon={UsersRound}
        title="No customers yet"
        action={
          <ButtonLink
            from="/projects/$projectId/$environment/customers"
            to="/projects/$projectId/$environment/first-event"
          >
            Send a first event
          </ButtonLink>
        }
      >
        A customer appears by itself with its first event, plan or credits.
        {isOperator && " You can also make one here, or import a file."}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={SearchX}
      title="Nobody matches"
      action={
        <ButtonLink from="/projects/$projectId/$environment/customers" to="." search={{}}>
          Clear the filters
        </ButtonLink>
      }
    >
      The search finds ids, names, emails and billing references that begin with what you type. Everybody was
      looked at.
    </EmptyState>
  );
}
