import { Check } from "lucide-react";
import { Children, type ReactNode } from "react";

/** What to do, in order. */
export function Steps({ children }: { children: ReactNode }) {
  return (
    <ol className="flex flex-col gap-6">
      {Children.map(children, (step, index) => (
        <li className="flex gap-3">
          <span
            aria-hidden
            className="flex size-6 shrink-0 items-center justify-center rounded-full bg-sunken text-caption font-semibold text-muted"
          >
            {index + 1}
          </span>
          {step}
        </li>
      ))}
    </ol>
  );
}

/** Its text first, then the buttons. */
export function Step({
  title,
  isDone = false,
  children,
}: {
  title: string;
  isDone?: boolean;
  children: ReactNode;
}) {
  const [text, ...buttons] = Children.toArray(children);
  return (
    <div className="min-w-0 flex-1">
      <h3 className="flex h-6 items-center gap-1.5 text-form font-medium">
        {title}
        {isDone && <Check className="size-4 text-good" aria-label="done" />}
      </h3>
      <div className="text-muted">{text}</div>
      <div className="mt-2 flex flex-wrap gap-2">{buttons}</div>
    </div>
  );
}
