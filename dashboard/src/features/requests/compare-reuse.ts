import { formatCount } from "../../format/numbers.ts";
import type { KeyStory } from "./queries.ts";

type Use = KeyStory["uses"][number];

export type Compared = {
  readonly field: string;
  /** Null: it is not known, or there was none. */
  readonly first: string | null;
  readonly refused: string | null;
  readonly differs: boolean;
};

const UNKNOWN = "not known any more";

/** A refused reuse beside the request that the key was used for, field by field. */
export function compareReuse(story: KeyStory, use: Use): Compared[] {
  const { differs = [], quantity = null, timestamp = null } = use.refused ?? {};
  const asked = story.charge ?? story.denial ?? story.event;
  const subject = story.event === null ? "feature" : "event";
  const firstSubject = story.event?.event ?? story.charge?.feature ?? story.denial?.feature ?? null;
  const line = (field: string, first: string | null, refused: string | null): Compared => ({
    field,
    first,
    refused,
    differs: differs.includes(field),
  });
  if (differs.includes("environment")) return [line("environment", "the other one", "this one")];
  if (asked === null) return [];
  const isOtherEndpoint = differs.includes("endpoint");
  return [
    line("endpoint", story.endpoint, use.endpoint),
    line("customerId", story.customerId ?? UNKNOWN, use.customerId ?? "nobody known"),
    line(subject, firstSubject, use.feature ?? use.event),
    line("quantity", formatCount(asked.quantity), quantity === null ? null : formatCount(quantity)),
    ...(isOtherEndpoint ? [] : [metadataLine(asked.metadata, differs.includes("metadata"))]),
    ...(story.event === null || isOtherEndpoint ? [] : [line("timestamp", sentTime(story.event), timestamp)]),
  ];
}

/** One that came without a timestamp happened when it was recorded. */
function sentTime({ occurredAt, recordedAt }: { occurredAt: string; recordedAt: string }): string | null {
  return occurredAt === recordedAt ? null : occurredAt;
}

/** The log keeps none: only whether it was the same. */
function metadataLine(metadata: object | null, differs: boolean): Compared {
  const first = metadata === null ? null : JSON.stringify(metadata);
  return {
    field: "metadata",
    first,
    refused: differs ? "something else; the log keeps none" : first,
    differs,
  };
}
