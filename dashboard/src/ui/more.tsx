import { listEnd } from "../format/numbers.ts";
import { Button } from "./button.tsx";
import { ProblemCallout } from "./problem-callout.tsx";

export type Pages = {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => unknown;
};

/** The end of a list that is read page by page. */
export function More({
  pages: { hasNextPage, isFetchingNextPage, isFetchNextPageError, error, fetchNextPage },
  shown,
  what,
}: {
  pages: Pages;
  shown: number;
  /** In the plural: "customers". */
  what: string;
}) {
  return (
    <footer className="border-t border-line px-4 py-2">
      {isFetchNextPageError && <ProblemCallout error={error} />}
      <div className="flex items-center justify-between gap-4 text-caption text-muted">
        <span>{listEnd({ shown, what, hasMore: hasNextPage })}</span>
        {hasNextPage && (
          <Button tone="quiet" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        )}
      </div>
    </footer>
  );
}
