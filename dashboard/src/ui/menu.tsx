import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Ellipsis, type LucideIcon } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { classNames } from "./class-names.ts";

export const MENU_POPUP =
  "min-w-48 rounded-lg border border-line bg-surface p-1 shadow-over outline-none transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0";
export const MENU_ITEM =
  "flex h-8 w-full items-center gap-2 rounded-md px-2 text-form outline-none select-none data-highlighted:bg-hover";

export function Menu({
  trigger,
  children,
  side = "bottom",
}: {
  trigger: ReactElement;
  children: ReactNode;
  side?: "bottom" | "top";
}) {
  return (
    <BaseMenu.Root>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner sideOffset={6} align="start" side={side} className="z-50 outline-none">
          <BaseMenu.Popup className={MENU_POPUP}>{children}</BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

export function MenuItem({
  icon: Icon,
  onClick,
  isDangerous = false,
  children,
}: {
  icon?: LucideIcon;
  onClick: () => void;
  isDangerous?: boolean;
  children: ReactNode;
}) {
  return (
    <BaseMenu.Item onClick={onClick} className={classNames(MENU_ITEM, isDangerous && "text-bad")}>
      {Icon && <Icon className="size-4 text-muted" aria-hidden />}
      {children}
    </BaseMenu.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <div className="px-2 pt-2 pb-1 text-caption text-muted">{children}</div>;
}

export function MenuSeparator() {
  return <BaseMenu.Separator className="my-1 h-px bg-line" />;
}

/** Actions of a table row. */
export function RowMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={label}
          title={label}
          className="inline-flex size-8 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink data-popup-open:bg-hover"
        >
          <Ellipsis className="size-4" aria-hidden />
        </button>
      }
    >
      {children}
    </Menu>
  );
}
