import { BookOpenText, type LucideIcon } from "lucide-react";
import { createContext, type ReactNode, useContext, useEffect } from "react";
import { ENVIRONMENT_NAMES } from "../format/environments.ts";
import { classNames } from "./class-names.ts";

/** Page header and content. The title is also the tab title. */
export function Page({
  title,
  heading = title,
  note,
  actions,
  children,
}: {
  title: string;
  heading?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTabTitle(title);
  const guide = useContext(GuideContext);
  return (
    <div className="mx-auto flex w-full max-w-6xl flex-col gap-6 px-4 py-6 md:px-8">
      <header className="group/header flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="text-page font-semibold tracking-tight wrap-anywhere">{heading}</h1>
          {note !== undefined && <div className="mt-0.5 max-w-prose text-muted">{note}</div>}
        </div>
        {(actions !== undefined || guide !== null) && (
          // Full width on phones and tablets if tabs follow. Otherwise the number of buttons would change the position of the tabs.
          <div className="flex flex-wrap items-center gap-2 max-sm:gap-1.5 max-lg:group-has-[+nav]/header:w-full">
            {guide !== null && <GuideLink href={guide} />}
            {actions}
          </div>
        )}
      </header>
      {children}
    </div>
  );
}

/** Address of the documentation about the current page; null if there is none. */
export const GuideContext = createContext<string | null>(null);

function GuideLink({ href }: { href: string }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener"
      className="inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-muted hover:bg-hover hover:text-ink"
    >
      <BookOpenText className="size-4" aria-hidden />
      <span className="max-sm:sr-only">Guide</span>
      <span className="sr-only"> to this page, opens in a new tab</span>
    </a>
  );
}

/** Sets the tab title, including the environment so that tabs are not confused. */
export function useTabTitle(title: string): void {
  const environment = useContext(EnvironmentContext);
  const full =
    environment === null ? `${title} · Purser` : `${title} · ${ENVIRONMENT_NAMES[environment]} · Purser`;
  useEffect(() => {
    document.title = full;
  }, [full]);
}

type Environment = "test" | "live";

/** Environment of the current page; null on workspace pages. */
export const EnvironmentContext = createContext<Environment | null>(null);

const EDGES = { test: "edge-test", live: "edge-live" } as const;

/** Class of the colored bar that marks the environment. */
export function useEdge(): string | null {
  const environment = useContext(EnvironmentContext);
  return environment === null ? null : EDGES[environment];
}

/** A page section. `flush` removes the padding, for example for a table. */
export function Card({
  title,
  note,
  actions,
  flush = false,
  children,
}: {
  title?: ReactNode;
  note?: ReactNode;
  actions?: ReactNode;
  flush?: boolean;
  children: ReactNode;
}) {
  return (
    <section className="min-w-0 rounded-lg border border-line bg-surface shadow-card">
      {title !== undefined && (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-2">
          <div className="min-w-0">
            <h2 className="text-form font-semibold">{title}</h2>
            {note !== undefined && <p className="text-caption text-muted">{note}</p>}
          </div>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={classNames(!flush && "p-4")}>{children}</div>
    </section>
  );
}

/** Shown instead of an empty list: the reason and the next step. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-6 py-12 text-center">
      <span className="flex size-10 items-center justify-center rounded-full bg-sunken text-muted">
        <Icon className="size-5" aria-hidden />
      </span>
      <div>
        <h3 className="text-form font-semibold">{title}</h3>
        {children !== undefined && <div className="mx-auto mt-1 max-w-md text-muted">{children}</div>}
      </div>
      {action}
    </div>
  );
}

/** A list of names and values. */
export function Details({ items }: { items: readonly { name: string; value: ReactNode }[] }) {
  return (
    <dl className="grid grid-cols-[minmax(6rem,auto)_1fr] gap-x-6 gap-y-2">
      {items.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A key figure. */
export function Figure({ name, value, note }: { name: string; value: ReactNode; note?: ReactNode }) {
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface px-4 py-3 shadow-card">
      <p className="text-caption font-medium text-muted">{name}</p>
      <p className="text-figure font-semibold tracking-tight tabular-nums">{value}</p>
      {note !== undefined && <div className="text-caption text-muted">{note}</div>}
    </div>
  );
}
