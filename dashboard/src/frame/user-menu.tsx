import { useNavigate } from "@tanstack/react-router";
import { Clock, KeyRound, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { answerOf, api } from "../api/client.ts";
import { forgetEverything } from "../api/leave.ts";
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "../ui/menu.tsx";
import { chooseClock, chooseTheme, type Theme, useClock, useTheme } from "../ui/preferences.ts";
import { tell } from "../ui/toast.tsx";
import { useSession } from "./use-session.ts";

const THEMES = {
  system: { name: "As the system", icon: Monitor, next: "light" },
  light: { name: "Light", icon: Sun, next: "dark" },
  dark: { name: "Dark", icon: Moon, next: "system" },
} as const satisfies Record<Theme, { name: string; icon: typeof Sun; next: Theme }>;

export function UserMenu() {
  const { name, email, role } = useSession();
  const theme = useTheme();
  const clock = useClock();
  const navigate = useNavigate();
  async function logOut(everywhere: boolean): Promise<void> {
    try {
      await answerOf(
        api.DELETE("/manage/v1/session", { params: { query: everywhere ? { everywhere: "true" } : {} } }),
      );
    } catch (error) {
      tell("Not logged out", error instanceof Error ? error.message : undefined);
      return;
    }
    forgetEverything();
    await navigate({ to: "/log-in" });
  }
  return (
    <Menu
      side="top"
      trigger={
        <button
          type="button"
          className="flex h-10 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-left hover:bg-hover"
        >
          <span
            aria-hidden
            className="flex size-7 shrink-0 items-center justify-center rounded-full bg-accent-soft text-caption font-semibold text-accent"
          >
            {name.slice(0, 1).toUpperCase()}
          </span>
          <span className="min-w-0">
            <span className="block truncate text-form font-medium" title={name}>
              {name}
            </span>
            <span className="block truncate text-caption text-muted">{role}</span>
          </span>
        </button>
      }
    >
      <MenuLabel>{email ?? name}</MenuLabel>
      <MenuItem icon={THEMES[theme].icon} onClick={() => chooseTheme(THEMES[theme].next)}>
        Look: {THEMES[theme].name}
      </MenuItem>
      <MenuItem icon={Clock} onClick={() => chooseClock(clock === "utc" ? "local" : "utc")}>
        Times: {clock === "utc" ? "UTC" : "this machine's"}
      </MenuItem>
      <MenuItem
        icon={KeyRound}
        onClick={() => void navigate({ to: "/workspace/settings", hash: "password" })}
      >
        Change password
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={LogOut} onClick={() => void logOut(false)}>
        Log out
      </MenuItem>
      <MenuItem icon={LogOut} onClick={() => void logOut(true)}>
        Log out everywhere
      </MenuItem>
    </Menu>
  );
}
