import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import type { Item } from "../../../api/answer.ts";
import { answerOf, api } from "../../../api/client.ts";
import { queryClient } from "../../../api/query-client.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { type Column, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { tell } from "../../../ui/toast.tsx";
import { countOf } from "../../../words/numbers.ts";
import { sessionsQuery } from "../queries.ts";

type Session = Item<"listSessions">;

export function SessionsCard() {
  const { data: sessions } = useSuspenseQuery(sessionsQuery);
  const onSuccess = async ({ ended }: { ended: number }) => {
    await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    tell(`Ended ${countOf(ended, "session")}`);
  };
  const endOne = useMutation({
    mutationFn: (id: string) =>
      answerOf(api.DELETE("/manage/v1/sessions/{id}", { params: { path: { id } } })),
    onSuccess,
  });
  const endOthers = useMutation({
    mutationFn: () => answerOf(api.DELETE("/manage/v1/sessions")),
    onSuccess,
  });
  const problem = endOne.error ?? endOthers.error;
  return (
    <Card
      title="Your sessions"
      note="Where you are logged in."
      flush
      actions={
        sessions.length > 1 && (
          <Button isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all others
          </Button>
        )
      }
    >
      <Table
        label="Your sessions"
        columns={columnsOf((id) => endOne.mutate(id))}
        rows={sessions}
        keyOf={({ id }) => id}
      />
      {problem !== null && (
        <div className="p-4">
          <ProblemCallout error={problem} />
        </div>
      )}
    </Card>
  );
}

function columnsOf(onEnd: (id: string) => void): Column<Session>[] {
  return [
    { name: "Browser", isWide: true, cell: (session) => <Browser session={session} /> },
    { name: "Last used", cell: ({ lastUsedAt }) => <Time at={lastUsedAt} as="ago" /> },
    { name: "Logged in", hidesWhenNarrow: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      name: "Actions",
      isNameHidden: true,
      isNumber: true,
      cell: (session) =>
        !session.isCurrent && (
          <Button tone="quiet" onClick={() => onEnd(session.id)}>
            End<span className="sr-only"> {nameOfBrowser(session.userAgent)}</span>
          </Button>
        ),
    },
  ];
}

function Browser({ session: { userAgent, address, isCurrent } }: { session: Session }) {
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="text-form font-medium" title={userAgent ?? undefined}>
          {nameOfBrowser(userAgent)}
        </span>
        {isCurrent && <Badge tone="accent">This one</Badge>}
      </div>
      <div className="font-mono text-caption text-muted wrap-anywhere">{address ?? "Unknown address"}</div>
    </>
  );
}

/** The more special first: nearly all of them also call themselves Chrome or Safari. */
const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;

const SYSTEMS = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** "Firefox on Linux", from what a browser calls itself. */
function nameOfBrowser(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return "Unknown browser";
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser === undefined) return userAgent.split(/[\s/]/, 1)[0] ?? userAgent;
  return system === undefined ? browser : `${browser} on ${system}`;
}
