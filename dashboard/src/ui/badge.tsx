import type { ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type BadgeTone = "plain" | "good" | "bad" | "warn" | "accent" | "test" | "live";

const TONES: Record<BadgeTone, string> = {
  plain: "bg-sunken text-muted border-line",
  good: "bg-good-soft text-good border-transparent",
  bad: "bg-bad-soft text-bad border-transparent",
  // Has a border, because it appears on rows of the same color.
  warn: "bg-warn-soft text-warn border-warn/40",
  accent: "bg-accent-soft text-accent border-transparent",
  test: "bg-test-soft text-test-ink border-transparent",
  live: "bg-live-soft text-live-ink border-transparent",
};

export function Badge({
  tone = "plain",
  wraps = false,
  children,
}: {
  tone?: BadgeTone;
  /** Wraps the text, for a sentence in a narrow column. */
  wraps?: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={classNames(
        "inline-flex min-h-5 items-center gap-1 border px-2 text-caption font-medium",
        wraps ? "rounded-md" : "rounded-full whitespace-nowrap",
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}
