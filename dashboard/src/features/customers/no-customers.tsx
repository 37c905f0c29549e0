import { SearchX, UsersRound } from "lucide-react";
import { countOf } from "../../format/numbers.ts";
import { useMayActAs } from "../../frame/use-scope.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { EmptyState } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import type { Pages } from "../../ui/table.tsx";
import { type CustomerFilters, isByBalance, readFilters } from "./queries.ts";

/** Shown if the list has no rows: a running or failed search, no matches, or no customers at all. */
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
        <Button onClick={() => void fetchNextPage()}>Retry</Button>
      </div>
    );
  }
  if (hasNextPage) {
    return (
      <>
        <p role="status" className="border-b border-line px-4 py-2 text-caption text-muted">
          Searching… {countOf(pagesRead, "page")} searched so far.
        </p>
        <SkeletonRows rows={4} />
      </>
    );
  }
  const { sort: _, do: __, ...conditions } = filters;
  if (Object.keys(conditions).length === 0) {
    return (
      <EmptyState
        icon={UsersRound}
        title="No customers yet"
        action={
          <ButtonLink
            from="/projects/$projectId/$environment/customers"
            to="/projects/$projectId/$environment/first-event"
          >
            Send your first event
          </ButtonLink>
        }
      >
        Purser creates a customer when you first send an event, assign a plan or add credits for an ID.
        {isOperator && " You can also create one here or import a CSV file."}
      </EmptyState>
    );
  }
  if (isByBalance(filters)) {
    return (
      <EmptyState
        icon={SearchX}
        title="No matches among the newest 100,000 customers"
        action={
          <ButtonLink
            from="/projects/$projectId/$environment/customers"
            to="."
            search={readFilters(conditions)}
          >
            Search all customers
          </ButtonLink>
        }
      >
        Older customers were not searched, because the list is sorted by balance. A search of all customers
        shows the newest first.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon={SearchX}
      title="No matches"
      action={
        <ButtonLink from="/projects/$projectId/$environment/customers" to="." search={{}}>
          Clear filters
        </ButtonLink>
      }
    >
      The search matches any part of an ID, name, email or billing reference. Text of one or two characters
      matches only the beginning.
    </EmptyState>
  );
}
