import { CircleAlert, CircleCheck, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiProblem } from "../api/api-problem.ts";
import { classNames } from "./class-names.ts";

const TONES = {
  plain: { look: "bg-sunken text-ink", icon: Info },
  good: { look: "bg-good-soft text-ink", icon: CircleCheck },
  warn: { look: "bg-warn-soft text-ink", icon: TriangleAlert },
  bad: { look: "bg-bad-soft text-ink", icon: CircleAlert },
} as const;

const INKS = { plain: "text-muted", good: "text-good", warn: "text-warn", bad: "text-bad" } as const;

/** Something to know before going on. */
export function Callout({
  tone = "plain",
  title,
  children,
}: {
  tone?: keyof typeof TONES;
  title?: string;
  children?: ReactNode;
}) {
  const { look, icon: Icon } = TONES[tone];
  return (
    <div
      className={classNames("flex gap-2.5 rounded-md px-3 py-2.5 text-body", look)}
      role={tone === "bad" ? "alert" : undefined}
    >
      <Icon className={classNames("mt-0.5 size-4 shrink-0", INKS[tone])} aria-hidden />
      <div className="min-w-0 flex-1 wrap-anywhere">
        {title !== undefined && <p className="font-semibold">{title}</p>}
        {children}
      </div>
    </div>
  );
}

/** What went wrong, in the API's own words, with what support will ask for. */
export function ProblemCallout({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  if (!(error instanceof ApiProblem)) {
    return (
      <Callout tone="bad" title="This page failed">
        {error instanceof Error ? error.message : "Nobody knows why."}
      </Callout>
    );
  }
  return (
    <Callout tone="bad" title={error.title}>
      {error.message.replace(/\.$/, "") !== error.title && <p>{error.message}</p>}
      {error.requestId !== null && (
        <p className="mt-1 text-caption text-muted">
          <code className="font-mono">{error.code}</code>, request{" "}
          <code className="font-mono">{error.requestId}</code>
        </p>
      )}
    </Callout>
  );
}
