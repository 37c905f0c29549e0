import { ApiProblem } from "../api/api-problem.ts";
import { Callout } from "./callout.tsx";

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
