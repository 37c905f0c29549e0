import type { ComponentProps } from "react";
import { TextField } from "../../ui/field.tsx";

const NEEDED = "Required.";

export const KEY_RULES = {
  required: NEEDED,
  pattern: {
    value: /^[A-Za-z0-9][A-Za-z0-9._:-]*$/,
    message: "Start with a letter or digit. Then use only letters, digits and . _ : -",
  },
};

export const NAME_RULES = { validate: (name: string) => (name.trim() === "" ? NEEDED : undefined) };

type FieldProps = Omit<ComponentProps<typeof TextField>, "label">;

/** Key of a feature, plan or pool, used in code. */
export function KeyField(field: FieldProps) {
  return (
    <TextField
      label="Key"
      hint="Used in code. Cannot be changed later. Use only letters, digits and . _ : -"
      isMono
      autoComplete="off"
      spellCheck={false}
      maxLength={120}
      {...field}
    />
  );
}

export function NameField(field: FieldProps) {
  return <TextField label="Name" autoComplete="off" maxLength={120} {...field} />;
}
