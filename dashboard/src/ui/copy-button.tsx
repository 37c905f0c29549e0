import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "./button.tsx";
import { tell } from "./toast.tsx";

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
