import type { UseFormRegister } from "react-hook-form";
import { Select, TextField } from "../../ui/field.tsx";
import { useClock } from "../../ui/preferences.ts";
import { GRANT_WORDS } from "../../words/ledger-words.ts";
import { nameOfClock } from "../../words/moments.ts";
import { formatPrice } from "../../words/numbers.ts";
import type { CreditsBody, CreditsErrors, CreditsForm } from "./credits-form.ts";

const KINDS = ["manual", "purchase", "promotion"] as const;

export function CreditsFields({
  register,
  pools,
  isPurchase,
  price,
  errors,
}: {
  register: UseFormRegister<CreditsForm>;
  pools: readonly { key: string; name: string }[];
  isPurchase: boolean;
  /** As it was understood: where commas and points mean different things, it is read before it is sent. */
  price: CreditsBody["price"];
  errors: CreditsErrors;
}) {
  const clock = useClock();
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Credits"
          inputMode="numeric"
          autoComplete="off"
          autoFocus
          error={errors.credits}
          {...register("credits")}
        />
        <Select
          label="Kind"
          options={KINDS.map((kind) => ({ value: kind, label: GRANT_WORDS[kind] }))}
          {...register("kind")}
        />
        {pools.length > 1 && (
          <Select
            label="Pool"
            options={pools.map(({ key, name }) => ({ value: key, label: name }))}
            {...register("pool")}
          />
        )}
        <TextField
          label="Expires"
          type="datetime-local"
          hint={`Left empty: never. By ${nameOfClock(clock)}.`}
          error={errors.expires}
          {...register("expires")}
        />
        <TextField
          label="Reference"
          placeholder={isPurchase ? "The payment's id" : ""}
          hint="The same one adds once, for ever."
          maxLength={255}
          isMono
          {...register("reference")}
        />
        {isPurchase && (
          <div className="grid grid-cols-[1fr_5rem] gap-2">
            <TextField
              label="Price paid"
              inputMode="decimal"
              placeholder="49.00"
              hint={price && formatPrice(price)}
              error={errors.price}
              {...register("price")}
            />
            <TextField label="Currency" maxLength={3} {...register("currency")} />
          </div>
        )}
      </div>
      <TextField
        label="Note"
        hint="For people. It is kept with the credits."
        maxLength={1_000}
        {...register("note")}
      />
    </>
  );
}
