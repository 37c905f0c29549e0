import { queryClient } from "../../api/query-client.ts";
import { usePlace } from "../../frame/use-place.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Callout } from "../../ui/callout.tsx";
import { Dialog, DialogActions } from "../../ui/dialog.tsx";
import { TryForm, type TryStart } from "./try-form.tsx";

/** How long after an answer its request is in the log, and some more. */
const LOG_DELAY_MS = 2_000;

/** One request sent many times at once, to see with your own eyes that it is charged once. */
export function TryDialog({ start, onClose }: { start: TryStart; onClose: () => void }) {
  const place = usePlace();
  const readAgain = (): void => {
    void queryClient.invalidateQueries({ queryKey: ["requests", place] });
    void queryClient.invalidateQueries({ queryKey: ["key", place] });
  };
  const close = (): void => {
    onClose();
    readAgain();
    // Whoever closes at once is ahead of the log.
    setTimeout(readAgain, LOG_DELAY_MS);
  };
  if (place.environment === "live") return <NotInLive onClose={onClose} />;
  return (
    <Dialog
      isOpen
      onClose={close}
      title="Send a request many times"
      note="All at once, by the way that your backend's requests go. One key means one charge, however often it is sent."
      isWide
    >
      <TryForm start={start} onClose={close} />
    </Dialog>
  );
}

function NotInLive({ onClose }: { onClose: () => void }) {
  const { projectId } = usePlace();
  return (
    <Dialog isOpen onClose={onClose} title="Only in the test environment">
      <Callout tone="warn">
        A try is a real request. In live it would charge a customer who pays for it, so it is not offered
        here. In test it goes the very same way.
      </Callout>
      <DialogActions>
        <ButtonLink
          tone="primary"
          to="/projects/$projectId/$environment/requests"
          params={{ projectId, environment: "test" }}
          search={{ do: "try" }}
        >
          Try it in test
        </ButtonLink>
      </DialogActions>
    </Dialog>
  );
}
