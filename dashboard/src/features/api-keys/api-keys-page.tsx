import { useSuspenseInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Ban, KeyRound, Plus, RefreshCw } from "lucide-react";
import { useState } from "react";
import type { Environment } from "../../api/answer.ts";
import { useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { MenuItem, RowMenu } from "../../ui/menu.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Created, Time } from "../../ui/time.tsx";
import { type ExpiringKey, expiringKeysOf, type KeyState, stateOf } from "./api-key.ts";
import { CreateKeyDialog, RevokeKeyDialog, RotateKeyDialog } from "./key-dialogs.tsx";
import { type ApiKey, apiKeysQuery } from "./queries.ts";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/api-keys");

type Opened = { kind: "create" } | { kind: "rotate" | "revoke"; key: ApiKey };

export function ApiKeysPage() {
  const scope = useScope();
  const pages = useSuspenseInfiniteQuery(apiKeysQuery(scope));
  const keys = pages.data.pages.flatMap(({ items }) => items);
  const mayManage = useMayActAs("admin");
  const [chosen, setOpened] = useState<Opened | null>(null);
  const { do: asked } = route.useSearch();
  const navigate = route.useNavigate();
  const opened: Opened | null = asked === "create" && mayManage ? { kind: "create" } : chosen;
  const createButton = mayManage && (
    <Button tone="primary" icon={Plus} onClick={() => setOpened({ kind: "create" })}>
      Create key
    </Button>
  );
  const close = (): void => {
    setOpened(null);
    // Remove the parameter, so that a reload does not open the dialog again.
    if (asked !== undefined) void navigate({ search: {}, replace: true });
  };
  return (
    <Page
      title="API keys"
      note="For your backend only. Never use a key in a browser."
      actions={
        keys.length > 0 && (
          <>
            <PageCode json={{ label: "the keys", value: keys }} />
            {createButton}
          </>
        )
      }
    >
      <ExpiringKeys keys={keys} onRotate={mayManage ? (key) => setOpened({ kind: "rotate", key }) : null} />
      <Card flush>
        <ListTable
          label="API keys"
          columns={columnsOf(scope.environment, mayManage, setOpened)}
          rows={keys}
          keyOf={({ id }) => id}
          pages={pages}
          what="keys"
          empty={
            <EmptyState icon={KeyRound} title="No API keys yet" action={createButton}>
              Your backend needs a key to call the API in this environment.
            </EmptyState>
          }
        />
      </Card>
      {opened?.kind === "create" && <CreateKeyDialog onClose={close} />}
      {opened?.kind === "rotate" && <RotateKeyDialog apiKey={opened.key} onClose={close} />}
      {opened?.kind === "revoke" && (
        <RevokeKeyDialog apiKey={keys.find(({ id }) => id === opened.key.id) ?? opened.key} onClose={close} />
      )}
    </Page>
  );
}

function columnsOf(
  environment: Environment,
  mayManage: boolean,
  open: (opened: Opened) => void,
): Column<ApiKey>[] {
  return [
    {
      name: "Key",
      isWide: true,
      csv: ({ name }) => name,
      cell: ({ name, lastFour, isValid }) => (
        <>
          <div
            className={isValid ? "text-form font-medium wrap-anywhere" : "text-form wrap-anywhere text-muted"}
          >
            {name}
          </div>
          <div className="font-mono text-caption whitespace-nowrap text-muted">
            pur_{environment}_…{lastFour}
          </div>
        </>
      ),
    },
    csvColumn("Secret ends in", ({ lastFour }) => lastFour),
    { name: "State", csv: (key) => statusOf(key).text, cell: (key) => <State apiKey={key} /> },
    {
      name: "Scopes",
      hidesBelow: "md",
      csv: ({ scopes }) => scopes.join(", "),
      cell: ({ scopes }) => scopes.join(", "),
    },
    {
      name: "Last used",
      hidesBelow: "md",
      csv: ({ lastUsedAt }) => lastUsedAt,
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="ago" />,
    },
    {
      name: "Expires",
      hidesBelow: "md",
      csv: ({ expiresAt, revokedAt }) => revokedAt ?? expiresAt,
      cell: ({ expiresAt, revokedAt }) => <Time at={revokedAt ?? expiresAt} />,
    },
    {
      name: "Created",
      hidesBelow: "md",
      csv: ({ createdAt }) => createdAt,
      cell: ({ createdAt, createdBy }) => <Created at={createdAt} by={createdBy} />,
    },
    {
      name: "Actions",
      isActions: true,
      isShown: mayManage,
      cell: (key) =>
        key.isValid && (
          <RowMenu label={`Actions for ${key.name} …${key.lastFour}`}>
            <MenuItem icon={RefreshCw} onClick={() => open({ kind: "rotate", key })}>
              Rotate
            </MenuItem>
            <MenuItem icon={Ban} isDangerous onClick={() => open({ kind: "revoke", key })}>
              Revoke
            </MenuItem>
          </RowMenu>
        ),
    },
  ];
}

const STATES = {
  working: { tone: "good", text: "Active" },
  ending: { tone: "warn", text: "Expires soon" },
  expired: { tone: "plain", text: "Expired" },
  revoked: { tone: "plain", text: "Revoked" },
} as const satisfies Record<KeyState, { tone: BadgeTone; text: string }>;

function statusOf(key: ApiKey) {
  return STATES[stateOf(key, Date.now())];
}

function State({ apiKey }: { apiKey: ApiKey }) {
  const { tone, text } = statusOf(apiKey);
  return <Badge tone={tone}>{text}</Badge>;
}

/** Warns about keys that expire soon. */
function ExpiringKeys({
  keys,
  onRotate,
}: {
  keys: readonly ApiKey[];
  onRotate: ((key: ApiKey) => void) | null;
}) {
  return expiringKeysOf(keys, Date.now()).map((ending) => (
    <Callout key={ending.key.id} tone={ending.successor === null || ending.isStillUsed ? "warn" : "plain"}>
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p>
          <Name ending={ending} /> expires <Time at={ending.key.expiresAt ?? ""} as="ago" /> (
          <Time at={ending.key.expiresAt ?? ""} />
          ). <ExpiryEffect ending={ending} />
        </p>
        {ending.successor === null && onRotate !== null && (
          <Button onClick={() => onRotate(ending.key)}>Rotate</Button>
        )}
      </div>
    </Callout>
  ));
}

function Name({ ending: { key } }: { ending: ExpiringKey }) {
  const { environment } = useScope();
  return (
    <>
      <span className="font-semibold">{key.name}</span>{" "}
      <span className="font-mono text-caption">
        pur_{environment}_…{key.lastFour}
      </span>
    </>
  );
}

function ExpiryEffect({ ending: { key, successor, isStillUsed } }: { ending: ExpiringKey }) {
  if (successor === null)
    return "The key has no replacement yet. Requests that use the key will be rejected after it expires.";
  if (isStillUsed) {
    return (
      <>
        The key ending in {successor.lastFour} replaces it, but the old key has been used since. Last used{" "}
        <Time at={key.lastUsedAt ?? ""} as="ago" />.
      </>
    );
  }
  return `The key ending in ${successor.lastFour} replaces it. The old key has not been used since.`;
}
