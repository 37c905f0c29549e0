import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Answer } from "../../api/answer.ts";
import { projectsQuery } from "../../api/projects.ts";
import { Checkbox } from "../../ui/field.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { Time } from "../../ui/time.tsx";
import { memberAccessQuery } from "../workspace/queries.ts";
import { nameOfRole } from "./roles.ts";

type Access = Answer<"readMemberAccess">;

/** What a demotion or removal ends, with its last use; and the API keys, which stay unless they are ticked. */
export function WhatEnds({
  memberId,
  revoked,
  onRevoke,
}: {
  memberId: string;
  /** Ids of API keys to revoke too. */
  revoked: readonly string[];
  onRevoke: (ids: readonly string[]) => void;
}) {
  const access = useQuery(memberAccessQuery(memberId));
  if (access.isError) return <ProblemCallout error={access.error} />;
  if (access.data === undefined) return <SkeletonRows rows={2} />;
  const { sessions, tokens, links, apiKeys } = access.data;
  return (
    <div className="flex flex-col gap-3">
      <Group title="Ends at once">
        {tokens.map((token) => (
          <Line key={token.id} name={`Token ${token.name}`} use={<LastUse at={token.lastUsedAt} />}>
            {nameOfRole(token.role)}, <span className="font-mono">…{token.lastFour}</span>
          </Line>
        ))}
        {links.map((link) => (
          <Line
            key={`${link.member.id}-${link.createdAt}`}
            name={`${NAMES[link.purpose]} for ${link.member.name}`}
            use="Not used yet"
          >
            {link.member.email}
          </Line>
        ))}
        {sessions.length > 0 && (
          <Line
            name={sessions.length === 1 ? "1 session" : `${sessions.length} sessions`}
            use={<LastUse at={sessions[0]?.lastUsedAt ?? null} />}
          />
        )}
        {tokens.length + links.length + sessions.length === 0 && (
          <li className="px-3 py-2 text-muted">No session, link or management token.</li>
        )}
      </Group>
      {apiKeys.length > 0 && <ApiKeys apiKeys={apiKeys} revoked={revoked} onRevoke={onRevoke} />}
    </div>
  );
}

const NAMES = {
  setup: "Set-up link",
  invitation: "Invitation",
  password: "Password link",
  sign_in: "Sign-in link",
} as const satisfies Record<Access["links"][number]["purpose"], string>;

function ApiKeys({
  apiKeys,
  revoked,
  onRevoke,
}: {
  apiKeys: Access["apiKeys"];
  revoked: readonly string[];
  onRevoke: (ids: readonly string[]) => void;
}) {
  const { data: projects } = useSuspenseQuery(projectsQuery);
  return (
    <Group title="API keys they created stay. Tick those to revoke.">
      {apiKeys.map(({ id, name, lastFour, lastUsedAt, projectId, environment }) => (
        <li key={id} className="px-3 py-2">
          <Checkbox
            label={name}
            hint={
              <>
                {projects.find((project) => project.id === projectId)?.name ?? `Project ${projectId}`},{" "}
                <span className="font-mono">
                  pur_{environment}_…{lastFour}
                </span>
                <span className="block">
                  <LastUse at={lastUsedAt} />
                </span>
              </>
            }
            checked={revoked.includes(id)}
            onChange={({ target }) =>
              onRevoke(target.checked ? [...revoked, id] : revoked.filter((one) => one !== id))
            }
          />
        </li>
      ))}
    </Group>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1">
      <h3 className="text-form font-medium">{title}</h3>
      <ul className="divide-y divide-line rounded-md border border-line">{children}</ul>
    </section>
  );
}

function Line({ name, use, children }: { name: string; use: ReactNode; children?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
      <div className="min-w-0">
        <div className="text-form wrap-anywhere">{name}</div>
        {children !== undefined && <div className="text-caption wrap-anywhere text-muted">{children}</div>}
      </div>
      <span className="text-caption text-muted">{use}</span>
    </li>
  );
}

function LastUse({ at }: { at: string | null }) {
  if (at === null) return "Never used";
  return (
    <>
      Last used <Time at={at} as="ago" />
    </>
  );
}
