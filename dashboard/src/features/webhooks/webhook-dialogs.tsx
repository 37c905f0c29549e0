import { useSuspenseQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useForm } from "react-hook-form";
import { refresh, useWrite } from "../../api/use-write.ts";
import { countOf } from "../../format/numbers.ts";
import { capitalize } from "../../format/terms.ts";
import { momentText, nameOfClock, readMoment } from "../../format/times.ts";
import { useScope } from "../../frame/use-scope.ts";
import { Callout } from "../../ui/callout.tsx";
import { Choices } from "../../ui/choices.tsx";
import { WriteDialog } from "../../ui/dialog.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { Time, useClock } from "../../ui/time.tsx";
import { notify } from "../../ui/toast.tsx";
import { WEBHOOKS_PATH, type Webhook, webhooksQuery } from "./queries.ts";
import { nameOfWebhook } from "./webhook.ts";
import { WebhookSecret } from "./webhook-form.tsx";

type Props = { webhook: Webhook; onClose: () => void };

const PATH = `${WEBHOOKS_PATH}/{id}` as const;

function usePathOf({ id }: Webhook) {
  return { path: { ...useScope(), id } };
}

export function TestDialog({ webhook, onClose }: Props) {
  const params = usePathOf(webhook);
  const send = useWrite("post", `${PATH}/test`, {
    onSuccess: async () => {
      await refresh("webhooks");
      notify("Sent a test", "The list of deliveries shows the response.");
      onClose();
    },
  });
  return (
    <WriteDialog title="Send test" write={send} request={{ params }} action="Send test" onClose={onClose}>
      <p>
        Sends a notice of the type <code className="font-mono">webhook.test</code> to{" "}
        <code className="font-mono wrap-anywhere">{webhook.url}</code>, within seconds.
      </p>
      <WhileDisabled webhook={webhook} />
    </WriteDialog>
  );
}

/** For a delivery that is not sent at once. */
export function WhileDisabled({ webhook: { enabled } }: { webhook: Webhook }) {
  return (
    !enabled && <Callout tone="warn">The webhook is disabled. Deliveries wait until it is enabled.</Callout>
  );
}

/** Enables a disabled webhook, or disables an enabled one. */
export function EnableDialog({ webhook, onClose }: Props) {
  const params = usePathOf(webhook);
  // The dialog keeps its purpose if someone else changes the webhook.
  const [enables] = useState(!webhook.enabled);
  const { data: webhooks } = useSuspenseQuery(webhooksQuery(params.path));
  const isOnly = webhooks.every(({ id, enabled }) => id === webhook.id || !enabled);
  const verb = enables ? "Enable" : "Disable";
  const save = useWrite("patch", PATH, {
    onSuccess: async (saved) => {
      await refresh("webhooks");
      notify(`${verb}d ${nameOfWebhook(saved)}`);
      onClose();
    },
  });
  return (
    <WriteDialog
      title={`${verb} ${nameOfWebhook(webhook)}`}
      write={save}
      request={{ params, body: { enabled: enables } }}
      action={`${verb} webhook`}
      tone={enables ? "primary" : "danger"}
      onClose={onClose}
    >
      {enables ? (
        <p>
          The webhook will receive new notices, and its pending deliveries will be sent. To also receive
          notices recorded for other webhooks in the meantime, replay them.
        </p>
      ) : (
        <ul className="flex list-disc flex-col gap-1 pl-5">
          <li>The webhook will not receive new notices.</li>
          <li>Pending deliveries will wait until you enable it again.</li>
          {isOnly && (
            <li>
              No other webhook is enabled, so notices will not be recorded, and cannot be replayed later.
            </li>
          )}
        </ul>
      )}
    </WriteDialog>
  );
}

const CAUSES = [
  { value: "leaked", name: "Yes, or possibly", note: "The old secret stops working immediately." },
  { value: "routine", name: "No", note: "Deliveries have two signatures until the overlap ends." },
] as const;

const OVERLAPS = [
  { value: "86400", label: "24 hours" },
  { value: "3600", label: "1 hour" },
  { value: "604800", label: "7 days" },
];

