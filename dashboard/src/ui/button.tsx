import { Button as BaseButton } from "@base-ui/react/button";
import { createLink } from "@tanstack/react-router";
import { LoaderCircle, type LucideIcon } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { classNames } from "./class-names.ts";

export type Tone = "primary" | "plain" | "quiet" | "danger";

const TONES: Record<Tone, string> = {
  primary: "bg-accent text-on-accent border-transparent hover:bg-accent-hover",
  plain: "bg-surface text-ink border-line hover:bg-hover",
  quiet: "bg-transparent text-ink border-transparent hover:bg-hover",
  danger: "bg-bad text-on-accent border-transparent hover:bg-bad-hover",
};

const SHAPE =
  "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-form font-medium whitespace-nowrap " +
  "transition-colors select-none data-disabled:pointer-events-none data-disabled:opacity-50";

type Look = { tone?: Tone; icon?: LucideIcon; children: ReactNode };

export function Button({
  tone = "plain",
  icon: Icon,
  isBusy,
  isDisabled = false,
  type = "button",
  onClick,
  children,
  ...rest
}: Look & {
  isBusy?: boolean;
  isDisabled?: boolean;
  type?: "button" | "submit";
  onClick?: () => void;
  form?: string;
  "aria-describedby"?: string;
}) {
  return (
    <BaseButton
      type={type}
      // Stays focusable while busy, so that keyboard focus is not lost.
      disabled={isBusy || isDisabled}
      focusableWhenDisabled={isBusy === true}
      aria-busy={isBusy || undefined}
      className={classNames(SHAPE, TONES[tone])}
      onClick={(event) => {
        // The second click of a double click can arrive before the busy state is rendered.
        if (isBusy !== undefined && event.detail > 1) event.preventDefault();
        else onClick?.();
      }}
      {...rest}
    >
      {isBusy ? (
        <LoaderCircle className="size-4 animate-spin" aria-hidden />
      ) : (
        Icon && <Icon className="size-4" aria-hidden />
      )}
      {children}
    </BaseButton>
  );
}

/** A link that looks like a button, to an address outside the dashboard. */
export function ButtonAnchor({
  tone = "plain",
  icon: Icon,
  children,
  ...anchor
}: Look & ComponentProps<"a">) {
  return (
    <a {...anchor} className={classNames(SHAPE, TONES[tone])}>
      {Icon && <Icon className="size-4" aria-hidden />}
      {children}
    </a>
  );
}

/** A link to a page, which looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);

/** A button with an icon and an accessible label. Accepts the props of a menu trigger. */
export function IconButton({
  icon: Icon,
  label,
  isDisabled = false,
  ...rest
}: {
  icon: LucideIcon;
  label: string;
  isDisabled?: boolean;
} & Omit<ComponentProps<typeof BaseButton>, "className" | "disabled" | "children" | "type">) {
  return (
    <BaseButton
      {...rest}
      type="button"
      aria-label={label}
      title={label}
      disabled={isDisabled}
      className="inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors hover:bg-hover hover:text-ink data-disabled:opacity-40"
    >
      <Icon className="size-4" aria-hidden />
    </BaseButton>
  );
}

function TextAnchor(anchor: ComponentProps<"a">) {
  return (
    <a
      {...anchor}
      className="font-medium text-accent underline decoration-transparent underline-offset-2 hover:decoration-current"
    />
  );
}

/** A link in text or a table. */
export const TextLink = createLink(TextAnchor);

/** A link to the documentation, in a new tab, so that an open form or secret is not lost. */
export function DocsLink({ href, children }: { href: `/docs/${string}`; children: ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener"
      className="font-medium text-accent underline underline-offset-2"
    >
      {children}
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  );
}

/** A button that looks like a text link. */
export function LinkButton({
  label,
  onClick,
  children,
}: {
  /** Needed if the visible text does not describe the action. */
  label?: string;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <button
      type="button"
      aria-label={label}
      onClick={onClick}
      className="rounded text-left font-medium text-accent underline decoration-transparent underline-offset-2 hover:decoration-current"
    >
      {children}
    </button>
  );
}

/** Tabs that are routes. */
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="-mb-2 flex flex-wrap gap-x-1 border-b border-line">
      {children}
    </nav>
  );
}

function TabAnchor(anchor: ComponentProps<"a">) {
  return (
    <a
      {...anchor}
      className="border-b-2 border-transparent px-1.5 py-2 text-form font-medium whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink sm:px-3"
    />
  );
}

export const TabLink = createLink(TabAnchor);
