import { ChevronRight } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { classNames } from "./class-names.ts";
import type { Column, RowDetails, RowTone } from "./table.tsx";

const TONES = {
  warn: "bg-warn-soft",
  accent: "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]",
  // Only a row that is put in later passes through this beginning: the others stand there at once.
  new: "transition-[opacity,translate,background-color] duration-700 starting:-translate-y-2 starting:bg-accent-soft starting:opacity-0",
} as const satisfies Record<Exclude<RowTone, null>, string>;

/** One line of a table, and what unfolds below it. */
export function TableRow<Row>({
  row,
  columns,
  tone,
  details,
  id,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  tone: RowTone;
  details: RowDetails<Row> | undefined;
  id: string | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const detailsId = useId();
  return (
    <>
      <tr
        id={id}
        aria-current={tone === "accent" || undefined}
        className={classNames(
          "border-b border-line",
          isOpen ? "border-b-0" : "last:border-b-0",
          tone === null ? "hover:bg-hover" : TONES[tone],
        )}
      >
        {details !== undefined && (
          <td className="pl-2">
            <Unfold
              label={details.label(row)}
              isOpen={isOpen}
              controls={detailsId}
              onClick={() => setOpen(!isOpen)}
            />
          </td>
        )}
        {columns.map((column) => (
          <td
            key={column.id ?? column.name}
            className={classNames(
              "h-10 px-2 py-1.5 align-middle first:pl-4 last:pr-4 md:px-3",
              column.isNumber && "text-right",
              column.isWide ? "min-w-40" : "whitespace-nowrap",
              column.hidesWhenNarrow && "max-md:hidden",
            )}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {details !== undefined && isOpen && (
        <tr id={detailsId} className="border-b border-line bg-sunken last:border-b-0">
          <td colSpan={columns.length + 1} className="px-4 py-4">
            <Unfolded>{details.show(row)}</Unfolded>
          </td>
        </tr>
      )}
    </>
  );
}

function Unfold({
  label,
  isOpen,
  controls,
  onClick,
}: {
  label: string;
  isOpen: boolean;
  controls: string;
  onClick: () => void;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      aria-expanded={isOpen}
      aria-controls={isOpen ? controls : undefined}
      onClick={onClick}
      className="inline-flex size-7 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink"
    >
      <ChevronRight
        className={classNames("size-4 transition-transform", isOpen && "rotate-90")}
        aria-hidden
      />
    </button>
  );
}

/** Stays in sight where the table is wider than the window. */
function Unfolded({ children }: { children: ReactNode }) {
  return <div className="sticky left-4 max-w-[min(100%,calc(100vw-4rem))] whitespace-normal">{children}</div>;
}
