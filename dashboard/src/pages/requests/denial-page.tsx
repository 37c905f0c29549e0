import { useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Card } from "../../ui/card.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Page } from "../../ui/page.tsx";
import { useClock } from "../../ui/preferences.ts";
import { Time } from "../../ui/time.tsx";
import { sumOf, whyDenied } from "../../words/denial-sentences.ts";
import { describeReason } from "../../words/reason-words.ts";
import { formatTime } from "../../words/times.ts";
import { DenialCharges } from "./denial-charges.tsx";
import { DenialGrants } from "./denial-grants.tsx";
import { DenialNow } from "./denial-now.tsx";
import { DenialRequest } from "./denial-request.tsx";
import { type Denial, denialQuery } from "./queries.ts";
import { Sum } from "./sum.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/denials/$denialId");

/** Why a consume was denied: the arithmetic of the moment, what led to it, and what to do about it. */
export function DenialPage() {
  const place = usePlace();
  const { denialId } = route.useParams();
  const { data: denial } = useSuspenseQuery(denialQuery(place, denialId));
  const path = `/manage/v1/projects/${place.projectId}/${place.environment}/denials/${denialId}`;
  return (
    <Page
      title="Why denied"
      heading={`Why denied: ${describeReason(denial.reason).toLowerCase()}`}
      note={
        <>
          <span className="font-mono">{denial.feature}</span> for{" "}
          {denial.customerId ?? "a customer who was erased since"}, <Time at={denial.recordedAt} as="exact" />
        </>
      }
    >
      <div className="grid items-start gap-6 lg:grid-cols-[3fr_2fr]">
        <div className="flex min-w-0 flex-col gap-6">
          <Why denial={denial} />
          <DenialNow denial={denial} />
        </div>
        <DenialRequest denial={denial} />
      </div>
      <DenialGrants denial={denial} />
      <DenialCharges denial={denial} />
      <div className="flex flex-col gap-3">
        <Disclosure title="JSON">
          <CodeBlock label="the denial as JSON" code={JSON.stringify(denial, null, 2)} />
        </Disclosure>
        <ApiCall title="Read this by API" call={{ method: "GET", path }} />
      </div>
    </Page>
  );
}

function Why({ denial }: { denial: Denial }) {
  const clock = useClock();
  const [first, ...others] = whyDenied(denial, (at) => formatTime(at, clock));
  return (
    <Card title="At that moment">
      <div className="flex flex-col gap-4">
        <div>
          <p className="text-section wrap-anywhere">{first}</p>
          {others.map((sentence) => (
            <p key={sentence} className="mt-1 text-muted">
              {sentence}
            </p>
          ))}
        </div>
        <Sum lines={sumOf(denial, denial.quantity)} label="The sum at that moment" />
      </div>
    </Card>
  );
}
