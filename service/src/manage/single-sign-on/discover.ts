import * as oidc from "openid-client";
import { isLoopbackHost } from "../../primitives/network.ts";
import type { SignOnFailure } from "./failures.ts";
import type { SignOnSettings } from "./settings.ts";

export const TIMEOUT_SECONDS = 5;

export type Failed = { readonly kind: "failed"; readonly code: SignOnFailure; readonly cause: string };

/** Reads the provider's metadata. Throws if its issuer is not the issuer in the settings. */
export async function discover(settings: SignOnSettings): Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  const server = new URL(issuer);
  const isLocal = server.protocol === "http:" && isLoopbackHost(server.hostname);
  const metadata = (
    await oidc
      .discovery(server, clientId, undefined, undefined, {
        timeout: TIMEOUT_SECONDS,
        execute: isLocal ? [oidc.allowInsecureRequests] : [],
      })
      .catch((error: unknown) => {
        if (error instanceof oidc.ClientError && error.code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED")
          throw new Misconfigured("the provider's issuer is not OIDC_ISSUER");
        throw error;
      })
  ).serverMetadata();
  // The library ignores a slash at the end, and accepts any issuer of Entra ID.
  if (metadata.issuer !== issuer)
    throw new Misconfigured(`the provider's issuer is ${metadata.issuer}, but OIDC_ISSUER is ${issuer}`);
  // The specification's default is `client_secret_basic`.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const authenticate = methods.includes("client_secret_basic")
    ? oidc.ClientSecretBasic
    : oidc.ClientSecretPost;
  const configuration = new oidc.Configuration(metadata, clientId, undefined, authenticate(clientSecret));
  configuration.timeout = TIMEOUT_SECONDS;
  if (isLocal) oidc.allowInsecureRequests(configuration);
  // Without this, the library trusts the TLS connection and does not check the ID token's signature.
  oidc.enableNonRepudiationChecks(configuration);
  return configuration;
}

class Misconfigured extends Error {
  override readonly name = "Misconfigured";
}

/** Errors of the token endpoint that only the operator can fix. */
const CLIENT_ERRORS = ["invalid_client", "unauthorized_client", "invalid_scope", "unsupported_grant_type"];

/**
 * The failure without the provider's response, which can contain tokens. `rejected` is the code if the provider rejects our credentials.
 */
export function failure(error: unknown, rejected: SignOnFailure = "provider_misconfigured"): Failed {
  const failed = (code: SignOnFailure, cause: string): Failed => ({ kind: "failed", code, cause });
  if (error instanceof Misconfigured) return failed("provider_misconfigured", error.message);
  if (error instanceof oidc.AuthorizationResponseError)
    return failed("provider_refused", shorten(error.error));
  if (error instanceof oidc.WWWAuthenticateChallengeError)
    return failed(rejected, `the provider rejected the credentials with status ${error.status}`);
  if (error instanceof oidc.ResponseBodyError) {
    const isClients = CLIENT_ERRORS.includes(error.error);
    return failed(isClients ? "provider_misconfigured" : "response_invalid", shorten(error.error));
  }
  if (error instanceof oidc.ClientError) {
    const { code = "unknown", message } = error;
    const cause = `${message} (${code})`;
    return failed(UNREACHABLE.has(code) ? "provider_unreachable" : "response_invalid", cause);
  }
  if (error instanceof TypeError) {
    const { cause } = error;
    return failed("provider_unreachable", cause instanceof Error ? cause.message : error.message);
  }
  // The message could contain parts of the response, so only the place is kept.
  const { name, stack = "" } = error instanceof Error ? error : { name: typeof error };
  return failed("response_invalid", `unexpected ${name} ${/^ +(at .*)$/m.exec(stack)?.[1] ?? ""}`.trim());
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

function shorten(text: string): string {
  return text.replaceAll(/[^\w .-]/g, "").slice(0, 100);
}
