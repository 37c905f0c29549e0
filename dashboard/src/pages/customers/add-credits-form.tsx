import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { ApiProblem } from "../../api/api-problem.ts";
import { poolsQuery } from "../../api/catalog-lists.ts";
import { pathIn } from "../../api/path-in.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ApiCall } from "../../ui/api-call.tsx";
import { Button } from "../../ui/button.tsx";
import { DialogActions } from "../../ui/dialog.tsx";
import { useClock } from "../../ui/preferences.ts";
import { ProblemCallout } from "../../ui/problem-callout.tsx";
import { inEnvironment } from "../../words/environments.ts";
import { countOf } from "../../words/numbers.ts";
import { CreditsFields } from "./credits-fields.tsx";
import { type CreditsErrors, type CreditsForm, newOwnReference, readCreditsForm } from "./credits-form.ts";
import { CreditsPreview } from "./credits-preview.tsx";
import { creditsPreviewQuery, twinsOf } from "./credits-preview-query.ts";
import type { Customer } from "./queries.ts";
import { TwinWarning } from "./twin-warning.tsx";
import { useAddCredits } from "./use-add-credits.ts";

export function AddCreditsForm({ customer, onClose }: { customer: Customer; onClose: () => void }) {
  const place = usePlace();
  const clock = useClock();
  const { data: pools } = useSuspenseQuery(poolsQuery(place));
  const [ownReference] = useState(newOwnReference);
  const [accepted, setAccepted] = useState<string | null>(null);
  const twinBox = useRef<HTMLInputElement>(null);
  const { register, control, handleSubmit, formState, setFocus } = useForm<CreditsForm>({
    defaultValues: {
      credits: "",
      kind: "manual",
      pool: pools.find(({ key }) => key === "credits")?.key ?? pools[0]?.key ?? "credits",
      expires: "",
      reference: "",
      price: "",
      currency: "EUR",
      note: "",
    },
  });
  const form = useWatch({ control, compute: (values: CreditsForm) => values });
  const { body, errors } = readCreditsForm(form, { clock, ownReference });
  const {
    data: preview,
    error: previewError,
    isPlaceholderData,
  } = useQuery(creditsPreviewQuery(place, customer.customerId, body));
  const add = useAddCredits(customer, { onAdded: onClose, onTwin: () => twinBox.current?.focus() });
  const shown = body === null ? undefined : preview;
  const twins = shown === undefined || isPlaceholderData ? null : twinsOf(shown);
  const amount = countOf(body?.credits ?? 0, "credit");
  const isBusy = formState.isSubmitting || add.isPending;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={handleSubmit(async () => {
        if (errors !== null) return setFocus(firstOf(errors));
        // What went wrong stands below; nothing is thrown further.
        await add.mutateAsync({ body, accepted }).catch(() => {});
      })}
    >
      <CreditsFields
        register={register}
        pools={pools}
        isPurchase={form.kind === "purchase"}
        price={body?.price}
        errors={formState.isSubmitted || form.credits !== "" ? (errors ?? {}) : {}}
      />
      {previewError === null || body === null ? (
        <CreditsPreview preview={shown} isAsked={body !== null} isOld={isPlaceholderData} />
      ) : (
        <ProblemCallout error={previewError} />
      )}
      {shown !== undefined && twins !== null && (
        <TwinWarning
          twins={shown.twins}
          amount={amount}
          isAccepted={accepted === twins}
          onAccept={(isAccepted) => setAccepted(isAccepted ? twins : null)}
          boxRef={twinBox}
        />
      )}
      {/* Adding looks once more before it adds: where that failed it stands above already. */}
      {add.error !== previewError && <ProblemCallout error={add.error} />}
      {isOutcomeUnknown(add.error) && (
        <p className="text-muted">Trying again is safe: what this form adds is added once.</p>
      )}
      {body !== null && (
        <ApiCall
          call={{ method: "POST", path: pathIn(place, "customers", customer.customerId, "credits"), body }}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          tone="primary"
          isBusy={isBusy}
          isDisabled={(twins !== null && accepted !== twins) || shown?.outcome === "refused"}
        >
          {inEnvironment(body === null ? "Add credits" : `Add ${amount}`, place.environment)}
        </Button>
      </DialogActions>
    </form>
  );
}

function firstOf(errors: CreditsErrors): keyof CreditsForm {
  return errors.credits !== undefined ? "credits" : errors.expires !== undefined ? "expires" : "price";
}

function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.code === "outcome_unknown");
}
