import type { UseFormRegister } from "react-hook-form";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { Select, TextField } from "../../ui/field.tsx";
import type { CreditsBody, CreditsForm } from "./credits-form.ts";

/** How many credits, of which kind, and in which pool if there are several. */
export function AmountFields({
  label,
  kinds,
  pools,
  error,
  register,
}: {
  label: string;
  kinds: readonly CreditsBody["kind"][];
  pools: readonly { key: string; name: string }[];
  error: string | undefined;
  register: UseFormRegister<CreditsForm>;
}) {
  return (
    <>
      <TextField
        label={label}
        inputMode="numeric"
        autoComplete="off"
        autoFocus
        error={error}
        {...register("credits")}
      />
      <Select
        label="Kind"
        options={kinds.map((kind) => ({ value: kind, label: GRANT_NAMES[kind] }))}
        {...register("kind")}
      />
      {pools.length > 1 && (
        <Select
          label="Pool"
          options={pools.map(({ key, name }) => ({ value: key, label: name }))}
          {...register("pool")}
        />
      )}
    </>
  );
}
