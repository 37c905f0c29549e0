import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** The headless shell uses a sixth of the CPU time of full Chromium. */
const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium-headless-shell";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const EXPECTED =
  /^Failed to load resource: (the server responded with a status of 4\d\d|net::ERR_INTERNET_DISCONNECTED)/;

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** Reports each console error, console warning and uncaught exception to `onComplaint`. */
export function collectComplaints(
  context: BrowserContext,
  onComplaint: (text: string, page: string) => void,
): void {
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // Chromium logs an error for every failed request. Tests cause 4xx responses and offline errors on purpose.
    if (EXPECTED.test(message.text())) return;
    onComplaint(message.text(), message.page()?.url() ?? "");
  });
  context.on("weberror", (error) => onComplaint(error.error().message, error.page()?.url() ?? ""));
}
