import { useSuspenseQuery } from "@tanstack/react-query";
import { PenLine, Plus } from "lucide-react";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { countOf } from "../../words/numbers.ts";
import { FeatureTabs } from "./feature-tabs.tsx";
import { PoolDialog } from "./pool-dialog.tsx";
import { featuresQuery, type Pool, poolsQuery } from "./queries.ts";

/** Kinds of credits. Most environments never need a second one. */
export function PoolsPage() {
  const place = usePlace();
  const mayEdit = useMayActAs("admin");
  const [open, setOpen] = useState<Pool | "new" | null>(null);
  const { data: pools } = useSuspenseQuery(poolsQuery(place));
  const columns: readonly Column<Pool>[] = [
    {
      name: "Pool",
      cell: (pool) => (
        <div>
          <span className="font-medium">{pool.name}</span>
          <div className="font-mono text-caption text-muted">{pool.key}</div>
          <div className="md:hidden">
            <DrawnFrom pool={pool} />
          </div>
        </div>
      ),
    },
    {
      name: "Drawn from by",
      isWide: true,
      hidesWhenNarrow: true,
      cell: (pool) => <DrawnFrom pool={pool} />,
    },
    ...(mayEdit
      ? [
          {
            name: "Actions",
            isNameHidden: true,
            isNumber: true,
            cell: (pool: Pool) => (
              <Button
                tone="quiet"
                icon={PenLine}
                aria-label={`Rename ${pool.key}`}
                onClick={() => setOpen(pool)}
              >
                Rename
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Page
      title="Pools"
      heading="Features"
      note="Kinds of credits, each with its own balance. One is enough for most products."
      actions={
        mayEdit && (
          <Button icon={Plus} onClick={() => setOpen("new")}>
            New pool
          </Button>
        )
      }
    >
      <FeatureTabs />
      <Card flush>
        <Table label="Pools" columns={columns} rows={pools} keyOf={({ key }) => key} />
        <footer className="border-t border-line px-4 py-2 text-caption text-muted">
          {countOf(pools.length, "pool")}. A pool is never deleted: what was granted and spent in it stays.
        </footer>
      </Card>
      {open !== null && <PoolDialog pool={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function DrawnFrom({ pool }: { pool: Pool }) {
  const { data: features } = useSuspenseQuery(featuresQuery(usePlace()));
  const count = features.filter((feature) => feature.pool === pool.key).length;
  return count === 0 ? <span className="text-muted">No feature</span> : countOf(count, "feature");
}
