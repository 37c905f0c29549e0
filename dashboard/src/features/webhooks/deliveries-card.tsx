import { getRouteApi } from "@tanstack/react-router";
import { FilterX, SearchX, Send } from "lucide-react";
import { type ReactNode, useState } from "react";
import { refresh, useWrite } from "../../api/use-write.ts";
import { nameNotice } from "../../format/notices.ts";
import { useNoticeText } from "../../frame/notice-text.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { ListTable, type Pages } from "../../ui/table.tsx";
import { Mono } from "../../ui/text.tsx";
import { notify } from "../../ui/toast.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { columnsOf, DeliveryDetails, STATES } from "./delivery-columns.tsx";
import {
  type Delivery,
  type DeliveryFilters,
  readDeliveryFilters,
  WEBHOOKS_PATH,
  type Webhook,
} from "./queries.ts";
import { WhileDisabled } from "./webhook-dialogs.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/webhooks/$webhookId");

const STATE_OPTIONS = [
  { value: "", label: "Any state" },
  ...Object.entries(STATES).map(([value, { name }]) => ({ value, label: name })),
];

type Read = Pages & { data: { pages: readonly { windowStart: string | null }[] } };

export function DeliveriesCard({
  webhook,
  pages,
  deliveries,
  filters,
  testButton,
}: {
  webhook: Webhook;
  pages: Read;
  deliveries: readonly Delivery[];
  filters: DeliveryFilters;
  /** For a webhook without deliveries. */
  testButton: ReactNode;
}) {
  const navigate = route.useNavigate();
  const mayRepeat = useMayActAs("operator");
  const textOf = useNoticeText();
  const [repeated, setRepeated] = useState<Delivery | null>(null);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  const onRepeat = mayRepeat ? setRepeated : null;
  const isUsed = deliveries.length > 0 || pages.hasNextPage || filters.state !== undefined;
  return (
    <>
      <Card
        title="Deliveries"
        note="From the last 30 days."
        actions={
          isUsed && (
            <Select
              label="State"
              isLabelHidden
              isFitted
              options={STATE_OPTIONS}
              value={filters.state ?? ""}
              onChange={({ target }) =>
                void navigate({
                  search: readDeliveryFilters({ state: target.value }),
                  replace: true,
                  resetScroll: false,
                })
              }
            />
          )
        }
        flush
      >
        <ListTable
          label="Deliveries"
          columns={columnsOf(textOf, onRepeat)}
          rows={deliveries}
          keyOf={({ noticeId }) => noticeId}
          details={{
            label: ({ type, recordedAt }) => `Details of ${nameNotice(type)}, ${recordedAt}`,
            show: (delivery) => <DeliveryDetails delivery={delivery} onRepeat={onRepeat} />,
          }}
          pages={pages}
          what="deliveries"
          empty={
            <NoDeliveries pages={pages} isFiltered={filters.state !== undefined} testButton={testButton} />
          }
        />
      </Card>
      {windowStart !== null && !pages.hasNextPage && <WindowEdge windowStart={windowStart} />}
      {repeated !== null && (
        <SendAgainDialog webhook={webhook} delivery={repeated} onClose={() => setRepeated(null)} />
      )}
    </>
  );
}

/** A page of a state can be empty although more follow. */
function NoDeliveries({
  pages,
  isFiltered,
  testButton,
}: {
  pages: Pages;
  isFiltered: boolean;
  testButton: ReactNode;
}) {
  const navigate = route.useNavigate();
  if (pages.hasNextPage) {
    return (
      <EmptyState
        icon={SearchX}
        title="No matches in recent deliveries"
        action={
          <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Search older deliveries
          </Button>
        }
      />
    );
  }
  if (isFiltered) {
    return (
      <EmptyState
        icon={FilterX}
        title="No matches"
        action={
          <Button onClick={() => void navigate({ search: {}, replace: true })}>Show all deliveries</Button>
        }
      />
    );
  }
  return (
    <EmptyState icon={Send} title="No deliveries yet" action={testButton}>
      Deliveries appear here when Purser records a notice for this webhook.
    </EmptyState>
  );
}

function SendAgainDialog({
  webhook,
  delivery: { noticeId, type, state },
  onClose,
}: {
  webhook: Webhook;
  delivery: Delivery;
  onClose: () => void;
}) {
  const scope = useScope();
  const send = useWrite("post", `${WEBHOOKS_PATH}/{id}/deliveries/{noticeId}/retry`, {
    onSuccess: async () => {
      await refresh("webhooks");
      notify("Sent again", "The list of deliveries shows the response.");
      onClose();
    },
  });
  return (
    <WriteDialog
      title="Send again"
      note={
        <>
          {nameNotice(type)} <Mono>{noticeId}</Mono>
        </>
      }
      write={send}
      request={{ params: { path: { ...scope, id: webhook.id, noticeId } } }}
      action="Send again"
      onClose={onClose}
    >
      <p>
        {state === "delivered"
          ? "Your endpoint already received this notice. Purser sends it again with the same body and ID."
          : "Purser sends the notice now. If delivery fails, it retries for another three days."}
      </p>
      <WhileDisabled webhook={webhook} />
    </WriteDialog>
  );
}
