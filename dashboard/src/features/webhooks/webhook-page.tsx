import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Ellipsis, History, PenLine, Power, PowerOff, RefreshCw, Send, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { refresh } from "../../api/use-write.ts";
import { nameNotices } from "../../format/notices.ts";
import { PageNotFound } from "../../frame/error-pages.tsx";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, IconButton, TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { CopyButton } from "../../ui/code-block.tsx";
import { Menu, MenuItem, MenuSeparator } from "../../ui/menu.tsx";
import { Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveriesCard } from "./deliveries-card.tsx";
import { deliveriesQuery, type Webhook, webhookQuery } from "./queries.ts";
import { nameOfWebhook, refreshAfter, stateOf } from "./webhook.ts";
import {
  DeleteDialog,
  EnableDialog,
  ReplayDialog,
  RotateSecretDialog,
  TestDialog,
} from "./webhook-dialogs.tsx";
import { EditWebhookDialog } from "./webhook-form.tsx";
import { StateBadge } from "./webhook-state.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/webhooks/$webhookId");

type Opened = "test" | "edit" | "enable" | "rotate" | "replay" | "delete";

export function WebhookPage() {
  const { webhookId } = route.useParams();
  const { data: webhook } = useSuspenseQuery(webhookQuery(useScope(), webhookId));
  return webhook === null ? <PageNotFound /> : <KnownWebhook webhook={webhook} />;
}

function KnownWebhook({ webhook }: { webhook: Webhook }) {
  const scope = useScope();
  const filters = route.useSearch();
  const pages = useSuspenseInfiniteQuery(deliveriesQuery(scope, webhook.id, filters));
  const deliveries = pages.data.pages.flatMap(({ items }) => items);
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = (): void => setOpened(null);
  const mayOperate = useMayActAs("operator");
  const mayManage = useMayActAs("admin");
  useRefresh(webhook.enabled ? refreshAfter(deliveries, pages.dataUpdatedAt) : null, pages.dataUpdatedAt);
  return (
    <Page
      title={nameOfWebhook(webhook)}
      heading={
        <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
          {nameOfWebhook(webhook)}
          <StateBadge webhook={webhook} />
        </span>
      }
      note={
        <span className="-my-1.5 inline-flex min-w-0 items-center">
          <code className="font-mono wrap-anywhere">{webhook.url}</code>
          <CopyButton text={webhook.url} label="Copy URL" />
        </span>
      }
      actions={
        <>
          <PageCode json={{ label: "the webhook", value: webhook }} />
          <Actions webhook={webhook} onOpen={setOpened} />
        </>
      }
    >
      <Facts webhook={webhook} />
      <Trouble
        webhook={webhook}
        action={mayManage && <Button onClick={() => setOpened("enable")}>Enable</Button>}
      />
      <MissingThresholds webhook={webhook} />
      <DeliveriesCard
        webhook={webhook}
        pages={pages}
        deliveries={deliveries}
        filters={filters}
        testButton={
          mayOperate && (
            <Button icon={Send} onClick={() => setOpened("test")}>
              Send test
            </Button>
          )
        }
      />
      {opened === "test" && <TestDialog webhook={webhook} onClose={close} />}
      {opened === "edit" && <EditWebhookDialog webhook={webhook} onClose={close} />}
      {opened === "enable" && <EnableDialog webhook={webhook} onClose={close} />}
      {opened === "rotate" && <RotateSecretDialog webhook={webhook} onClose={close} />}
      {opened === "replay" && <ReplayDialog webhook={webhook} onClose={close} />}
      {opened === "delete" && <DeleteDialog webhook={webhook} onClose={close} />}
    </Page>
  );
}

/** Reloads the webhook and its deliveries after `waitMs`, to show the result of an attempt. */
function useRefresh(waitMs: number | null, loadedAt: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the wait starts again after each load
  useEffect(() => {
    if (waitMs === null) return;
    const timer = setTimeout(() => void refresh("webhooks"), waitMs);
    return () => clearTimeout(timer);
  }, [waitMs, loadedAt]);
}

function Actions({ webhook, onOpen }: { webhook: Webhook; onOpen: (opened: Opened) => void }) {
  const mayOperate = useMayActAs("operator");
  const mayManage = useMayActAs("admin");
  return (
    mayOperate && (
      <>
        <Button icon={Send} onClick={() => onOpen("test")}>
          Send test
        </Button>
        {mayManage && (
          <Button icon={PenLine} onClick={() => onOpen("edit")}>
            Edit
          </Button>
        )}
        <Menu trigger={<IconButton icon={Ellipsis} label="More actions" />}>
          <MenuItem icon={History} onClick={() => onOpen("replay")}>
            Replay notices
          </MenuItem>
          {mayManage && (
            <>
              <MenuItem icon={RefreshCw} onClick={() => onOpen("rotate")}>
                Rotate secret
              </MenuItem>
              <MenuItem icon={webhook.enabled ? PowerOff : Power} onClick={() => onOpen("enable")}>
                {webhook.enabled ? "Disable" : "Enable"}
              </MenuItem>
              <MenuSeparator />
              <MenuItem icon={Trash2} isDangerous onClick={() => onOpen("delete")}>
                Delete
              </MenuItem>
            </>
          )}
        </Menu>
      </>
    )
  );
}

/** Why the webhook does not receive what it should. */
function Trouble({ webhook, action }: { webhook: Webhook; action: ReactNode }) {
  switch (stateOf(webhook)) {
    case "enabled":
      return null;
    case "failing":
      return (
        <Callout tone="warn">
          Every delivery has failed since <Time at={webhook.failingSince} />. After five days of failures,
          Purser disables the webhook.
        </Callout>
      );
    case "disabled":
      return (
        <Callout>
          <WithAction action={action}>
            The webhook has been disabled since <Time at={webhook.disabledAt} />. It does not receive new
            notices.
          </WithAction>
        </Callout>
      );
    case "gave-up":
      return (
        <Callout tone="warn">
          <WithAction action={action}>
            Purser disabled the webhook on <Time at={webhook.disabledAt} />, because every delivery had failed
            for five days. Fix your endpoint, and then enable the webhook.
          </WithAction>
        </Callout>
      );
  }
}

function WithAction({ action, children }: { action: ReactNode; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p>{children}</p>
      {/* The text determines the height. */}
      <div className="sm:-my-1.5">{action}</div>
    </div>
  );
}

function Facts({ webhook: { id, types, createdAt } }: { webhook: Webhook }) {
  const facts = [
    { name: "Types", value: nameNotices(types) },
    { name: "Created", value: <Time at={createdAt} /> },
    { name: "Webhook ID", value: <code className="font-mono">{id}</code> },
  ];
  return (
    <dl className="-mt-3 flex flex-wrap gap-x-6 gap-y-1">
      {facts.map(({ name, value }) => (
        <div key={name} className="flex items-baseline gap-1.5">
          <dt className="shrink-0 text-muted">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Without thresholds in a pool, only customers with custom thresholds can have a low balance. */
function MissingThresholds({ webhook: { types } }: { webhook: Webhook }) {
  const scope = useScope();
  const { data: pools } = useSuspenseQuery(poolsQuery(scope));
  if (!types.includes("balance.low") || pools.some(({ lowBalances }) => lowBalances.length > 0)) return null;
  return (
    <Callout>
      No pool has a low-balance threshold. Only customers with custom thresholds trigger “Low balance”.{" "}
      <TextLink to="/projects/$projectId/$environment/features/pools" params={scope}>
        Set thresholds
      </TextLink>
    </Callout>
  );
}
