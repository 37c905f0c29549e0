import type { ComponentProps } from "react";
import { TextField } from "../../ui/field.tsx";

const NEEDED = "This is needed.";

export const KEY_RULES = {
  required: NEEDED,
  pattern: {
    value: /^[A-Za-z0-9][A-Za-z0-9._:-]*$/,
    message: "Begin with a letter or digit; then also . _ : and -",
  },
};

export const NAME_RULES = { validate: (name: string) => (name.trim() === "" ? NEEDED : undefined) };

type FieldProps = Omit<ComponentProps<typeof TextField>, "label">;

/** What code calls a feature, a plan or a pool. */
export function KeyField(field: FieldProps) {
  return (
    <TextField
      label="Key"
      hint="Letters, digits and . _ : - as your code will send it. It cannot be changed later."
      isMono
      autoComplete="off"
      spellCheck={false}
      maxLength={120}
      {...field}
    />
  );
}

/** What people call it. */
export function NameField(field: FieldProps) {
  return <TextField label="Name" autoComplete="off" maxLength={120} {...field} />;
}
