import { ChevronRight } from "lucide-react";
import { type MouseEvent, type ReactNode, useId, useState } from "react";
import { classNames } from "./class-names.ts";
import { type Column, columnId, lookOf } from "./table-columns.tsx";

export type RowTone = "warn" | "accent" | "new" | null;

export type RowDetails<Row> = { label: (row: Row) => string; show: (row: Row) => ReactNode };

const TONES = {
  warn: "bg-warn-soft",
  accent: "bg-accent-soft shadow-[inset_3px_0_0_var(--accent)]",
  // The starting style only applies to rows inserted after the first render.
  new: "transition-[opacity,translate,background-color] duration-700 starting:-translate-y-2 starting:bg-accent-soft starting:opacity-0",
} as const satisfies Record<Exclude<RowTone, null>, string>;

/** A row of the table, and its details. */
export function TableRow<Row>({
  row,
  columns,
  tone,
  details,
  id,
  box,
  isSelected,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  tone: RowTone;
  details: RowDetails<Row> | undefined;
  id: string | undefined;
  /** The checkbox that selects the row. */
  box: ReactNode;
  isSelected: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const detailsId = useId();
  const hasActions = columns.some(({ isActions }) => isActions);
  const hasLink = columns.some(({ isRowLink }) => isRowLink);
  return (
    <>
      <tr
        id={id}
        aria-current={tone === "accent" || undefined}
        onClick={(event) => {
          if (!isOnRow(event)) return;
          if (hasLink) followLink(event);
          else if (details !== undefined) setOpen(!isOpen);
        }}
        className={classNames(
          "border-b border-line",
          (tone === null || tone === "new") && !isSelected && hasActions && "bg-surface",
          isOpen ? "border-b-0" : "last:border-b-0",
          (hasLink || details !== undefined) && "cursor-pointer",
          isSelected ? "bg-accent-soft" : tone === null ? "hover:bg-hover" : TONES[tone],
        )}
      >
        {box}
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
            key={columnId(column)}
            data-row-link={column.isRowLink || undefined}
            className={classNames(
              "h-10 px-2 py-1.5 align-middle first:pl-4 last:pr-4 md:px-3",
              column.isWide ? "min-w-40" : "whitespace-nowrap",
              lookOf(column),
            )}
          >
            {column.cell(row)}
          </td>
        ))}
      </tr>
      {details !== undefined && isOpen && (
        <tr id={detailsId} className="border-b border-line bg-sunken last:border-b-0">
          <td colSpan={columns.length + 2} className="px-4 py-4">
            <Unfolded>{details.show(row)}</Unfolded>
          </td>
        </tr>
      )}
    </>
  );
}

type RowClick = MouseEvent<HTMLTableRowElement>;

/** Whether a click is meant for the row, not for a control in it or for selecting text. */
function isOnRow({ target, currentTarget }: RowClick): boolean {
  if (!(target instanceof Element) || !currentTarget.contains(target)) return false;
  const isControl = target.closest("a, button, input, label, select, textarea, summary") !== null;
  return !isControl && window.getSelection()?.isCollapsed !== false;
}

/** Follows the link of the row, with the same modifier keys. The link itself handles the keyboard and the middle button. */
function followLink({ currentTarget, ctrlKey, metaKey, shiftKey }: RowClick): void {
  const link = currentTarget.querySelector("[data-row-link] a[href], [data-row-link] button");
  const options = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
  link?.dispatchEvent(new window.MouseEvent("click", options));
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

/** Details of a row, which stay visible when the table scrolls sideways. */
function Unfolded({ children }: { children: ReactNode }) {
  return <div className="sticky left-4 max-w-[min(100%,calc(100vw-4rem))] whitespace-normal">{children}</div>;
}
