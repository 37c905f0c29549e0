import type { Provider } from "./provider.ts";
import type { SignOnSettings } from "./settings.ts";

/** Loads the client library only if single sign-on is set up, because most installations do not use it. */
export async function openProvider(settings: SignOnSettings | null): Promise<Provider | null> {
  return settings === null ? null : new (await import("./provider.ts")).Provider(settings);
}
