import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { FileQuestionMark, Send } from "lucide-react";
import { useState } from "react";
import { callOf } from "../../api/use-write.ts";
import { countUses, describeReason, whatKeyDid } from "../../format/request-sentences.ts";
import { useMayActAs, usePlace } from "../../frame/use-here.ts";
import { Button, ButtonLink, TextLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ApiCall, CodeBlock, CopyButton, Json } from "../../ui/code-block.tsx";
import { TextField } from "../../ui/field.tsx";
import { Card, EmptyState, Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { KeyEffect, KeyRefusals } from "./key-effect.tsx";
import { KEY_PATH, type KeyStory, keyQuery } from "./queries.ts";
import { Outcome } from "./requests-table.tsx";
import { TryDialog, type TryStart } from "./try-form.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/keys/$idempotencyKey");

/** History of an idempotency key: its result, stored answer and uses. */
export function KeyPage() {
  const place = usePlace();
  const { idempotencyKey } = route.useParams();
  const { data: story } = useSuspenseQuery(keyQuery(place, idempotencyKey));
  return (
    <Page
      title={idempotencyKey}
      heading={
        <span className="flex items-center gap-1">
          <span className="font-mono wrap-anywhere">{idempotencyKey}</span>
          <CopyButton text={idempotencyKey} label="Copy key" />
        </span>
      }
      note={story?.state === "kept" || story?.state === "ended" ? whatKeyDid(story) : "Idempotency key"}
      actions={story !== null && <SendAgain story={story} />}
    >
      {story === null ? <UnknownKey /> : <KeyDetails story={story} />}
      <div className="flex flex-col gap-3">
        {story !== null && <Json label="the key" value={story} />}
        <ApiCall
          title="API call"
          call={callOf("get", KEY_PATH, { params: { path: { ...place, idempotencyKey } } })}
        />
      </div>
    </Page>
  );
}

const ABOUT_ANSWER = {
  kept: "Status 200. A retry gets the same bytes.",
  ended: "Status 200. The key has expired. A retry runs again.",
};

function KeyDetails({ story }: { story: KeyStory }) {
  const isKnown = story.charge !== null || story.denial !== null || story.event !== null;
  return (
    <>
      {story.state === "other_environment" && <OtherEnvironment idempotencyKey={story.idempotencyKey} />}
      {story.state === "not_kept" && <NotKept story={story} />}
      {isKnown && (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <KeyEffect story={story} />
          {story.answer !== null && (
            <Card title="Stored answer" note={ABOUT_ANSWER[story.state === "ended" ? "ended" : "kept"]}>
              <CodeBlock label="the answer" code={JSON.stringify(story.answer, null, 2)} />
            </Card>
          )}
        </div>
      )}
      <KeyRefusals story={story} />
      <KeyUses uses={story.uses} />
    </>
  );
}

/** Offers to resend a consume without metadata. The dashboard cannot reproduce metadata. */
function SendAgain({ story }: { story: KeyStory }) {
  const isOperator = useMayActAs("operator");
  const [isOpen, setOpen] = useState(false);
  const asked = story.charge ?? story.denial;
  if (!isOperator || asked === null || asked.metadata !== null || story.customerId === null) return null;
  const start: TryStart = {
    customerId: story.customerId,
    feature: asked.feature,
    quantity: String(asked.quantity),
    idempotencyKey: story.idempotencyKey,
  };
  return (
    <>
      <Button icon={Send} onClick={() => setOpen(true)}>
        Send this 32 times
      </Button>
      {isOpen && <TryDialog start={start} onClose={() => setOpen(false)} />}
    </>
  );
}

function UnknownKey() {
  const place = usePlace();
  return (
    <Card flush>
      <EmptyState
        icon={FileQuestionMark}
        title="Key not found"
        action={
          <ButtonLink to="/projects/$projectId/$environment/requests" params={place}>
            Latest requests
          </ButtonLink>
        }
      >
        No request of this project used this key, in test or live. Check the spelling and the project.
      </EmptyState>
    </Card>
  );
}

function OtherEnvironment({ idempotencyKey }: { idempotencyKey: string }) {
  const { projectId, environment } = usePlace();
  const other = environment === "test" ? "live" : "test";
  return (
    <Callout tone="warn" title={`This key was used in ${other}`}>
      <p>Keys are unique per project. Using it in {environment} is refused with 409.</p>
      <p className="mt-1">
        <TextLink
          to="/projects/$projectId/$environment/keys/$idempotencyKey"
          params={{ projectId, environment: other, idempotencyKey }}
        >
          Open it in {other}
        </TextLink>
      </p>
    </Callout>
  );
}

/** Invalid requests and retryable denials are not stored under their key. */
function NotKept({ story: { uses } }: { story: KeyStory }) {
  const reason = uses.find((use) => use.reason !== null)?.reason ?? null;
  return (
    <Callout title="No answer is stored for this key">
      {reason === null
        ? "All requests with it were invalid. Fix the request and retry with the same key."
        : `Denied: ${describeReason(reason).toLowerCase()}. You can retry this denial with the same key.`}
    </Callout>
  );
}

type Use = KeyStory["uses"][number];

const USES_MAX = 50;

const COLUMNS: readonly Column<Use>[] = [
  { name: "Time", cell: ({ recordedAt }) => <Time at={recordedAt} as="second" /> },
  { name: "Outcome", isWide: true, cell: (use) => <Outcome request={use} /> },
  { name: "Endpoint", hidesWhenNarrow: true, cell: ({ endpoint }) => endpoint },
  {
    name: "Request id",
    hidesWhenNarrow: true,
    cell: ({ requestId }) => <span className="font-mono text-caption">{requestId}</span>,
  },
  {
    name: "Duration",
    isNumber: true,
    hidesWhenNarrow: true,
    cell: ({ durationMs }) => `${durationMs.toLocaleString("en-US")} ms`,
  },
];

/** Requests with this key. */
function KeyUses({ uses }: { uses: readonly Use[] }) {
  if (uses.length === 0) {
    return (
      <Card title="Uses in the last 7 days">
        <p className="text-muted">None.</p>
      </Card>
    );
  }
  return (
    <Card
      flush
      title="Uses in the last 7 days"
      note={`${uses.length === USES_MAX ? `Newest ${USES_MAX}: ` : ""}${countUses(uses)}.`}
    >
      <Table label="Uses" columns={COLUMNS} rows={uses} keyOf={({ id }) => id} />
    </Card>
  );
}

/** Opens the page of an idempotency key. */
export function FindKey() {
  const place = usePlace();
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
          params: { ...place, idempotencyKey },
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
