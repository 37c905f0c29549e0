import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";

/** Paste an idempotency key, see what it did. */
export function FindKey() {
  const place = usePlace();
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const idempotencyKey = typed.trim();
  return (
    <form
      className="flex items-end gap-2 max-md:w-full"
      onSubmit={(event) => {
        event.preventDefault();
        if (idempotencyKey === "") return;
        void navigate({
          to: "/projects/$projectId/$environment/keys/$idempotencyKey",
          params: { ...place, idempotencyKey },
        });
      }}
    >
      <div className="w-56 max-md:flex-1">
        <TextField
          label="Idempotency key"
          isLabelHidden
          placeholder="Paste an idempotency key"
          maxLength={255}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      </div>
      <Button type="submit" isDisabled={idempotencyKey === ""}>
        What did it do?
      </Button>
    </form>
  );
}
