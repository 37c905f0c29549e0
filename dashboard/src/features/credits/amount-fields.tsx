import type { UseFormRegister } from "react-hook-form";
import { GRANT_NAMES } from "../../format/ledger.ts";
import { capitalize } from "../../format/terms.ts";
import { formatTime, nameOfClock } from "../../format/times.ts";
import { Segments } from "../../ui/choices.tsx";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/time.tsx";
import { type CreditsBody, type CreditsForm, EXPIRIES, type Expiry } from "./credits-form.ts";

/** Fields for the number and kind of credits, and for the pool if there are several pools. */
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

/** Fields for the expiry of the credits: a preset, or a date. */
export function ExpiryFields({
  expiry,
  expiresAt,
  onExpiry,
  error,
  register,
}: {
  expiry: Expiry;
  expiresAt: string | null;
  onExpiry: (expiry: Expiry) => void;
  error: string | undefined;
  register: UseFormRegister<CreditsForm>;
}) {
  const clock = useClock();
  return (
    <>
      <div className="flex flex-col items-start gap-1 sm:col-span-2">
        <span aria-hidden className="text-form font-medium">
          Expires
        </span>
        <Segments label="Expires" options={EXPIRIES} chosen={expiry} onChoose={onExpiry} wraps />
        {expiry !== "never" && expiry !== "date" && expiresAt !== null && (
          <p className="text-caption text-muted">
            On {formatTime(expiresAt, clock)} {nameOfClock(clock)}.
          </p>
        )}
      </div>
      {expiry === "date" && (
        <div className="sm:col-span-2">
          <TextField
            label="Expires on"
            type="datetime-local"
            hint={`${capitalize(nameOfClock(clock))}.`}
            error={error}
            {...register("expires")}
          />
        </div>
      )}
    </>
  );
}
