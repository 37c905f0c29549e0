import { ArrowRight, type LucideIcon, Minus, Plus } from "lucide-react";
import { classNames } from "../../ui/class-names.ts";
import type { Sentence } from "./plan-sentences.ts";

const LOOKS: Record<Sentence["kind"], { icon: LucideIcon; look: string }> = {
  added: { icon: Plus, look: "bg-good-soft text-good" },
  removed: { icon: Minus, look: "bg-bad-soft text-bad" },
  changed: { icon: ArrowRight, look: "bg-sunken text-muted" },
};

export function SentenceList({ label, sentences }: { label: string; sentences: readonly Sentence[] }) {
  return (
    <ul aria-label={label} className="flex flex-col gap-2">
      {sentences.map(({ kind, text }) => {
        const { icon: Icon, look } = LOOKS[kind];
        return (
          <li key={text} className="flex gap-2.5">
            <span
              aria-hidden
              className={classNames(
                "mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full",
                look,
              )}
            >
              <Icon className="size-3" />
            </span>
            <span className="min-w-0 wrap-anywhere">{text}</span>
          </li>
        );
      })}
    </ul>
  );
}
