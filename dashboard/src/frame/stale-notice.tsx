import { notifyManager, useQueryClient } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useCallback, useSyncExternalStore } from "react";
import { Button } from "../ui/button.tsx";
import { Callout } from "../ui/callout.tsx";
import { Time } from "../ui/time.tsx";
import { findStale } from "./find-stale.ts";

/** What a page showed before stays when it cannot be read anew; then this says so, and from when it is. */
export function StaleNotice() {
  const queryClient = useQueryClient();
  const queries = queryClient.getQueryCache();
  const since = useSyncExternalStore(
    useCallback((onChange) => queries.subscribe(notifyManager.batchCalls(onChange)), [queries]),
    () => findStale(queries),
  );
  if (since === null) return null;
  return (
    <div role="status" className="mx-auto w-full max-w-6xl px-4 pt-6 md:px-8">
      <Callout tone="warn" title="Not everything here could be read again">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <span>
            Some of it is from <Time at={new Date(since).toISOString()} as="second" />, and may have changed
            since.
          </span>
          <Button
            icon={RotateCw}
            onClick={() => void queryClient.refetchQueries({ type: "active", predicate: isFailed })}
          >
            Read again
          </Button>
        </div>
      </Callout>
    </div>
  );
}

function isFailed({ state }: { state: { status: string } }): boolean {
  return state.status === "error";
}
