import type { Answer, Body } from "../../../api/answer.ts";
import { formatBytes, formatCount } from "../../../words/numbers.ts";

export type Workspace = Answer<"readWorkspace">;
export type Limits = Workspace["limits"];
export type LimitName = keyof Limits;

type Limit = {
  readonly name: LimitName;
  readonly label: string;
  readonly hint: string;
  readonly min: number;
  readonly max: number;
  /** Whether it may be left empty, and then there is none. */
  readonly isOptional: boolean;
  readonly show: (value: number) => string;
};

/** The workspace plan, and what each of its limits means. */
export const LIMITS: readonly Limit[] = [
  {
    name: "metadataBytesMax",
    label: "Metadata size, in bytes",
    hint: "How large the metadata of one event or charge may be. More is refused, and nothing is recorded.",
    min: 0,
    max: 65_536,
    isOptional: false,
    show: formatBytes,
  },
  {
    name: "metadataKeysMax",
    label: "Metadata keys",
    hint: "How many keys it may have, counted on all levels.",
    min: 0,
    max: 10_000,
    isOptional: false,
    show: formatCount,
  },
  {
    name: "metadataDepthMax",
    label: "Metadata depth",
    hint: "How deep objects and lists in it may be nested; the outermost is 1.",
    min: 1,
    max: 32,
    isOptional: false,
    show: formatCount,
  },
  {
    name: "historyDaysMax",
    label: "History window, in days",
    hint: "How far back usage, charges and requests are shown and exported. Nothing is deleted: a wider window shows it again.",
    min: 1,
    max: 36_500,
    isOptional: true,
    show: (days) => `${formatCount(days)} days`,
  },
  {
    name: "requestsPerSecondMax",
    label: "Requests per second",
    hint: "How many each API key may make, on each process of the service. More are refused, and may be repeated a second later.",
    min: 1,
    max: 1_000_000,
    isOptional: true,
    show: (rate) => `${formatCount(rate)} a second`,
  },
];

/** As typed: an empty box is no limit. */
export type WorkspaceForm = { name: string } & Record<LimitName, string>;

const textOf = (value: number | null): string => (value === null ? "" : String(value));

export function toForm({ name, limits }: Workspace): WorkspaceForm {
  return {
    name,
    metadataBytesMax: textOf(limits.metadataBytesMax),
    metadataKeysMax: textOf(limits.metadataKeysMax),
    metadataDepthMax: textOf(limits.metadataDepthMax),
    historyDaysMax: textOf(limits.historyDaysMax),
    requestsPerSecondMax: textOf(limits.requestsPerSecondMax),
  };
}

/** Only what differs: two owners at once do not undo each other. */
export function changesOf(before: Workspace, form: WorkspaceForm): Body<"changeWorkspace"> {
  const was = toForm(before);
  const limits = Object.fromEntries(
    LIMITS.filter(({ name }) => form[name].trim() !== was[name]).map(({ name }) => [
      name,
      form[name].trim() === "" ? null : Number(form[name]),
    ]),
  );
  const name = form.name.trim();
  return {
    ...(name === before.name ? {} : { name }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
  };
}

export function describeLimit({ name, show }: Limit, limits: Limits): string {
  const value = limits[name];
  return value === null ? "No limit" : show(value);
}

/** "History window, in days: no limit → 90 days". */
export function describeChanges(before: Workspace, after: Workspace): string {
  const changes = LIMITS.filter(({ name }) => before.limits[name] !== after.limits[name]).map(
    (limit) =>
      `${limit.label.split(",")[0]}: ${describeLimit(limit, before.limits)} → ${describeLimit(limit, after.limits)}`,
  );
  const renamed = before.name === after.name ? [] : [`${before.name} → ${after.name}`];
  return [...renamed, ...changes].join("; ");
}
