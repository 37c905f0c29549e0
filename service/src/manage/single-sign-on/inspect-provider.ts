import type { Configuration } from "openid-client";
import { discover, failure, TIMEOUT_SECONDS } from "./discover.ts";
import { redirectUriOf, type SignOnSettings } from "./settings.ts";

/** The result of one check of the provider. */
export type Finding = {
  readonly name: "metadata" | "keys" | "code" | "pkce" | "scopes" | "log_out";
  readonly level: "ok" | "warning" | "failure";
  readonly text: string;
};

type Metadata = ReturnType<Configuration["serverMetadata"]>;

/**
 * Checks from this process whether the provider can be used. Does not check the client ID, its secret or the redirect URI, which only a
 * sign-in can test.
 */
export async function inspectProvider(settings: SignOnSettings): Promise<Finding[]> {
  const found = await discover(settings).catch(failure);
  if ("kind" in found)
    return [
      { name: "metadata", level: "failure", text: `The provider's metadata cannot be used: ${found.cause}.` },
    ];
  const metadata = found.serverMetadata();
  return [
    { name: "metadata", level: "ok", text: `The provider responds. Its issuer is ${metadata.issuer}.` },
    await inspectKeys(metadata.jwks_uri),
    inspectCode(metadata),
    inspectPkce(metadata),
    inspectScopes(settings, metadata),
    inspectLogOut(settings, metadata),
  ];
}

async function inspectKeys(uri: string | undefined): Promise<Finding> {
  const name = "keys";
  if (uri === undefined)
    return { name, level: "failure", text: "The metadata has no address of signing keys (jwks_uri)." };
  try {
    const reply = await fetch(uri, {
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1_000),
    });
    const body: unknown = await reply.json();
    const keys = typeof body === "object" && body !== null && "keys" in body ? body.keys : [];
    const count = Array.isArray(keys) ? keys.length : 0;
    if (count > 0) return { name, level: "ok", text: `The provider publishes its signing keys (${count}).` };
    return { name, level: "failure", text: "The provider publishes no signing keys." };
  } catch {
    return { name, level: "failure", text: "The provider's signing keys cannot be read." };
  }
}

function inspectCode({
  response_types_supported: types,
  authorization_endpoint,
  token_endpoint,
}: Metadata): Finding {
  const name = "code";
  if (authorization_endpoint === undefined || token_endpoint === undefined)
    return { name, level: "failure", text: "The metadata lacks an authorization or token endpoint." };
  if (types !== undefined && !types.includes("code"))
    return { name, level: "failure", text: "The provider does not support the authorization code flow." };
  return { name, level: "ok", text: "The provider supports the authorization code flow." };
}

function inspectPkce({ code_challenge_methods_supported: methods }: Metadata): Finding {
  const name = "pkce";
  if (methods?.includes("S256")) return { name, level: "ok", text: "The provider supports PKCE with S256." };
  return {
    name,
    level: "warning",
    text: "The metadata does not list PKCE with S256. Purser uses it anyway. Microsoft Entra ID supports it without listing it.",
  };
}

function inspectScopes({ scopes }: SignOnSettings, { scopes_supported: known }: Metadata): Finding {
  const name = "scopes";
  const missing = known === undefined ? [] : scopes.split(/\s+/).filter((scope) => !known.includes(scope));
  if (missing.length === 0) return { name, level: "ok", text: `Purser requests the scopes ${scopes}.` };
  return {
    name,
    level: "warning",
    text: `The metadata does not list these scopes: ${missing.join(", ")}.`,
  };
}

function inspectLogOut(settings: SignOnSettings, { end_session_endpoint: endpoint }: Metadata): Finding {
  const name = "log_out";
  if (endpoint === undefined)
    return {
      name,
      level: "ok",
      text: "The provider has no logout page. Logging out ends only the session in Purser.",
    };
  const back = `${new URL(redirectUriOf(settings)).origin}/log-in`;
  return { name, level: "ok", text: `The provider has a logout page. Allow it to return to ${back}.` };
}