/** Creates a new secret. During the overlap, deliveries are also signed with the old secret, unless it was leaked. */
export function RotateSecretDialog({ webhook, onClose }: Props) {
  const params = usePathOf(webhook);
  const [cause, setCause] = useState<"leaked" | "routine" | null>(null);
  const { register, watch } = useForm({ defaultValues: { overlap: "86400" } });
  const isLeaked = cause === "leaked";
  const overlapSeconds = isLeaked ? 0 : Number(watch("overlap"));
  const [rotatedAt, setRotatedAt] = useState(0);
  const rotate = useWrite("post", `${PATH}/rotate`, {
    onSuccess: () => {
      setRotatedAt(Date.now());
      return refresh("webhooks");
    },
  });
  if (rotate.data !== undefined) {
    const end = new Date(rotatedAt + overlapSeconds * 1_000).toISOString();
    const note =
      overlapSeconds === 0 ? (
        "The old secret no longer works."
      ) : (
        <>
          Deliveries are also signed with the old secret until <Time at={end} />.
        </>
      );
    return <WebhookSecret webhook={webhook} secret={rotate.data.secret} note={note} onClose={onClose} />;
  }
  return (
    <WriteDialog
      title="Rotate secret"
      note={nameOfWebhook(webhook)}
      write={rotate}
      request={cause === null ? null : { params, body: { overlapSeconds } }}
      action={isLeaked ? "Rotate and revoke old secret" : "Rotate secret"}
      tone={isLeaked ? "danger" : "primary"}
      isDisabled={cause === null}
      onClose={onClose}
    >
      <p>
        You get a new secret. If you rotate again before the overlap ends, the current secret stops working
        immediately.
      </p>
      <Choices
        label="Was the secret leaked?"
        name="cause"
        choices={CAUSES}
        chosen={cause ?? ""}
        onChange={(event) => setCause(event.target.value === "leaked" ? "leaked" : "routine")}
      />
      {cause === "routine" && (
        <Select
          label="Overlap"
          options={OVERLAPS}
          hint="Deploy the new secret before the overlap ends."
          {...register("overlap")}
        />
      )}
    </WriteDialog>
  );
}

const DAY_MS = 86_400_000;
const KEPT_DAYS = 30;

/**
 * Delivers the notices from a time range again. A call replays at most 1,000, so it is repeated until none are left or the dialog closes.
 */
export function ReplayDialog({ webhook, onClose }: Props) {
  const params = usePathOf(webhook);
  const clock = useClock();
  const [openedAt] = useState(Date.now);
  const { register, watch } = useForm({
    defaultValues: { from: momentText(openedAt - DAY_MS, clock), to: "", undeliveredOnly: false },
  });
  const typed = watch();
  const [done, setDone] = useState({ replayed: 0, cursor: null as string | null });
  const from = readMoment(typed.from, clock);
  const to = readMoment(typed.to, clock);
  const isReversed = from !== null && from >= (to ?? new Date(openedAt).toISOString());
  const requestOf = (cursor: string | null) => ({
    params,
    body: {
      from: from ?? "",
      ...(to === null ? {} : { to }),
      ...(typed.undeliveredOnly ? { undeliveredOnly: true } : {}),
      ...(cursor === null ? {} : { cursor }),
    },
  });
  const replay = useWrite("post", `${PATH}/replay`, {
    onSuccess: async ({ replayed, nextCursor }) => {
      const total = done.replayed + replayed;
      setDone({ replayed: total, cursor: nextCursor });
      if (nextCursor !== null) return;
      await refresh("webhooks");
      notify(`Replayed ${countOf(total, "notice")}`);
      onClose();
    },
  });
  // After an error, the button continues.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each cursor
  useEffect(() => {
    if (done.cursor !== null) replay.mutate(requestOf(done.cursor));
  }, [done.cursor]);
  const isStarted = done.cursor !== null;
  return (
    <WriteDialog
      title="Replay notices"
      note={nameOfWebhook(webhook)}
      write={replay}
      request={from === null ? null : requestOf(done.cursor)}
      action={isStarted ? "Continue replay" : "Replay notices"}
      closeName={isStarted ? "Stop" : "Cancel"}
      isDisabled={from === null || isReversed}
      onClose={onClose}
    >
      <p>
        Delivers the notices from a time range again. Each keeps its{" "}
        <code className="font-mono">webhook-id</code>.
      </p>
      {isStarted ? (
        <p role="status" className="text-muted">
          {countOf(done.replayed, "notice")} replayed so far.
        </p>
      ) : (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField
              label="From"
              type="datetime-local"
              hint={`${capitalize(nameOfClock(clock))}.`}
              required
              min={momentText(openedAt - KEPT_DAYS * DAY_MS, clock)}
              error={isReversed ? "Must be before the end." : undefined}
              {...register("from")}
            />
            <TextField
              label="To (exclusive)"
              type="datetime-local"
              hint="Optional. Default: now."
              {...register("to")}
            />
          </div>
          <Checkbox
            label="Only undelivered"
            hint="Leaves out notices that this webhook has accepted, and notices that only other webhooks received."
            {...register("undeliveredOnly")}
          />
        </>
      )}
      <WhileDisabled webhook={webhook} />
    </WriteDialog>
  );
}

export function DeleteDialog({ webhook, onClose }: Props) {
  const params = usePathOf(webhook);
  const navigate = useNavigate();
  const { projectId, environment } = params.path;
  const remove = useWrite("delete", PATH, {
    onSuccess: async () => {
      await navigate({
        to: "/projects/$projectId/$environment/webhooks",
        params: { projectId, environment },
      });
      await refresh("webhooks");
      notify(`Deleted ${nameOfWebhook(webhook)}`);
    },
  });
  return (
    <WriteDialog
      title={`Delete ${nameOfWebhook(webhook)}`}
      write={remove}
      request={{ params }}
      wanted={new URL(webhook.url).host}
      action="Delete webhook"
      tone="danger"
      onClose={onClose}
    >
      <p>
        Pending deliveries will not be sent, and the list of deliveries will be deleted. This cannot be
        undone.
        {webhook.enabled && " To stop deliveries for a while, disable the webhook instead."}
      </p>
    </WriteDialog>
  );
}
