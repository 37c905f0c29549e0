import { Collapsible } from "@base-ui/react/collapsible";
import { Check, ChevronRight, Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Call } from "../api/use-write.ts";
import { IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { notify } from "./toast.tsx";

export function CodeBlock({
  code,
  label,
  wraps = false,
}: {
  code: string;
  label: string;
  /** Wraps long lines instead of scrolling, for text that is shown as it was sent. */
  wraps?: boolean;
}) {
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region needs keyboard focus */}
      <section tabIndex={0} aria-label={label} className="overflow-x-auto p-3 pr-12">
        <pre
          className={classNames(
            "font-mono text-caption text-ink",
            wraps && "whitespace-pre-wrap wrap-anywhere",
          )}
        >
          {code}
        </pre>
      </section>
      <div className="absolute top-1 right-1 rounded-md bg-sunken">
        <CopyButton text={code} label={`Copy ${label}`} />
      </div>
    </div>
  );
}

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      notify("Could not copy", "The browser blocked copying. Select the text and copy it.");
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  }
  return (
    <IconButton
      icon={isCopied ? Check : Copy}
      label={isCopied ? "Copied" : label}
      onClick={() => void copy()}
    />
  );
}

export function Disclosure({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Collapsible.Root>
      <Collapsible.Trigger className="group inline-flex items-center gap-1 rounded text-body font-medium text-muted hover:text-ink">
        <ChevronRight className="size-3.5 transition-transform group-data-panel-open:rotate-90" aria-hidden />
        {title}
      </Collapsible.Trigger>
      <Collapsible.Panel className="pt-2">{children}</Collapsible.Panel>
    </Collapsible.Root>
  );
}

/** The raw API response. */
export function Json({ label, value }: { label: string; value: object }) {
  return (
    <Disclosure title="JSON">
      <CodeBlock label={label} code={JSON.stringify(value, null, 2)} />
    </Disclosure>
  );
}

/** The equivalent API call as curl. */
export function ApiCall({ call, title = "API call" }: { call: Call; title?: string }) {
  return (
    <Disclosure title={title}>
      <CodeBlock label="the call" code={curlOf(call)} />
    </Disclosure>
  );
}

export function curlOf({ method, path, headers = {}, body }: Call): string {
  const lines = [
    `curl${hasDotSegment(path) ? " --path-as-is" : ""} -X ${method} ${quote(`${window.location.origin}${path}`)}`,
    `-H "Authorization: Bearer $PURSER_TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n  ");
}

/** curl resolves "." and ".." in a path without this option; a customer ID can be either. */
function hasDotSegment(path: string): boolean {
  return /\/\.{1,2}(?=[/?]|$)/.test(path);
}

/** Quotes text for a POSIX shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
