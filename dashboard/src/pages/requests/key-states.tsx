import { FileQuestionMark } from "lucide-react";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { TextLink } from "../../ui/text-link.tsx";
import { describeReason } from "../../words/reason-words.ts";
import type { KeyStory } from "./queries.ts";

export function UnknownKey() {
  const place = usePlace();
  return (
    <Card flush>
      <EmptyState
        icon={FileQuestionMark}
        title="Nothing was asked under this key"
        action={
          <ButtonLink to="/projects/$projectId/$environment/requests" params={place}>
            Latest requests
          </ButtonLink>
        }
      >
        No request of this project has come with it, in test or in live, so nothing was charged and nothing
        recorded. Either your backend never sent it, or it was sent with the API key of another project, or it
        reads a little differently, or it is older than this installation keeps keys. A request with this key
        would be executed as new.
      </EmptyState>
    </Card>
  );
}

export function OtherEnvironment({ idempotencyKey }: { idempotencyKey: string }) {
  const { projectId, environment } = usePlace();
  const other = environment === "test" ? "live" : "test";
  return (
    <Callout tone="warn" title={`This key was used in ${other === "live" ? "LIVE" : "test"}`}>
      <p>
        A key belongs to the whole project, so it cannot be used in {environment} as well: that is refused
        with 409. What it did is shown there alone.
      </p>
      <p className="mt-1">
        <TextLink
          to="/projects/$projectId/$environment/keys/$idempotencyKey"
          params={{ projectId, environment: other, idempotencyKey }}
        >
          See it in {other === "live" ? "LIVE" : "test"}
        </TextLink>
      </p>
    </Callout>
  );
}

/** Refused before it was decided, or denied for want of a customer or a plan. */
export function NotKept({ story: { uses } }: { story: KeyStory }) {
  const reason = uses.find((use) => use.reason !== null)?.reason ?? null;
  return (
    <Callout title="It was used, and nothing is kept under it">
      {reason === null
        ? "Every request with it was turned down as a mistake before anything was decided. The same key may be used again, once the mistake is mended."
        : `It was denied (${describeReason(reason).toLowerCase()}), and such a denial is not kept: a request that came before the plan did must not stay denied. The same key may be used again.`}
    </Callout>
  );
}
