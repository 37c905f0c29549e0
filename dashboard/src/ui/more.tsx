import { listEnd } from "../words/list-end.ts";
import { Button } from "./button.tsx";

/** The end of a list that is read page by page. */
export function More({
  pages: { hasNextPage, isFetchingNextPage, fetchNextPage },
  shown,
  what,
}: {
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
  shown: number;
  /** In the plural: "customers". */
  what: string;
}) {
  return (
    <footer className="flex items-center justify-between gap-4 border-t border-line px-4 py-2 text-caption text-muted">
      <span>{listEnd({ shown, what, hasMore: hasNextPage })}</span>
      {hasNextPage && (
        <Button tone="quiet" isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </footer>
  );
}
