import { Download, FileDown, Play, X } from "lucide-react";
import { countOf, formatBytes, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ProblemCallout } from "../../ui/callout.tsx";
import { Card, EmptyState } from "../../ui/page.tsx";
import { Time } from "../../ui/time.tsx";
import {
  cancelExport,
  type ExportJob,
  forgetExport,
  resumeExport,
  saveExport,
  useExportJobs,
} from "./export-jobs.ts";

export function ExportList() {
  const { projectId, environment } = useScope();
  const jobs = useExportJobs().filter(
    ({ order: { scope } }) => scope.projectId === projectId && scope.environment === environment,
  );
  return (
    <Card flush title="Exports in this tab" note="Keep the tab open until your exports complete.">
      {jobs.length === 0 ? (
        <EmptyState icon={FileDown} title="No exports yet">
          Completed files are saved to your downloads folder. Use the API for very large exports.
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line">
          {jobs.map((job) => (
            <Job key={job.id} job={job} />
          ))}
        </ul>
      )}
    </Card>
  );
}

const STATES = {
  running: { name: "Running", tone: "accent" },
  cancelled: { name: "Canceled", tone: "plain" },
  failed: { name: "Interrupted", tone: "bad" },
  done: { name: "Saved", tone: "good" },
} as const;

function Job({ job }: { job: ExportJob }) {
  const { fileName, state, asOf, error } = job;
  const { name, tone } = STATES[state];
  return (
    <li aria-label={fileName} className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <span className="min-w-0 font-mono text-caption font-medium wrap-anywhere">{fileName}</span>
        <Badge tone={tone}>{name}</Badge>
      </div>
      <Progress job={job} />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-caption text-muted">
          <span role="status">{formatProgress(job)}</span>
          {asOf !== null && (
            <>
              {" "}
              As of <Time at={asOf} as="second" />.
            </>
          )}
          <WindowNote job={job} />
        </p>
        <div className="flex flex-wrap gap-1">
          <Actions job={job} />
        </div>
      </div>
      {state === "failed" && <ProblemCallout error={error} />}
    </li>
  );
}

/** Notes that the history window limits the file. */
function WindowNote({ job: { order, windowStart } }: { job: ExportJob }) {
  const { from, to } = order;
  if (windowStart === null || (from !== null && from >= windowStart)) return null;
  const isHidden = to !== null && to <= windowStart;
  return (
    <>
      {" "}
      {isHidden
        ? "The range is outside your history window, which starts at"
        : "Your history window starts at"}{" "}
      <Time at={windowStart} />. Older rows are not included.
    </>
  );
}

/** Capped at 99 until done, because the row count is an estimate. */
function shareOf({ state, rows, rowsEstimate }: ExportJob): number {
  if (state === "done") return 100;
  return rowsEstimate === 0 ? 0 : Math.min(99, Math.floor((rows / rowsEstimate) * 100));
}

function Progress({ job }: { job: ExportJob }) {
  const percent = shareOf(job);
  return (
    <div
      role="progressbar"
      aria-label={`Progress of ${job.fileName}`}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      className="h-1.5 overflow-hidden rounded-full bg-line"
    >
      <div
        className={job.state === "done" ? "h-full bg-good" : "h-full bg-accent"}
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}

function formatProgress({ state, rows, bytes, rowsEstimate }: ExportJob): string {
  if (state === "done") return `Complete: ${countOf(rows, "row")}, ${formatBytes(bytes)}.`;
  if (rowsEstimate === 0) return `${countOf(rows, "row")}, ${formatBytes(bytes)}.`;
  const expected = formatCount(Math.max(rows, rowsEstimate));
  return `${formatCount(rows)} of about ${expected} rows, ${formatBytes(bytes)}.`;
}

function Actions({ job }: { job: ExportJob }) {
  const { id, state } = job;
  if (state === "running") {
    return (
      <Button icon={X} onClick={() => cancelExport(id)}>
        Cancel
      </Button>
    );
  }
  return (
    <>
      {/* Placed differently from Cancel, so that a double click does not discard the data. */}
      <Button tone="quiet" onClick={() => forgetExport(id)}>
        Remove
      </Button>
      {state === "done" ? (
        <Button icon={Download} onClick={() => saveExport(job)}>
          Save again
        </Button>
      ) : (
        <Button icon={Play} onClick={() => resumeExport(id)}>
          Resume
        </Button>
      )}
    </>
  );
}
