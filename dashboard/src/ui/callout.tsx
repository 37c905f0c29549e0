import { CircleAlert, CircleCheck, Info, RotateCw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiProblem } from "../api/api-problem.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";

const TONES = {
  plain: { look: "bg-sunken text-ink", icon: Info },
  good: { look: "bg-good-soft text-ink", icon: CircleCheck },
  warn: { look: "bg-warn-soft text-ink", icon: TriangleAlert },
  bad: { look: "bg-bad-soft text-ink", icon: CircleAlert },
} as const;

const INKS = { plain: "text-muted", good: "text-good", warn: "text-warn", bad: "text-bad" } as const;

/** A highlighted note, warning or error. */
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

/** The error from an API call, with its code and request ID. */
export function ProblemCallout({
  error,
  isRetrying = false,
  onRetry,
}: {
  error: unknown;
  isRetrying?: boolean;
  /** Shows a Retry button. */
  onRetry?: () => unknown;
}) {
  if (error === null || error === undefined) return null;
  const problem = error instanceof ApiProblem ? error : null;
  const title = problem?.title ?? "Something went wrong";
  const message = error instanceof Error ? error.message : "Unknown error.";
  return (
    <Callout tone="bad" title={title}>
      {message.replace(/\.$/, "") !== title && <p>{message}</p>}
      {problem !== null && problem.requestId !== null && (
        <p className="mt-1 text-caption text-muted">
          <code className="font-mono">{problem.code}</code>, request{" "}
          <code className="font-mono">{problem.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <div className="mt-2">
          <Button icon={RotateCw} isBusy={isRetrying} onClick={() => void onRetry()}>
            Retry
          </Button>
        </div>
      )}
    </Callout>
  );
}
