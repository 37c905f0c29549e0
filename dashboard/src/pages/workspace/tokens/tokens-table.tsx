import { useSuspenseQuery } from "@tanstack/react-query";
import { Ban } from "lucide-react";
import { type Project, projectsQuery } from "../../../api/projects.ts";
import { mayActAs, type Role } from "../../../api/session.ts";
import { useSession } from "../../../frame/use-session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { classNames } from "../../../ui/class-names.ts";
import { Created } from "../../../ui/created.tsx";
import { MenuItem } from "../../../ui/menu.tsx";
import { RowMenu } from "../../../ui/row-menu.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { nameOfRole } from "../roles.ts";
import type { Token } from "./token.ts";

export function TokensTable({
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
