import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import type { Scope } from "../../api/answer.ts";
import { nameNotices } from "../../format/notices.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, DocsLink, TextLink } from "../../ui/button.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Webhook, webhooksQuery } from "./queries.ts";
import { CreateWebhookDialog } from "./webhook-form.tsx";
import { StateBadge, StateNote, stateText } from "./webhook-state.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/webhooks");

export function WebhooksPage() {
  const scope = useScope();
  const { data: webhooks } = useSuspenseQuery(webhooksQuery(scope));
  const mayManage = useMayActAs("admin");
  const [isChosen, setChosen] = useState(false);
  const { do: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const close = (): void => {
    setChosen(false);
    // Remove the parameter, so that a reload does not open the dialog again.
    if (asked !== undefined) void navigate({ search: {}, replace: true });
  };
  const createButton = mayManage && (
    <Button tone="primary" icon={Plus} onClick={() => setChosen(true)}>
      Create webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      note="Notify your backend about balances, limits, plans and holds."
      actions={
        webhooks.length > 0 && (
          <>
            <PageCode json={{ label: "the webhooks", value: webhooks }} />
            {createButton}
          </>
        )
      }
    >
      <Card flush>
        <ListTable
          label="Webhooks"
          columns={columnsOf(scope)}
          rows={webhooks}
          keyOf={({ id }) => id}
          what="webhooks"
          empty={
            <EmptyState icon={WebhookIcon} title="No webhooks yet" action={createButton}>
              A webhook notifies your backend when a balance runs low, a limit is reached, or a plan or hold
              ends. You can act before the customer's next request is denied. See the{" "}
              <DocsLink href="/docs/guides/webhooks">webhooks guide</DocsLink>.
            </EmptyState>
          }
        />
      </Card>
      {(isChosen || asked === "create") && mayManage && <CreateWebhookDialog onClose={close} />}
    </Page>
  );
}

function columnsOf(scope: Scope): Column<Webhook>[] {
  return [
    {
      name: "Webhook",
      isWide: true,
      isRowLink: true,
      csv: ({ url }) => url,
      cell: (webhook) => (
        <>
          <TextLink
            to="/projects/$projectId/$environment/webhooks/$webhookId"
            params={{ ...scope, webhookId: webhook.id }}
          >
            <span className="wrap-anywhere">{webhook.description ?? webhook.url}</span>
          </TextLink>
          {webhook.description !== null && (
            <div className="font-mono text-caption text-muted wrap-anywhere">{webhook.url}</div>
          )}
          <div className="text-caption text-muted md:hidden">{nameNotices(webhook.types)}</div>
        </>
      ),
    },
    csvColumn("Description", ({ description }) => description),
    {
      name: "Types",
      isWide: true,
      hidesBelow: "md",
      csv: ({ types }) => types.join(", "),
      cell: ({ types }) => nameNotices(types),
    },
    {
      name: "State",
      csv: stateText,
      cell: (webhook) => (
        <>
          <StateBadge webhook={webhook} />
          <div className="text-caption text-muted">
            <StateNote webhook={webhook} />
          </div>
        </>
      ),
    },
    {
      name: "Created",
      hidesBelow: "md",
      csv: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="day" />,
    },
  ];
}
