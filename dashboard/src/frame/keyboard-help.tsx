import { Dialog } from "../ui/dialog.tsx";
import { Kbd } from "../ui/kbd.tsx";
import { PLACE_SECTIONS, WORKSPACE_SECTIONS } from "./sections.ts";

const GENERAL = [
  { keys: ["Ctrl K", "⌘ K"], does: "Search everything" },
  { keys: ["/"], does: "Filter this list" },
  { keys: ["l"], does: "Follow requests live, or pause" },
  { keys: ["Esc"], does: "Close what is open" },
  { keys: ["?"], does: "This help" },
];

export function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const sections = [...PLACE_SECTIONS, ...WORKSPACE_SECTIONS];
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Keyboard shortcuts">
      <ul className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        {GENERAL.map(({ keys, does }) => (
          <Line key={does} keys={keys} does={does} />
        ))}
        {sections.map(({ name, key }) => (
          <Line key={name} keys={[`g ${key}`]} does={`Go to ${name}`} />
        ))}
      </ul>
    </Dialog>
  );
}

function Line({ keys, does }: { keys: readonly string[]; does: string }) {
  return (
    <li className="flex items-center justify-between gap-4">
      {does}
      <span className="flex gap-1">
        {keys.map((key) => (
          <Kbd key={key} keys={key} />
        ))}
      </span>
    </li>
  );
}
