import { useId } from "react";

/** A text file, read here: it goes nowhere before somebody says so. */
export function FileField({ label, onText }: { label: string; onText: (text: string) => void }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-form font-medium">
        {label}
      </label>
      <input
        id={id}
        type="file"
        accept="application/json,.json"
        onChange={({ target }) => void target.files?.[0]?.text().then(onText)}
        className="w-full rounded-md text-body text-muted file:mr-3 file:h-8 file:rounded-md file:border file:border-line file:bg-surface file:px-3 file:text-form file:font-medium file:text-ink hover:file:bg-hover"
      />
    </div>
  );
}
