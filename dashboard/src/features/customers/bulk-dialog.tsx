import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Call, refresh } from "../../api/use-write.ts";
import { inEnvironment } from "../../format/environments.ts";
import { countOf, formatCount } from "../../format/numbers.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Button } from "../../ui/button.tsx";
import { Callout, ProblemCallout } from "../../ui/callout.tsx";
import { ApiCall } from "../../ui/code-block.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { useAbort } from "../../ui/use-abort.ts";
import {
  type BulkChange,
  type BulkResult,
  type Effect,
  NOTHING_DONE,
  nameOf,
  runBulk,
  undoBulk,
  withRetry,
} from "./bulk-run.ts";
import type { Customer } from "./queries.ts";

const EFFECTS: readonly Column<Effect>[] = [
  { name: "Customer", isWide: true, cell: ({ customer }) => nameOf(customer) },
  {
    name: "Change",
    cell: ({ before, after }) =>
      after === null ? <span className="text-muted">{before} (no change)</span> : `${before} → ${after}`,
  },
];

export type BulkDialogProps = {
  customers: readonly Customer[];
  /** The customers' values may be out of date. */
  onChanged: () => void;
  onClose: () => void;
};

type Ended = { readonly kind: "changed" | "undone"; readonly result: BulkResult };

/** Changes the selected customers: fields, a preview of each customer, and the result, which can be undone. */
export function BulkDialog({
  title,
  action,
  past,
  same,
  kept,
  change,
  effects,
  call,
  tone = "primary",
  problem,
  onChanged,
  onClose,
  children,
}: Omit<BulkDialogProps, "customers"> & {
  title: string;
  /** "Assign Scale": the number of customers and the environment are appended. */
  action: string;
  /** "Assigned Scale to": the number of customers is appended. */
  past: string;
  /** Why a customer was left unchanged: "already had the plan". */
  same: string;
  /** What an undo does not restore. */
  kept?: string;
  change: BulkChange;
  /** One for each selected customer. Null while the form is incomplete. */
  effects: readonly Effect[] | null;
  /** The first API call. */
  call: Call | null;
  tone?: "primary" | "danger";
  problem?: unknown;
  children?: ReactNode;
}) {
  const { environment } = useScope();
  const [ended, setEnded] = useState<Ended | null>(null);
  const [progress, setProgress] = useState(0);
  const [typed, setTyped] = useState("");
  const { begin, stop } = useAbort();
  const settle = (): void => {
    onChanged();
    void refresh("customers");
  };
  const run = useMutation({
    mutationFn: (wanted: readonly Effect[]) =>
      runBulk(wanted, change, { onProgress: setProgress, signal: begin() }),
    onSuccess: (result) =>
      setEnded((before) => ({
        kind: "changed",
        result: before === null ? result : withRetry(before.result, result),
      })),
    onSettled: settle,
  });
  const undo = useMutation({
    mutationFn: (result: BulkResult) => undoBulk(result, { onProgress: setProgress, signal: begin() }),
    onSuccess: (result) => setEnded({ kind: "undone", result }),
    onSettled: settle,
  });
  const changing = effects?.filter(({ after }) => after !== null) ?? [];
  const isConfirmed = environment === "test" || typed === "live";
  const isRunning = run.isPending || undo.isPending;
  if (ended !== null || isRunning) {
    return (
      <Dialog isOpen isWide onClose={onClose} title={title}>
        {isRunning ? (
          <Running count={progress} of={changing.length} onStop={stop} />
        ) : (
          <Result
            ended={ended ?? { kind: "changed", result: NOTHING_DONE }}
            onUndo={(result) => undo.mutate(result)}
            onRetry={(rest) => run.mutate(rest)}
            past={past}
            same={same}
            kept={kept}
            problem={undo.error}
            onClose={onClose}
          />
        )}
      </Dialog>
    );
  }
  return (
    <Dialog isOpen isWide onClose={onClose} title={title}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (changing.length > 0 && isConfirmed) run.mutate(changing);
        }}
      >
        {children}
        {effects !== null && <Preview effects={effects} changing={changing.length} />}
        {environment === "live" && (
          <TextField
            label="Type live to confirm"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
            autoComplete="off"
            spellCheck={false}
            isMono
          />
        )}
        <ProblemCallout error={problem ?? null} />
        {call !== null && <ApiCall call={call} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone={tone} isDisabled={changing.length === 0 || !isConfirmed}>
            {inEnvironment(
              changing.length === 0
                ? action.replace(/ to$/, "")
                : `${action} ${countOf(changing.length, "customer")}`,
              environment,
            )}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function Preview({ effects, changing }: { effects: readonly Effect[]; changing: number }) {
  return (
    <div role="status" className="flex flex-col gap-2">
      <p className="font-semibold">
        {changing === 0
          ? "Nothing will change."
          : `${formatCount(changing)} of ${countOf(effects.length, "selected customer")} will change.`}
      </p>
      <div className="max-h-72 overflow-y-auto rounded-md border border-line">
        <Table
          label="Preview of the selected customers"
          columns={EFFECTS}
          rows={effects}
          keyOf={({ customer }) => customer.customerId}
        />
      </div>
    </div>
  );
}

function Running({ count, of, onStop }: { count: number; of: number; onStop: () => void }) {
  return (
    <>
      <div role="status" className="flex flex-col gap-1">
        <progress aria-label="Progress" className="h-2 w-full accent-accent" max={of} value={count} />
        <p className="text-caption text-muted">
          {formatCount(count)} of {countOf(of, "customer")}. If you stop, completed changes are kept.
        </p>
      </div>
      <DialogActions>
        <Button onClick={onStop}>Stop</Button>
      </DialogActions>
    </>
  );
}

function Result({
  ended: { kind, result },
  past,
  same,
  kept,
  problem,
  onUndo,
  onRetry,
  onClose,
}: {
  ended: Ended;
  past: string;
  same: string;
  kept: string | undefined;
  problem: unknown;
  onUndo: (result: BulkResult) => void;
  onRetry: (rest: readonly Effect[]) => void;
  onClose: () => void;
}) {
  const { changed, unchanged, failed, left, undos } = result;
  const rest = [...failed.map(({ effect }) => effect), ...left];
  const undoable = undos.reduce((sum, { count }) => sum + count, 0);
  const unrestored = kind === "undone" ? undoable : 0;
  const actions = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone.
  useEffect(() => actions.current?.querySelector<HTMLButtonElement>("button:last-of-type")?.focus(), []);
  const count = countOf(changed, "customer");
  const title =
    kind === "undone" ? `Restored ${count}` : changed === 0 ? "Nothing changed" : `${past} ${count}`;
  return (
    <>
      <div role="status" className="flex flex-col gap-3">
        <Callout tone={rest.length + unrestored === 0 ? "good" : "warn"} title={title}>
          {kind === "undone" && kept}
          {unrestored > 0 && ` ${countOf(unrestored, "customer")} not restored.`}
          {unchanged > 0 && `${countOf(unchanged, "customer")} ${same}. `}
          {rest.length > 0 &&
            `${countOf(rest.length, "customer")} left. You can retry safely: completed changes are not repeated.`}
        </Callout>
        {failed.length > 0 && (
          <>
            <p className="wrap-anywhere text-muted">
              Not changed: {namesOf(failed.map(({ effect }) => effect))}
            </p>
            <ProblemCallout error={failed[0]?.error ?? null} />
          </>
        )}
        <ProblemCallout error={problem} />
      </div>
      <div ref={actions}>
        <DialogActions>
          {undoable > 0 && (
            <Button onClick={() => onUndo(result)}>Undo for {countOf(undoable, "customer")}</Button>
          )}
          {kind === "changed" && rest.length > 0 && (
            <Button onClick={() => onRetry(rest)}>Retry {countOf(rest.length, "customer")}</Button>
          )}
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </div>
    </>
  );
}

const NAMED_MAX = 10;

function namesOf(effects: readonly Effect[]): string {
  const names = effects.slice(0, NAMED_MAX).map(({ customer }) => nameOf(customer));
  const more = effects.length - names.length;
  return more === 0 ? names.join(", ") : `${names.join(", ")} and ${formatCount(more)} more`;
}
