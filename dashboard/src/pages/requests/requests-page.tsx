import { getRouteApi } from "@tanstack/react-router";
import { ArrowUp } from "lucide-react";
import { useCallback, useState } from "react";
import { useKey } from "../../frame/use-key.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { formatCount } from "../../words/numbers.ts";
import { FilterBar } from "./filter-bar.tsx";
import { FindKey } from "./find-key.tsx";
import { LiveSwitch } from "./live-switch.tsx";
import { NoRequests } from "./no-requests.tsx";
import { filtersOf } from "./request-filters.ts";
import { RequestsTable } from "./requests-table.tsx";
import { TryIt } from "./try-it.tsx";
import { useHeldRows } from "./use-held-rows.ts";
import { useRequestLog } from "./use-request-log.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/requests");

export function RequestsPage() {
  const place = usePlace();
  const search = route.useSearch();
  const filters = filtersOf(search);
  const isLive = search.live === true;
  const setLive = useSetLive();
  useKey(
    "l",
    useCallback(() => setLive(!isLive), [setLive, isLive]),
  );
  const { pages, rows, newIds, error } = useRequestLog(place, filters, isLive);
  const [openRows, setOpenRows] = useState(0);
  const { shown, held, release } = useHeldRows(rows, openRows > 0);
  return (
    <Page
      title="Requests"
      note={<AboutTheLog />}
      actions={
        <>
          <LiveSwitch isLive={isLive} hasTrouble={error !== null} onChange={setLive} />
          <TryIt start={rows.find(({ feature }) => feature !== null)} />
        </>
      }
    >
      {error !== null && (
        <Callout tone="warn">New requests cannot be read right now. Trying again by itself.</Callout>
      )}
      <div className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <FilterBar filters={filters} />
        <FindKey />
      </div>
      <div className="relative">
        {held > 0 && <HeldButton held={held} onClick={release} />}
        <Card flush>
          {shown.length === 0 ? (
            <NoRequests isFiltered={Object.keys(filters).length > 0} />
          ) : (
            <RequestsTable rows={shown} newIds={newIds} onUnfold={(by) => setOpenRows((open) => open + by)} />
          )}
          {(shown.length > 0 || pages.hasNextPage) && (
            <More pages={pages} shown={shown.length} what="requests" />
          )}
        </Card>
      </div>
    </Page>
  );
}

function AboutTheLog() {
  return (
    <p>
      What your backend asked in the last 7 days, and how it went. It is a sample where traffic is heavy: at
      most 200 requests a second that went well are written down. Charges and denials are kept for ever, with
      their customer.
    </p>
  );
}

function useSetLive(): (isLive: boolean) => void {
  const navigate = route.useNavigate();
  return useCallback(
    (isLive) =>
      void navigate({
        search: ({ live: _, ...search }) => (isLive ? { ...search, live: true as const } : search),
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
}

/** Over the rows and in nobody's way; going up shows them. */
function HeldButton({ held, onClick }: { held: number; onClick: () => void }) {
  return (
    <div className="sticky top-16 z-10 flex h-0 justify-center md:top-4">
      <div className="h-8 rounded-md bg-surface shadow-over">
        <Button tone="primary" icon={ArrowUp} onClick={onClick}>
          {formatCount(held)} new
        </Button>
      </div>
    </div>
  );
}
