import { type ComponentProps, useEffect, useRef, useState } from "react";
import { TextField } from "./field.tsx";

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

const DELAY_MS = 250;

/**
 * For a box whose text lives in the address: what is typed shows at once and is passed on when the fingers rest. When the
 * address changes by itself (back, a link), the box follows.
 */
function useDebouncedText(value: string, onChange: (text: string) => void) {
  const [box, setBox] = useState({ typed: value, sent: value, value });
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  if (box.value !== value) setBox({ value, sent: value, typed: value === box.sent ? box.typed : value });

  function send(text: string): void {
    clearTimeout(timer.current);
    const sent = text.trim();
    setBox((before) => ({ ...before, sent }));
    onChange(sent);
  }

  return {
    typed: box.typed,
    type(text: string): void {
      clearTimeout(timer.current);
      setBox((before) => ({ ...before, typed: text }));
      timer.current = setTimeout(() => send(text), DELAY_MS);
    },
    /** At once, as Enter means it. */
    flush(): void {
      send(box.typed);
    },
  };
}

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
