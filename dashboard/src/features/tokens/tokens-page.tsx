import { useSuspenseInfiniteQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Ban, Plus, Ticket } from "lucide-react";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { type Project, projectsQuery } from "../../api/projects.ts";
import { mayActAs, type Role } from "../../api/session.ts";
import { refresh, useWrite } from "../../api/use-write.ts";
import { ENVIRONMENT_NAMES, inEnvironment } from "../../format/environments.ts";
import { useMayActAs, useSession } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { classNames } from "../../ui/class-names.ts";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { MenuItem, RowMenu } from "../../ui/menu.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { SecretOnce } from "../../ui/secret-once.tsx";
import { type Column, csvColumn, ListTable } from "../../ui/table.tsx";
import { Created, Time } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { nameOfRole, tokenRoleChoices } from "../members/roles.ts";
import { tokensQuery } from "../workspace/queries.ts";
import {
  isEnvironment,
  LASTING,
  mayManageAccess,
  reachOf,
  reachOptions,
  type Token,
  type TokenForm,
  toTokenBody,
} from "./token-form.ts";

export function TokensPage() {
  const pages = useSuspenseInfiniteQuery(tokensQuery);
  const tokens = pages.data.pages.flatMap(({ items }) => items);
  const { role } = useSession();
  const mayManage = useMayActAs("admin");
  const { data: projects } = useSuspenseQuery(projectsQuery);
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
      note="For automation, such as a billing webhook."
      actions={
        tokens.length > 0 && (
          <>
            <PageCode json={{ label: "the tokens", value: tokens }} />
            {createButton}
          </>
        )
      }
    >
      <Card flush>
        <ListTable
          label="Management tokens"
          columns={columnsOf(projects, mayManage ? role : null, setRevoked)}
          rows={tokens}
          keyOf={({ id }) => id}
          pages={pages}
          what="tokens"
          empty={
            <EmptyState icon={Ticket} title="No management tokens yet" action={createButton}>
              Create a token for the webhook that assigns plans after a payment.
            </EmptyState>
          }
        />
      </Card>
      {isCreating && <CreateTokenDialog onClose={() => setCreating(false)} />}
      {revoked !== null && (
        <RevokeTokenDialog
          token={tokens.find(({ id }) => id === revoked.id) ?? revoked}
          onClose={() => setRevoked(null)}
        />
      )}
    </Page>
  );
}

/** `own` is the role of the current user; null if the user cannot revoke tokens. */
function columnsOf(
  projects: readonly Project[],
  own: Role | null,
  onRevoke: (token: Token) => void,
): Column<Token>[] {
  return [
    { name: "Token", isWide: true, csv: ({ name }) => name, cell: (token) => <Name token={token} /> },
    csvColumn("State", stateOf),
    csvColumn("Role", ({ role }) => nameOfRole(role)),
    {
      name: "Scope",
      csv: (token) => reachOf(token, projects),
      cell: ({ projectId, environment }) =>
        projectId === null || environment === null ? (
          <span className="max-md:whitespace-normal">Whole workspace</span>
        ) : (
          <span className="flex flex-wrap items-center gap-x-1.5 max-md:whitespace-normal">
            <Badge tone={environment}>{ENVIRONMENT_NAMES[environment]}</Badge>
            {projects.find(({ id }) => id === projectId)?.name ?? `Project ${projectId}`}
          </span>
        ),
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
      csv: ({ expiresAt }) => expiresAt,
      cell: ({ expiresAt }) => <Time at={expiresAt} as="day" />,
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
      isShown: own !== null,
      cell: (token) =>
        token.revokedAt === null &&
        own !== null &&
        mayActAs(own, token.role) && (
          <RowMenu label={`Actions for ${token.name}`}>
            <MenuItem icon={Ban} isDangerous onClick={() => onRevoke(token)}>
              Revoke
            </MenuItem>
          </RowMenu>
        ),
    },
  ];
}

function stateOf({ isValid, revokedAt }: Token): string {
  if (isValid) return "Active";
  return revokedAt === null ? "Expired" : "Revoked";
}

