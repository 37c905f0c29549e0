import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FileQuestionMark, Send } from "lucide-react";
import { useState } from "react";
import { callOf } from "../../api/use-write.ts";
import { ENVIRONMENT_NAMES } from "../../format/environments.ts";
import { countUses, describeKey, describeReason } from "../../format/request-sentences.ts";
import { Outcome } from "../../frame/links.tsx";
import { useEventNames, useFeatureNames, useMayActAs, useScope } from "../../frame/use-scope.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { CodeBlock, CopyButton } from "../../ui/code-block.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { PageCode } from "../../ui/page-code.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { itemsOf } from "./compare-reuse.ts";
import { KeyEffect } from "./key-effect.tsx";
import { KeyRefusals } from "./key-refusals.tsx";
import { KEY_PATH, type KeyHistory, keyQuery } from "./queries.ts";
import { TestRequestDialog, type TestRequestStart } from "./test-request-form.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/keys/$idempotencyKey");

/** The history of an idempotency key: its result, stored response and uses. */
export function KeyPage() {
  const scope = useScope();
  const { idempotencyKey } = route.useParams();
  const { data: history } = useSuspenseQuery(keyQuery(scope, idempotencyKey));
  const names = { feature: useFeatureNames(), event: useEventNames() };
  return (
    <Page
      title={idempotencyKey}
      heading={
        <span className="flex items-center gap-1">
          <span className="font-mono wrap-anywhere">{idempotencyKey}</span>
          <CopyButton text={idempotencyKey} label="Copy key" />
        </span>
      }
      note={
        history?.state === "kept" || history?.state === "ended"
          ? describeKey(history, names)
          : "Idempotency key"
      }
      actions={
        <>
          <PageCode
            json={history === null ? undefined : { label: "the key", value: history }}
            call={callOf("get", KEY_PATH, { params: { path: { ...scope, idempotencyKey } } })}
          />
          {history !== null && <SendAgain history={history} />}
        </>
      }
    >
      {history === null ? <UnknownKey /> : <KeyDetails history={history} />}
    </Page>
  );
}

const ABOUT_ANSWER = {
  kept: "Status 200. A retry returns exactly this response.",
  ended: "Status 200. The key has expired. A retry is treated as a new request.",
};

function KeyDetails({ history }: { history: KeyHistory }) {
  const { charge, denial, hold, event } = history;
  const isKnown = (charge ?? denial ?? hold ?? event) !== null;
  return (
    <>
      {history.state === "other_environment" && <OtherEnvironment idempotencyKey={history.idempotencyKey} />}
      {history.state === "not_kept" && <NotKept history={history} />}
      {isKnown && (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <KeyEffect history={history} />
          {history.answer !== null && (
            <Card title="Stored response" note={ABOUT_ANSWER[history.state === "ended" ? "ended" : "kept"]}>
              <CodeBlock label="the response" code={JSON.stringify(history.answer, null, 2)} />
            </Card>
          )}
        </div>
      )}
      <KeyRefusals history={history} />
      <KeyUses uses={history.uses} />
    </>
  );
}

/**
 * Resends a consume request several times. Hidden for requests with items, a member or metadata, because test requests do not support
 * these.
 */
function SendAgain({ history }: { history: KeyHistory }) {
  const isOperator = useMayActAs("operator");
  const [isOpen, setOpen] = useState(false);
  const asked = history.charge ?? history.denial;
  if (history.endpoint !== "consume" || !isOperator || asked === null || history.customerId === null)
    return null;
  if (asked.memberId !== null || asked.metadata !== null || itemsOf(history) !== null) return null;
  const start: TestRequestStart = {
    customerId: history.customerId,
    feature: asked.feature,
    quantity: String(asked.quantity),
    idempotencyKey: history.idempotencyKey,
  };
  return (
    <>
      <Button icon={Send} onClick={() => setOpen(true)}>
        Test retries
      </Button>
      {isOpen && <TestRequestDialog start={start} onClose={() => setOpen(false)} />}
    </>
  );
}

