import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import type { Column } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { GRANT_STATE_WORDS, GRANT_WORDS, type GrantState } from "../../words/ledger-words.ts";
import { formatCount, formatPrice } from "../../words/numbers.ts";
import { ActorName } from "./actor-name.tsx";
import type { Whose } from "./audit-actors.ts";
import { givenReference } from "./credits-form.ts";
import { stateOfGrant } from "./grant-state.ts";
import type { Grant, GrantLine, PlanChange } from "./ledger-queries.ts";
import { RevokeButton } from "./revoke-button.tsx";

export type GrantContext = {
  readonly whose: Whose;
  readonly mayRevoke: boolean;
  readonly changes: readonly PlanChange[];
  readonly next: ReadonlySet<number>;
  readonly now: number;
};

const TONES = {
  open: "good",
  spent: "plain",
  ended: "plain",
  expired: "plain",
  revoked: "bad",
} as const satisfies Record<GrantState, BadgeTone>;

export function grantColumns({ whose, mayRevoke, changes, next, now }: GrantContext): Column<GrantLine>[] {
  return [
    { name: "Given", hidesWhenNarrow: true, cell: (line) => <Given line={line} /> },
    { name: "Kind", cell: ({ grant }) => <Kind grant={grant} /> },
    {
      name: "Reference",
      isWide: true,
      hidesWhenNarrow: true,
      cell: ({ grant }) => <Reference reference={givenReference(grant.reference)} />,
    },
    {
      name: "Price",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ grant: { price } }) => price !== null && formatPrice(price),
    },
    { name: "Expires", hidesWhenNarrow: true, cell: ({ grant }) => <Expiry at={grant.expiresAt} /> },
    {
      name: "Amount",
      isNumber: true,
      hidesWhenNarrow: true,
      cell: ({ grant }) => formatCount(grant.credits),
    },
    {
      name: "Left",
      isNumber: true,
      cell: ({ grant: { remaining, credits } }) => (
        <>
          <span className={remaining === 0 ? "text-muted" : "font-medium"}>{formatCount(remaining)}</span>
          <div className="text-caption text-muted md:hidden">of {formatCount(credits)}</div>
        </>
      ),
    },
    {
      name: "State",
      cell: ({ grant }) => {
        const state = stateOfGrant(grant, changes, now);
        return next.has(grant.grant) ? (
          <Badge tone="accent">Spent next</Badge>
        ) : (
          <Badge tone={TONES[state]}>{GRANT_STATE_WORDS[state]}</Badge>
        );
      },
    },
    ...(mayRevoke
      ? [
          {
            name: "Actions",
            isNameHidden: true,
            isNumber: true,
            hidesWhenNarrow: true,
            cell: ({ grant }: GrantLine) => <RevokeButton whose={whose} grant={grant} />,
          },
        ]
      : []),
  ];
}

function Given({ line: { grant, by } }: { line: GrantLine }) {
  return (
    <>
      <Time at={grant.recordedAt} />
      <div className="text-caption text-muted">
        {by !== null ? (
          <>
            by <ActorName actor={by} />
          </>
        ) : (
          grant.kind === "allowance" && "by the plan"
        )}
      </div>
    </>
  );
}

function Kind({ grant: { kind, grant, reference, pool } }: { grant: Grant }) {
  const given = givenReference(reference);
  return (
    <>
      <span className="font-medium">{GRANT_WORDS[kind]}</span>
      <div className="text-caption text-muted">
        grant {grant}
        {pool !== "credits" && `, ${pool}`}
      </div>
      {given !== null && (
        <div className="max-w-36 truncate font-mono text-caption text-muted md:hidden" title={given}>
          {given}
        </div>
      )}
    </>
  );
}

function Reference({ reference }: { reference: string | null }) {
  if (reference === null) return null;
  return (
    <span className="-my-1.5 flex items-center gap-1">
      <code className="max-w-40 truncate font-mono text-caption" title={reference}>
        {reference}
      </code>
      <CopyButton text={reference} label={`Copy ${reference}`} />
    </span>
  );
}

function Expiry({ at }: { at: string | null }) {
  return at === null ? <span className="text-muted">Never</span> : <Time at={at} as="day" />;
}
