import { useQuery } from "@tanstack/react-query";
import { featureNamesQuery, planNamesQuery, poolNamesQuery } from "../../api/catalog-lists.ts";
import type { Project } from "../../api/projects.ts";
import { nameOfCreator } from "../../format/creator.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/button.tsx";
import { type Column, csvColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type Entry, sentenceId, textIn } from "./entry.ts";
import type { Piece } from "./piece.ts";
import { describeAction } from "./sentences.ts";
import { UndoButton } from "./undo-button.tsx";

export function auditColumns(projects: readonly Project[], entries: readonly Entry[]): Column<Entry>[] {
  const undone = new Set(
    entries.flatMap(({ action, after }) =>
      action === "change.undone" ? (textIn(after, "entry") ?? []) : [],
    ),
  );
  return [
    { name: "Time", csv: ({ recordedAt }) => recordedAt, cell: ({ recordedAt }) => <Time at={recordedAt} /> },
    {
      name: "Action",
      isWide: true,
      csv: sentenceText,
      cell: (entry) => (
        <span id={sentenceId(entry)} className="wrap-anywhere">
          <Sentence entry={entry} />
        </span>
      ),
    },
    csvColumn("Actor", ({ actor }) => nameOfCreator(actor)),
    csvColumn("Customer ID", ({ customerId }) => customerId),
    {
      name: "Environment",
      hidesBelow: "md",
      csv: ({ projectId, environment }) =>
        environment === null
          ? "Workspace"
          : `${ENVIRONMENT_NAMES[environment]}, ${projects.find(({ id }) => id === projectId)?.name ?? projectId}`,
      cell: ({ projectId, environment }) =>
        projectId === null || environment === null ? (
          <span className="text-muted">Workspace</span>
        ) : (
          <span className="flex items-center gap-1.5">
            <Badge tone={environment}>{ENVIRONMENT_NAMES[environment]}</Badge>
            {projects.length > 1 && projects.find(({ id }) => id === projectId)?.name}
          </span>
        ),
    },
    {
      name: "Actions",
      isActions: true,
      hidesBelow: "md",
      cell: (entry) =>
        !undone.has(entry.id) && <UndoButton entry={entry} sentence={<Sentence entry={entry} />} />,
    },
  ];
}

/** "Olga Owner added 500 credits to ada". */
export function Sentence({ entry }: { entry: Entry }) {
  return (
    <>
      <span className="font-medium">{nameOfActor(entry)}</span>{" "}
      {describeAction(entry).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes
        <Part key={index} piece={piece} entry={entry} />
      ))}
    </>
  );
}

/** For labels. Plans, features and pools are shown by their keys. */
export function sentenceText(entry: Entry): string {
  const what = describeAction(entry).map(({ kind, text }) =>
    kind === "customer" ? nameOfCustomer(entry) : text,
  );
  return `${nameOfActor(entry)} ${what.join("")}`;
}

function nameOfActor({ actor: { kind, id, name } }: Entry): string {
  const known = name ?? id;
  switch (kind) {
    case "member":
      return known ?? "A member";
    case "token":
      return known === null ? "A token" : `Token ${known}`;
    case "api_key":
      return known === null ? "An API key" : `API key ${known}`;
    case "command":
      return known === null ? "A server command" : `Command ${known}`;
    case "system":
      return "Purser";
  }
}

function nameOfCustomer({ customerId, customerName }: Entry): string {
  return customerName ?? customerId ?? "an erased customer";
}

/** A customer of the entry's environment, as a link unless the customer was erased. */
function Customer({
  entry: { projectId, environment },
  customerId,
  name,
}: {
  entry: Entry;
  customerId: string | null;
  name: string;
}) {
  if (projectId === null || environment === null || customerId === null) return name;
  return (
    <TextLink
      to="/projects/$projectId/$environment/customers/$customerId"
      params={{ projectId, environment, customerId }}
      title={customerId}
    >
      {name}
    </TextLink>
  );
}

/** A plan, feature or pool by its current name. */
function CatalogName({
  kind,
  name: key,
  entry,
}: {
  kind: "plan" | "feature" | "pool";
  name: string;
  entry: Entry;
}) {
  const { projectId, environment } = entry;
  const scope = projectId === null || environment === null ? null : { projectId, environment };
  const somewhere = scope ?? { projectId: "", environment: "test" };
  const plans = useQuery({ ...planNamesQuery(somewhere), enabled: scope !== null && kind === "plan" });
  const features = useQuery({
    ...featureNamesQuery(somewhere),
    enabled: scope !== null && kind === "feature",
  });
  const pools = useQuery({ ...poolNamesQuery(somewhere), enabled: scope !== null && kind === "pool" });
  const names = { plan: plans, feature: features, pool: pools }[kind].data;
  return (
    <span className="font-medium" title={key}>
      {names?.get(key) ?? key}
    </span>
  );
}

function Part({ piece, entry }: { piece: Piece; entry: Entry }) {
  const { kind, text } = piece;
  if (kind === "other customer") return <Customer entry={entry} customerId={piece.customerId} name={text} />;
  if (kind === "customer")
    return <Customer entry={entry} customerId={entry.customerId} name={nameOfCustomer(entry)} />;
  if (kind === "plan" || kind === "feature" || kind === "pool")
    return <CatalogName kind={kind} name={text} entry={entry} />;
  return kind === "strong" ? <span className="font-medium">{text}</span> : text;
}
