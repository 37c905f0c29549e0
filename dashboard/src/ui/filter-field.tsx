import { type ComponentProps, useEffect, useRef, useState } from "react";
import { TextField } from "./field.tsx";

/** Filters a list while typing; the text is kept in the URL. With `type="search"`, the / key focuses it. */
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

/** Passes typed text on after a delay. Follows other changes of the URL, for example when the user goes back. */
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
    /** Passes the text on immediately, when Enter is pressed. */
    flush(): void {
      send(box.typed);
    },
  };
}

/** A filter by an exact value: applied on Enter, removed when emptied. */
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
  // The URL can also change in other ways, for example when the user goes back.
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
