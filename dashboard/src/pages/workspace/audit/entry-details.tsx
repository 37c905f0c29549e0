import type { ReactNode } from "react";
import { CodeBlock } from "../../../ui/code-block.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Details } from "../../../ui/details.tsx";
import { Disclosure } from "../../../ui/disclosure.tsx";
import { useClock } from "../../../ui/preferences.ts";
import { TextLink } from "../../../ui/text-link.tsx";
import { formatTime } from "../../../words/times.ts";
import { ChangeTable } from "./change-table.tsx";
import type { Entry } from "./entry.ts";

/** What unfolds below a line: before and after, and what it takes to find the call that did it. */
export function EntryDetails({ entry }: { entry: Entry }) {
  const { actor, action, requestId, recordedAt, customerId } = entry;
  const actorFilter =
    actor.kind === "command" || actor.kind === "system" ? actor.kind : `${actor.kind}:${actor.id}`;
  return (
    <div className="flex flex-col gap-4">
      <ChangeTable entry={entry} />
      <Details
        items={[
          { name: "Action", value: <code className="font-mono">{action}</code> },
          { name: "Time", value: formatTime(recordedAt, useClock(), true) },
          {
            name: "Request",
            value:
              requestId === null ? (
                <span className="text-muted">None: it was not done by a call</span>
              ) : (
                <Copyable text={requestId} label="Copy the request id" />
              ),
          },
          {
            name: "More",
            value: (
              <span className="flex flex-wrap gap-x-4">
                <TextLink to="/workspace/audit" search={{ actor: actorFilter }}>
                  All by the same
                </TextLink>
                {customerId !== null && (
                  <TextLink to="/workspace/audit" search={{ customerId }}>
                    All about {customerId}
                  </TextLink>
                )}
              </span>
            ),
          },
        ]}
      />
      <Disclosure title="JSON">
        <CodeBlock label="the entry" code={JSON.stringify(entry, null, 2)} />
      </Disclosure>
    </div>
  );
}

function Copyable({ text, label }: { text: string; label: string }): ReactNode {
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <code className="font-mono wrap-anywhere">{text}</code>
      <CopyButton text={text} label={label} />
    </span>
  );
}
