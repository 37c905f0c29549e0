import type { ReactNode } from "react";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Details } from "../../ui/details.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Time } from "../../ui/time.tsx";
import { formatCount, formatPrice } from "../../words/numbers.ts";
import { ActorName } from "./actor-name.tsx";
import type { Whose } from "./audit-actors.ts";
import type { GrantLine } from "./ledger-queries.ts";
import { RevokeButton } from "./revoke-button.tsx";

type Item = { name: string; value: ReactNode };

export function GrantDetails({
  line: { grant, by },
  whose,
  mayRevoke,
}: {
  line: GrantLine;
  whose: Whose;
  mayRevoke: boolean;
}) {
  const { reference, price, note, expiresAt, revokedAt } = grant;
  const items: (Item | null)[] = [
    { name: "Given", value: <Time at={grant.recordedAt} /> },
    by === null ? null : { name: "By", value: <ActorName actor={by} /> },
    note === null ? null : { name: "Note", value: note },
    reference === null ? null : { name: "Reference", value: <code className="font-mono">{reference}</code> },
    price === null ? null : { name: "Price", value: formatPrice(price) },
    { name: "Pool", value: grant.pool },
    { name: "Expires", value: expiresAt === null ? "Never" : <Time at={expiresAt} /> },
    revokedAt === null ? null : { name: "Revoked", value: <Time at={revokedAt} /> },
    { name: "Left", value: `${formatCount(grant.remaining)} of ${formatCount(grant.credits)}` },
  ];
  return (
    <div className="flex flex-col gap-4">
      <Details items={items.filter((item) => item !== null)} />
      {mayRevoke && (
        // Where the window is narrow, the table has no room for it.
        <div className="md:hidden">
          <RevokeButton whose={whose} grant={grant} />
        </div>
      )}
      <Disclosure title="JSON">
        <CodeBlock label={`grant ${grant.grant} as JSON`} code={JSON.stringify(grant, null, 2)} />
      </Disclosure>
    </div>
  );
}
