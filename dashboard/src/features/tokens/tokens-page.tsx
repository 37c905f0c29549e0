import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Ban, Plus, Ticket } from "lucide-react";
import { useState } from "react";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { mayActAs, type Role } from "../../api/session.ts";
import { useMayActAs, useSession } from "../../frame/use-session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { classNames } from "../../ui/class-names.ts";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Created } from "../../ui/created.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { MenuItem, RowMenu } from "../../ui/menu.tsx";
import { More } from "../../ui/more.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { nameOfRole } from "../members/roles.ts";
import { tokensQuery } from "../workspace/queries.ts";
import { CreateTokenDialog, RevokeTokenDialog } from "./token-dialogs.tsx";
import type { Token } from "./token-form.ts";

export function TokensPage() {
  const pages = useSuspenseInfiniteQuery(tokensQuery);
  const tokens = pages.data.pages.flatMap(({ items }) => items);
  const mayManage = useMayActAs("admin");
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Token | null>(null);
  const createButton = mayManage && (
    <Button tone="primary" icon={Plus} onClick={() => setCreating(true)}>
      Create token
    </Button>
  );
  return (
    <Page
      title="Management tokens"
      note="Secrets of your automation, such as a billing webhook: a token can call what its role allows here, and manages members and tokens only if it was created to. A token never works on /v1; that takes an API key."
      actions={tokens.length > 0 && createButton}
    >
      <Card flush>
        {tokens.length === 0 ? (
          <EmptyState icon={Ticket} title="No management tokens yet" action={createButton}>
            Nothing automated works for this workspace yet. The first token is often for the webhook that
            assigns plans when a payment arrives.
          </EmptyState>
        ) : (
          <>
            <TokensTable tokens={tokens} onRevoke={mayManage ? setRevoked : null} />
            <More pages={pages} shown={tokens.length} what="tokens" />
          </>
        )}
      </Card>
      {tokens.length > 0 && (
        <Disclosure title="JSON">
          <CodeBlock label="the tokens" code={JSON.stringify(tokens, null, 2)} />
        </Disclosure>
      )}
      {isCreating && <CreateTokenDialog onClose={() => setCreating(false)} />}
      {revoked !== null && <RevokeTokenDialog token={revoked} onClose={() => setRevoked(null)} />}
    </Page>
  );
}

function TokensTable({
  tokens,
  onRevoke,
}: {
  tokens: readonly Token[];
  /** Null: who looks may not. */
  onRevoke: ((token: Token) => void) | null;
}) {
  const { role } = useSession();
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const columns = onRevoke === null ? columnsOf(projects) : [...columnsOf(projects), actions(role, onRevoke)];
  return <Table label="Management tokens" columns={columns} rows={tokens} keyOf={({ id }) => id} />;
}

function columnsOf(projects: readonly Project[]): Column<Token>[] {
  return [
    { name: "Token", isWide: true, cell: (token) => <Name token={token} /> },
    {
      name: "Reaches",
      cell: ({ projectId, environment }) =>
        projectId === null || environment === null ? (
          <span className="max-md:whitespace-normal">Whole workspace</span>
        ) : (
          <span className="flex flex-wrap items-center gap-x-1.5 max-md:whitespace-normal">
            <Badge tone={environment}>{environment === "live" ? "LIVE" : "Test"}</Badge>
            {projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`}
          </span>
        ),
    },
    {
      name: "Last used",
      hidesWhenNarrow: true,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-muted">Never</span> : <Time at={lastUsedAt} as="ago" />,
    },
    {
      name: "Expires",
      hidesWhenNarrow: true,
      cell: ({ expiresAt }) =>
        expiresAt === null ? <span className="text-muted">Never</span> : <Time at={expiresAt} as="day" />,
    },
    {
      name: "Created",
      hidesWhenNarrow: true,
      cell: ({ createdAt, createdBy }) => <Created at={createdAt} by={createdBy} />,
    },
  ];
}

function actions(own: Role, onRevoke: (token: Token) => void): Column<Token> {
  return {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    cell: (token) =>
      token.revokedAt === null &&
      mayActAs(own, token.role) && (
        <RowMenu label={`Actions for ${token.name}`}>
          <MenuItem icon={Ban} isDangerous onClick={() => onRevoke(token)}>
            Revoke
          </MenuItem>
        </RowMenu>
      ),
  };
}

function Name({ token }: { token: Token }) {
  const { name, role, managesAccess, lastFour, isValid, revokedAt } = token;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className={classNames("text-form wrap-anywhere", isValid ? "font-medium" : "text-muted")}>
          {name}
        </span>
        {!isValid && <Badge>{revokedAt === null ? "Expired" : "Revoked"}</Badge>}
        {isValid && managesAccess && <Badge tone="warn">Manages access</Badge>}
      </div>
      <div className="text-caption text-muted">
        {nameOfRole(role)}, <span className="font-mono">…{lastFour}</span>
      </div>
    </>
  );
}
