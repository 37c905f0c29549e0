import { CopyButton } from "./copy-button.tsx";

export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard too */}
      <section tabIndex={0} aria-label={label} className="overflow-x-auto p-3 pr-12">
        <pre className="font-mono text-caption text-ink">{code}</pre>
      </section>
      <div className="absolute top-1 right-1 rounded-md bg-sunken">
        <CopyButton text={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}
