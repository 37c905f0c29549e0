import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { ApiProblem } from "../../api/api-problem.ts";
import { usePlace } from "../../frame/use-place.ts";
import { useSession } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { Time } from "../../ui/time.tsx";
import { type Edited, lastChangeQuery, nameActor } from "./last-change.ts";

/** What went wrong; and where somebody else was first, who it was and the way on. */
export function EditProblem({
  error,
  edited,
  note,
  isReading,
  onReadAgain,
}: {
  error: unknown;
  edited: Edited;
  /** What reading again does with what was typed. */
  note: string;
  isReading: boolean;
  onReadAgain: () => void;
}) {
  if (!(error instanceof ApiProblem && error.status === 412)) return <ProblemCallout error={error} />;
  return (
    <Callout tone="bad" title="Somebody else was first">
      <p>
        <WhoWasFirst edited={edited} /> Nothing of yours was written. {note}
      </p>
      <div className="mt-2">
        <Button icon={RotateCw} isBusy={isReading} onClick={onReadAgain}>
          Read again
        </Button>
      </div>
    </Callout>
  );
}

function WhoWasFirst({ edited }: { edited: Edited }) {
  const { data: change } = useQuery(lastChangeQuery(usePlace(), edited));
  const me = useSession();
  if (change === undefined || change === null) return "It was changed since you opened it.";
  return (
    <>
      It was changed <Time at={change.recordedAt} as="ago" /> by <strong>{nameActor(change, me)}</strong>.
    </>
  );
}
