import type { Ref } from "react";
import { Callout } from "../../ui/callout.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { formatAgo } from "../../words/times.ts";
import { givenReference } from "./credits-form.ts";
import type { CreditsPreview } from "./credits-preview-query.ts";

const SHOWN_MAX = 3;

/** A top-up that somebody repeats is added again: that must be meant. */
export function TwinWarning({
  twins,
  amount,
  isAccepted,
  onAccept,
  boxRef,
}: {
  twins: CreditsPreview["twins"];
  /** "500 credits". */
  amount: string;
  isAccepted: boolean;
  onAccept: (isAccepted: boolean) => void;
  boxRef: Ref<HTMLInputElement>;
}) {
  return (
    <Callout tone="warn" title="The same was added a moment ago">
      <ul>
        {twins.slice(0, SHOWN_MAX).map(({ grant, by, recordedAt, reference }) => (
          <li key={grant}>
            {by?.name ?? by?.id ?? "Somebody"} added the same {amount} {formatAgo(recordedAt, Date.now())}
            {givenReference(reference) === null ? "" : `, as ${reference}`}.
          </li>
        ))}
        {twins.length > SHOWN_MAX && <li>And {twins.length - SHOWN_MAX} more.</li>}
      </ul>
      <div className="mt-2">
        <Checkbox
          ref={boxRef}
          label={`Add ${amount} again, on purpose`}
          checked={isAccepted}
          onChange={(event) => onAccept(event.target.checked)}
        />
      </div>
    </Callout>
  );
}
