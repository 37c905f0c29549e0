import { type ComponentProps, type ReactNode, useId } from "react";
import { classNames } from "./class-names.ts";

const BOX =
  "w-full rounded-md border bg-surface px-2.5 text-form text-ink placeholder:text-muted disabled:opacity-60 " +
  "focus-visible:outline-2 focus-visible:outline-offset-0";

/** A box that looks like a field, around an input and the elements beside it. */
export const GROUP_BOX =
  "flex h-8 w-full items-center rounded-md border bg-surface text-form text-ink " +
  "has-[input:focus-visible]:outline-2 has-[input:focus-visible]:outline-offset-0";

const FILE_BUTTON =
  "py-1 pl-1 file:mr-2.5 file:h-full file:rounded file:border-0 file:bg-sunken file:px-2 file:text-body file:font-medium file:text-ink";

export type FieldText = {
  label: string;
  /** Appended to the label for screen readers only, because the page shows it elsewhere. */
  labelSuffix?: string | undefined;
  hint?: ReactNode;
  error?: string | undefined;
  isLabelHidden?: boolean | undefined;
};

/** A label, an input, and below it the hint or the error. */
export function FieldFrame({
  id,
  text: { label, labelSuffix, hint, error, isLabelHidden = false },
  children,
}: {
  id: string;
  text: FieldText;
  children: ReactNode;
}) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={classNames("text-form font-medium", isLabelHidden && "sr-only")}>
        {label}
        {labelSuffix !== undefined && <span className="sr-only">{labelSuffix}</span>}
      </label>
      {children}
      {error !== undefined ? (
        <p id={`${id}-note`} role="alert" className="text-caption text-bad">
          {error}
        </p>
      ) : (
        hint !== undefined && (
          <p id={`${id}-note`} className="text-caption text-muted">
            {hint}
          </p>
        )
      )}
    </div>
  );
}

export function fieldAttributes(id: string, { hint, error }: FieldText) {
  return {
    id,
    ...(hint === undefined && error === undefined ? {} : { "aria-describedby": `${id}-note` }),
    ...(error === undefined ? {} : { "aria-invalid": true }),
  };
}

export const fieldEdge = ({ error }: FieldText): string =>
  error === undefined ? "border-line-strong" : "border-bad";

/** Props of a new-password field. The API enforces the same minimum length. */
export const NEW_PASSWORD = {
  type: "password",
  autoComplete: "new-password",
  hint: "At least 12 characters.",
  required: true,
  minLength: 12,
} as const;

export function TextField({
  label,
  hint,
  error,
  labelSuffix,
  isLabelHidden,
  isMono = false,
  ...input
}: FieldText & { isMono?: boolean } & Omit<ComponentProps<"input">, "id" | "className">) {
  const id = useId();
  const text = { label, hint, error, labelSuffix, isLabelHidden };
  return (
    <FieldFrame id={id} text={text}>
      <input
        {...input}
        {...fieldAttributes(id, text)}
        className={classNames(
          BOX,
          "h-8",
          fieldEdge(text),
          isMono && "font-mono text-body",
          input.type === "file" && FILE_BUTTON,
        )}
      />
    </FieldFrame>
  );
}

export function TextArea({
  label,
  hint,
  error,
  isMono = false,
  ...input
}: FieldText & { isMono?: boolean } & Omit<ComponentProps<"textarea">, "id" | "className">) {
  const id = useId();
  const text = { label, hint, error };
  return (
    <FieldFrame id={id} text={text}>
      <textarea
        rows={4}
        {...input}
        {...fieldAttributes(id, text)}
        className={classNames(BOX, "py-1.5", fieldEdge(text), isMono && "font-mono text-body")}
      />
    </FieldFrame>
  );
}

type Option = { value: string; label: string; isDisabled?: boolean; group?: string };

function Options({ options }: { options: readonly Option[] }) {
  return options.map(({ value, label, isDisabled = false }) => (
    <option key={value} value={value} disabled={isDisabled}>
      {label}
    </option>
  ));
}

/** The native select, for keyboard, screen reader and phone support. */
export function Select({
  label,
  hint,
  error,
  labelSuffix,
  isLabelHidden,
  isFitted = false,
  options,
  ...input
}: FieldText & {
  /** As wide as its text, for a row of filters. */
  isFitted?: boolean;
  /** Options of a group are shown together under its name. */
  options: readonly Option[];
} & Omit<ComponentProps<"select">, "id" | "className" | "children">) {
  const id = useId();
  const text = { label, hint, error, labelSuffix, isLabelHidden };
  return (
    <FieldFrame id={id} text={text}>
      <select
        {...input}
        {...fieldAttributes(id, text)}
        className={classNames(
          BOX,
          "h-8",
          fieldEdge(text),
          isFitted && "w-auto max-w-full [field-sizing:content] max-sm:w-full",
        )}
      >
        {[...Map.groupBy(options, ({ group }) => group)].map(([group, within]) =>
          group === undefined ? (
            <Options key="" options={within} />
          ) : (
            <optgroup key={group} label={group}>
              <Options options={within} />
            </optgroup>
          ),
        )}
      </select>
    </FieldFrame>
  );
}

export function Checkbox({
  label,
  hint,
  ...input
}: { label: ReactNode; hint?: ReactNode } & Omit<ComponentProps<"input">, "id" | "type" | "className">) {
  const id = useId();
  return (
    <div className="flex items-start gap-2">
      <input
        {...input}
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-form">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-note`} className="text-caption text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
