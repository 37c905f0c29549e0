import { Ban, RefreshCw } from "lucide-react";
import type { Environment } from "../../api/answer.ts";
import { usePlace } from "../../frame/use-place.ts";
import { Badge, type BadgeTone } from "../../ui/badge.tsx";
import { Created } from "../../ui/created.tsx";
import { MenuItem } from "../../ui/menu.tsx";
import { RowMenu } from "../../ui/row-menu.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type KeyState, stateOf } from "./key-state.ts";
import type { ApiKey } from "./queries.ts";

type Actions = { onRotate: (key: ApiKey) => void; onRevoke: (key: ApiKey) => void };

export function ApiKeysTable({
  keys,
  actions,
}: {
  keys: readonly ApiKey[];
  /** Null: who looks may not. */
  actions: Actions | null;
}) {
  const { environment } = usePlace();
  const columns = columnsOf(environment);
  return (
    <Table
      label="API keys"
      columns={actions === null ? columns : [...columns, actionsColumn(actions)]}
      rows={keys}
      keyOf={({ id }) => id}
    />
  );
}

function columnsOf(environment: Environment): Column<ApiKey>[] {
  return [
    {
      name: "Key",
      isWide: true,
      cell: ({ name, lastFour, isValid }) => (
        <>
          <div
            className={isValid ? "text-form font-medium wrap-anywhere" : "text-form wrap-anywhere text-muted"}
          >
            {name}
          </div>
          <div className="font-mono text-caption whitespace-nowrap text-muted">
            pur_{environment}_…{lastFour}
          </div>
        </>
      ),
    },
    { name: "State", cell: (key) => <State apiKey={key} /> },
    { name: "May", hidesWhenNarrow: true, cell: ({ scopes }) => scopes.join(", ") },
    {
      name: "Last used",
      hidesWhenNarrow: true,
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? <span className="text-muted">Never</span> : <Time at={lastUsedAt} as="ago" />,
    },
    {
      name: "Ends",
      hidesWhenNarrow: true,
      cell: ({ expiresAt, revokedAt }) => {
        const at = revokedAt ?? expiresAt;
        return at === null ? <span className="text-muted">Never</span> : <Time at={at} />;
      },
    },
    {
      name: "Created",
      hidesWhenNarrow: true,
      cell: ({ createdAt, createdBy }) => <Created at={createdAt} by={createdBy} />,
    },
  ];
}

const STATES = {
  working: { tone: "good", text: "Working" },
  ending: { tone: "warn", text: "Ends soon" },
  expired: { tone: "plain", text: "Expired" },
  revoked: { tone: "plain", text: "Revoked" },
} as const satisfies Record<KeyState, { tone: BadgeTone; text: string }>;

function State({ apiKey }: { apiKey: ApiKey }) {
  const { tone, text } = STATES[stateOf(apiKey, Date.now())];
  return <Badge tone={tone}>{text}</Badge>;
}

function actionsColumn({ onRotate, onRevoke }: Actions): Column<ApiKey> {
  return {
    name: "Actions",
    isNameHidden: true,
    isNumber: true,
    cell: (key) =>
      key.isValid && (
        <RowMenu label={`Actions for ${key.name} …${key.lastFour}`}>
          <MenuItem icon={RefreshCw} onClick={() => onRotate(key)}>
            Rotate
          </MenuItem>
          <MenuItem icon={Ban} isDangerous onClick={() => onRevoke(key)}>
            Revoke
          </MenuItem>
        </RowMenu>
      ),
  };
}