function UnknownKey() {
  const scope = useScope();
  return (
    <Card flush>
      <EmptyState
        icon={FileQuestionMark}
        title="Key not found"
        action={
          <ButtonLink to="/projects/$projectId/$environment/requests" params={scope}>
            Go to Requests
          </ButtonLink>
        }
      >
        No request in this project has used this key, in Test or Live. Check the spelling and the project.
      </EmptyState>
    </Card>
  );
}

function OtherEnvironment({ idempotencyKey }: { idempotencyKey: string }) {
  const { projectId, environment } = useScope();
  const other = environment === "test" ? "live" : "test";
  const [here, there] = [ENVIRONMENT_NAMES[environment], ENVIRONMENT_NAMES[other]];
  return (
    <Callout tone="warn" title={`This key was used in ${there}`}>
      <p>Keys are unique per project. Requests that use this key in {here} are rejected with 409.</p>
      <p className="mt-1">
        <TextLink
          to="/projects/$projectId/$environment/keys/$idempotencyKey"
          params={{ projectId, environment: other, idempotencyKey }}
        >
          Open the key in {there}
        </TextLink>
      </p>
    </Callout>
  );
}

/** Invalid requests and retryable denials are not stored under their key. */
function NotKept({ history: { uses } }: { history: KeyHistory }) {
  const reason = uses.find((use) => use.reason !== null)?.reason ?? null;
  return (
    <Callout title="No response is stored for this key">
      {reason === null
        ? "All requests with this key were invalid. Fix the request and retry with the same key."
        : `Denied: ${describeReason(reason).toLowerCase()}. You can retry this request with the same key.`}
    </Callout>
  );
}

type Use = KeyHistory["uses"][number];

const USES_MAX = 50;

const COLUMNS: readonly Column<Use>[] = [
  { name: "Time", cell: ({ recordedAt }) => <Time at={recordedAt} as="second" /> },
  { name: "Outcome", isWide: true, cell: (use) => <Outcome request={use} /> },
  { name: "Endpoint", hidesBelow: "md", cell: ({ endpoint }) => endpoint },
  {
    name: "Request ID",
    hidesBelow: "md",
    cell: ({ requestId }) => <span className="font-mono text-caption">{requestId}</span>,
  },
  {
    name: "Duration",
    isNumber: true,
    hidesBelow: "md",
    cell: ({ durationMs }) => `${durationMs.toLocaleString("en-US")} ms`,
  },
];

/** Requests with this key. */
function KeyUses({ uses }: { uses: readonly Use[] }) {
  if (uses.length === 0) {
    return (
      <Card title="Requests with this key in the last 7 days">
        <p className="text-muted">None.</p>
      </Card>
    );
  }
  return (
    <Card
      flush
      title="Requests with this key in the last 7 days"
      note={`${uses.length === USES_MAX ? `Newest ${USES_MAX}: ` : ""}${countUses(uses)}.`}
    >
      <Table label="Requests with this key" columns={COLUMNS} rows={uses} keyOf={({ id }) => id} />
    </Card>
  );
}

/** Opens the page for an idempotency key. */
export function FindKey() {
  const scope = useScope();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const idempotencyKey = typed.trim();
  return (
    <form
      className="flex items-end gap-2 max-md:w-full"
      onSubmit={(event) => {
        event.preventDefault();
        if (idempotencyKey === "") return;
        void navigate({
          to: "/projects/$projectId/$environment/keys/$idempotencyKey",
          params: { ...scope, idempotencyKey },
        });
      }}
    >
      <div className="w-56 max-md:flex-1">
        <TextField
          label="Idempotency key"
          isLabelHidden
          placeholder="Paste an idempotency key"
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <Button type="submit" isDisabled={idempotencyKey === ""}>
        Find key
      </Button>
    </form>
  );
}
