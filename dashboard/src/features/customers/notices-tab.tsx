import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { BellRing } from "lucide-react";
import type { Item } from "../../api/answer.ts";
import { readAllOf } from "../../api/lists.ts";
import { nameNotice } from "../../format/notices.ts";
import { NoticeText, useNoticeText } from "../../frame/notice-text.tsx";
import { useScope } from "../../frame/use-scope.ts";
import { ButtonLink, DocsLink } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { WindowEdge } from "../../ui/usage/window-edge.tsx";
import { noticesQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/customers/$customerId/notices");

type Notice = Item<"listNotices">;

/** The notices about one customer. */
export function NoticesTab() {
  const customerScope = route.useParams();
  const pages = useSuspenseInfiniteQuery(noticesQuery(customerScope));
  const textOf = useNoticeText();
  const notices = pages.data.pages.flatMap(({ items }) => items);
  const windowStart = pages.data.pages[0]?.windowStart ?? null;
  return (
    <>
      <Card title="Notices" note="Recorded for webhooks in the last 30 days." flush>
        <ListTable
          label="Notices"
          about={customerScope.customerId}
          readAll={readAllOf(noticesQuery(customerScope))}
          columns={columnsOf(textOf)}
          rows={notices}
          keyOf={({ id }) => id}
          details={{
            label: ({ type, effectiveAt }) => `Details of ${nameNotice(type)}, ${effectiveAt}`,
            show: (notice) => <CodeBlock label="the notice" code={JSON.stringify(notice, null, 2)} />,
          }}
          pages={pages}
          what="notices"
          empty={<NoNotices />}
        />
      </Card>
      {windowStart !== null && !pages.hasNextPage && <WindowEdge windowStart={windowStart} />}
    </>
  );
}

function columnsOf(textOf: (notice: Notice) => string): Column<Notice>[] {
  return [
    {
      name: "Time",
      hidesBelow: "md",
      csv: ({ effectiveAt }) => effectiveAt,
      cell: (notice) => <When notice={notice} />,
    },
    {
      name: "Notice",
      csv: ({ type }) => nameNotice(type),
      cell: (notice) => (
        <>
          <span className="font-medium">{nameNotice(notice.type)}</span>
          <div className="font-mono text-caption text-muted">{notice.type}</div>
          <div className="text-caption text-muted md:hidden">
            <When notice={notice} />
          </div>
        </>
      ),
    },
    csvColumn("Type", ({ type }) => type),
    {
      name: "Details",
      isWide: true,
      csv: textOf,
      cell: (notice) => <NoticeText notice={notice} />,
    },
    csvColumn("Recorded", ({ recordedAt }) => recordedAt),
    csvColumn("Sequence", ({ sequence }) => sequence),
  ];
}

/** Background jobs record what happens to an inactive customer later. */
const LATE_MS = 60_000;

function When({ notice: { effectiveAt, recordedAt } }: { notice: Notice }) {
  const isLate = Date.parse(recordedAt) - Date.parse(effectiveAt) > LATE_MS;
  return (
    <>
      <Time at={effectiveAt} />
      {isLate && (
        <div className="text-caption text-muted">
          recorded <Time at={recordedAt} />
        </div>
      )}
    </>
  );
}

function NoNotices() {
  const scope = useScope();
  return (
    <EmptyState
      icon={BellRing}
      title="No notices yet"
      action={
        <ButtonLink to="/projects/$projectId/$environment/webhooks" params={scope}>
          View webhooks
        </ButtonLink>
      }
    >
      A notice is recorded when a balance runs low, a limit is reached, or a plan or hold ends, if an enabled
      webhook receives its type. See the <DocsLink href="/docs/guides/webhooks">webhooks guide</DocsLink>.
    </EmptyState>
  );
}
