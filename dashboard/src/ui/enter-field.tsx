import { type ComponentProps, useState } from "react";
import { TextField } from "./field.tsx";

/** A filter by a whole word, so it waits for Enter: half an id finds nobody. Emptied, it filters no longer. */
export function EnterField({
  label,
  value,
  onEnter,
  ...input
}: {
  label: string;
  value: string;
  onEnter: (text: string) => void;
} & Pick<ComponentProps<"input">, "type" | "placeholder" | "maxLength" | "list" | "pattern" | "title">) {
  const [typed, setTyped] = useState(value);
  // The address may change by itself: back, or a link.
  const [followed, setFollowed] = useState(value);
  if (followed !== value) {
    setFollowed(value);
    setTyped(value);
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onEnter(typed.trim());
      }}
    >
      <TextField
        {...input}
        label={label}
        isLabelHidden
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === "" && value !== "") onEnter("");
        }}
      />
    </form>
  );
}
