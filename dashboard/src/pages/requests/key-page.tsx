import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Page } from "../../ui/page.tsx";
import { whatKeyDid } from "../../words/key-words.ts";
import { KeyDeed } from "./key-deed.tsx";
import { KeyRefusals } from "./key-refusals.tsx";
import { NotKept, OtherEnvironment, UnknownKey } from "./key-states.tsx";
import { KeyUses } from "./key-uses.tsx";
import { type KeyStory, keyQuery } from "./queries.ts";
import { TryDialog } from "./try-dialog.tsx";
import type { TryStart } from "./try-form.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/keys/$idempotencyKey");

/** What an idempotency key did, what it answers, and who tried to use it for something else. */
export function KeyPage() {
  const place = usePlace();
  const { idempotencyKey } = route.useParams();
  const { data: story } = useSuspenseQuery(keyQuery(place, idempotencyKey));
  const path = `/manage/v1/projects/${place.projectId}/${place.environment}/keys/${encodeURIComponent(idempotencyKey)}`;
  return (
    <Page
      title={idempotencyKey}
      heading={
        <span className="flex items-center gap-1">
          <span className="font-mono wrap-anywhere">{idempotencyKey}</span>
          <CopyButton text={idempotencyKey} label="Copy the key" />
        </span>
      }
      note={story?.state === "kept" || story?.state === "ended" ? whatKeyDid(story) : "Idempotency key"}
      actions={story !== null && <SendAgain story={story} />}
    >
      {story === null ? <UnknownKey /> : <Told story={story} />}
      <div className="flex flex-col gap-3">
        {story !== null && (
          <Disclosure title="JSON">
            <CodeBlock label="the key's story as JSON" code={JSON.stringify(story, null, 2)} />
          </Disclosure>
        )}
        <ApiCall title="Read this by API" call={{ method: "GET", path }} />
      </div>
    </Page>
  );
}

const ABOUT_ANSWER = {
  kept: "With status 200. The same request gets it again, byte for byte.",
  ended: "With status 200. The key has ended since: the same request would be executed again.",
};

function Told({ story }: { story: KeyStory }) {
  const isKnown = story.charge !== null || story.denial !== null || story.event !== null;
  return (
    <>
      {story.state === "other_environment" && <OtherEnvironment idempotencyKey={story.idempotencyKey} />}
      {story.state === "not_kept" && <NotKept story={story} />}
      {isKnown && (
        <div className="grid items-start gap-6 lg:grid-cols-2">
          <KeyDeed story={story} />
          {story.answer !== null && (
            <Card title="The answer" note={ABOUT_ANSWER[story.state === "ended" ? "ended" : "kept"]}>
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

/** Only what is a consume can be sent again from here, and only without metadata: with other metadata it is another request. */
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