function Name({ token }: { token: Token }) {
  const { name, role, managesAccess, lastFour, isValid } = token;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className={classNames("text-form wrap-anywhere", isValid ? "font-medium" : "text-muted")}>
          {name}
        </span>
        {!isValid && <Badge>{stateOf(token)}</Badge>}
        {isValid && managesAccess && <Badge tone="warn">Manages access</Badge>}
      </div>
      <div className="text-caption text-muted">
        {nameOfRole(role)}, <span className="font-mono">…{lastFour}</span>
      </div>
    </>
  );
}

function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const { role } = useSession();
  const { data: projects } = useSuspenseQuery(projectsQuery);
  const [openedAt] = useState(Date.now);
  const reaches = reachOptions(projects);
  const { register, handleSubmit, watch, getValues, setValue } = useForm<TokenForm>({
    defaultValues: {
      name: "",
      role: "operator",
      managesAccess: false,
      reach: reaches[0]?.value ?? "",
      lasts: "365",
      day: "",
    },
  });
  const wanted = watch();
  /** The owner role is only offered for the whole workspace. */
  function narrowRole(): void {
    const { reach, role: chosen } = getValues();
    if (reach !== "" && chosen === "owner") setValue("role", "admin");
  }
  const create = useWrite("post", "/manage/v1/tokens", { onSuccess: () => refresh("tokens") });
  if (create.data !== undefined) {
    const { token, secret } = create.data;
    return (
      <SecretOnce
        title={`Token ${token.name}`}
        note={reachOf(token, projects)}
        what="the token"
        secret={secret}
        tryIt={tryOf(secret)}
        onClose={onClose}
      />
    );
  }
  return (
    <WriteDialog
      title="Create management token"
      note="The token is revoked if your role is lowered or you are removed from the workspace."
      write={create}
      request={{ body: toTokenBody(wanted, openedAt) }}
      action={buttonText(wanted.reach)}
      onSubmit={handleSubmit((form) => create.mutate({ body: toTokenBody(form, Date.now()) }))}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The service that uses the token."
        placeholder="Billing webhook"
        autoComplete="off"
        required
        maxLength={120}
        {...register("name")}
      />
      <Select
        label="Scope"
        options={reaches}
        hint="A token for one environment is safer."
        {...register("reach", { onChange: narrowRole })}
      />
      <Choices label="Role" choices={tokenRoleChoices(role, wanted.reach === "")} {...register("role")} />
      {mayManageAccess(wanted) && (
        <Checkbox
          label="Manage members and tokens"
          hint="Allows inviting members, resetting passwords and creating tokens."
          {...register("managesAccess")}
        />
      )}
      <Select label="Expires" options={LASTING} {...register("lasts")} />
      {wanted.lasts === "day" && (
        <TextField
          label="Last day (UTC)"
          type="date"
          required
          min={new Date(openedAt).toISOString().slice(0, 10)}
          {...register("day")}
        />
      )}
    </WriteDialog>
  );
}

function buttonText(reach: string): string {
  const environment = reach.split("/")[1];
  return isEnvironment(environment)
    ? inEnvironment("Create token", environment)
    : "Create token for the workspace";
}

/** Every token can read its own session. */
function tryOf(secret: string): string {
  return `curl '${window.location.origin}/manage/v1/session' \\\n  -H 'Authorization: Bearer ${secret}'`;
}

function RevokeTokenDialog({ token, onClose }: { token: Token; onClose: () => void }) {
  const { id, name, lastFour, lastUsedAt, environment, managesAccess } = token;
  // The list may be minutes old, and the last use matters here.
  useEffect(() => void refresh("tokens"), []);
  const revoke = useWrite("post", "/manage/v1/tokens/{id}/revoke", {
    onSuccess: async () => {
      await refresh("tokens");
      notify(`Revoked ${name}`, `Requests with pur_mgmt_…${lastFour} are now rejected.`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`Revoke ${name}`}
      write={revoke}
      request={{ params: { path: { id } } }}
      wanted={name}
      action={environment === null ? "Revoke token" : inEnvironment("Revoke token", environment)}
      tone="danger"
      onClose={onClose}
    >
      <p>
        Requests with <code className="font-mono">pur_mgmt_…{lastFour}</code> will be rejected as soon as you
        revoke the token. This cannot be undone.{" "}
        {lastUsedAt === null ? (
          "The token has never been used."
        ) : (
          <>
            The token was last used <Time at={lastUsedAt} as="ago" />.
          </>
        )}
      </p>
      {managesAccess && <p>This also revokes tokens, invitations and reset links created with this token.</p>}
    </WriteDialog>
  );
}
