import type { Answer } from "../../api/answer.ts";

export type Hour = Answer<"summarizeRequests">["byHour"][number];

/** What is counted, in the order in which it is stacked; the names tell them apart as well as the colours. */
export const SERIES = [
  {
    key: "ok",
    name: "Allowed or recorded",
    dot: "bg-accent",
    fill: "var(--accent)",
  },
  { key: "denied", name: "Denied", dot: "bg-bad", fill: "var(--bad)" },
  { key: "failed", name: "Errors", dot: "bg-line-strong", fill: "var(--line-strong)" },
] as const;
