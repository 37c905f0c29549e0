import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Time } from "../../ui/time.tsx";
import type { Webhook } from "./queries.ts";
import { stateOf, type WebhookState } from "./webhook.ts";

const STATES = {
  enabled: { tone: "good", name: "Enabled" },
  failing: { tone: "warn", name: "Failing" },
  disabled: { tone: "plain", name: "Disabled" },
  "gave-up": { tone: "bad", name: "Disabled" },
} as const satisfies Record<WebhookState, { tone: BadgeTone; name: string }>;

export function StateBadge({ webhook }: { webhook: Webhook }) {
  const { tone, name } = STATES[stateOf(webhook)];
  return <Badge tone={tone}>{name}</Badge>;
}

/** Since when it fails, or why it is disabled. */
export function StateNote({ webhook }: { webhook: Webhook }) {
  switch (stateOf(webhook)) {
    case "enabled":
      return null;
    case "failing":
      return (
        <>
          since <Time at={webhook.failingSince} as="day" />
        </>
      );
    case "disabled":
      return (
        <>
          since <Time at={webhook.disabledAt} as="day" />
        </>
      );
    case "gave-up":
      return <span className="block max-w-44 whitespace-normal">after five days of failures</span>;
  }
}

/** For CSV files: "Failing since 2026-11-19T20:30:00.000Z". */
export function stateText(webhook: Webhook): string {
  switch (stateOf(webhook)) {
    case "enabled":
      return "Enabled";
    case "failing":
      return `Failing since ${webhook.failingSince}`;
    case "disabled":
      return "Disabled";
    case "gave-up":
      return "Disabled after five days of failures";
  }
}
