import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button.tsx";
import { tell } from "./toast.tsx";

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

export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      tell("Not copied", "The browser refused it. Select the text, and copy it by hand.");
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
