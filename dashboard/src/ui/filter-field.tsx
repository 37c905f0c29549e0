import type { ComponentProps } from "react";
import { TextField } from "./field.tsx";
import { useDebouncedText } from "./use-debounced-text.ts";

/** A box that narrows a list as you type; its text lives in the address. With `type="search"` the key / leads to it. */
export function FilterField({
  label,
  value,
  onFilter,
  isLabelShown = false,
  ...input
}: {
  label: string;
  value: string;
  onFilter: (text: string) => void;
  isLabelShown?: boolean;
} & Pick<ComponentProps<"input">, "type" | "placeholder" | "inputMode" | "min" | "maxLength">) {
  const { typed, type, flush } = useDebouncedText(value, onFilter);
  return (
    <TextField
      {...input}
      label={label}
      isLabelHidden={!isLabelShown}
      value={typed}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => type(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") flush();
      }}
    />
  );
}
