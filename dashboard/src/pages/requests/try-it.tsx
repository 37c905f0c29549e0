import { getRouteApi } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import type { LoggedRequest } from "./queries.ts";
import { TryDialog } from "./try-dialog.tsx";

const route = getRouteApi("/signed-in/projects/$projectId/$environment/requests");

/** Begins with whom the newest request was about; `?do=try` in the address opens it. */
export function TryIt({ start }: { start: LoggedRequest | undefined }) {
  const isOperator = useMayActAs("operator");
  const navigate = route.useNavigate();
  const isOpen = route.useSearch().do === "try";
  if (!isOperator) return null;
  const show = (isShown: boolean): void =>
    void navigate({
      search: ({ do: _, ...search }) => (isShown ? { ...search, do: "try" as const } : search),
      replace: true,
      resetScroll: false,
    });
  const { customerId, feature } = start ?? { customerId: null, feature: null };
  return (
    <>
      <Button icon={Send} onClick={() => show(true)}>
        Try it
      </Button>
      {isOpen && (
        <TryDialog
          start={{
            ...(customerId === null ? {} : { customerId }),
            ...(feature === null ? {} : { feature }),
          }}
          onClose={() => show(false)}
        />
      )}
    </>
  );
}
