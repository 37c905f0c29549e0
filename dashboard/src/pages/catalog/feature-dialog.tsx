import { useSuspenseQuery } from "@tanstack/react-query";
import { useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ArchiveFeature } from "./archive-feature.tsx";
import { EditFeatureForm } from "./edit-feature-form.tsx";
import { FeatureDetails } from "./feature-details.tsx";
import { featureQuery } from "./queries.ts";

/** One feature: to change for who may, to read for who may not. */
export function FeatureDialog({ featureKey, onClose }: { featureKey: string; onClose: () => void }) {
  const { data: current } = useSuspenseQuery(featureQuery(usePlace(), featureKey));
  const mayEdit = useMayActAs("admin");
  // Held: what comes in behind it must not slip under what is being typed.
  const [opened, setOpened] = useState(current);
  const [isArchiving, setArchiving] = useState(false);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={opened.value.name}
      note={<span className="font-mono text-caption">{featureKey}</span>}
    >
      {!mayEdit ? (
        <FeatureDetails feature={current.value} />
      ) : isArchiving ? (
        <ArchiveFeature
          opened={opened}
          onReadAgain={setOpened}
          onBack={() => setArchiving(false)}
          onClose={onClose}
        />
      ) : (
        <EditFeatureForm
          opened={opened}
          onReadAgain={setOpened}
          onArchive={() => setArchiving(true)}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}
