import { type Browser, type BrowserContext, chromium } from "playwright-core";

/** Chromium without the browser around its pages, which costs six times as much processor time as they do. */
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

/** What the pages of a context say on the console, errors and warnings, and what they throw. */
export function collectComplaints(
  context: BrowserContext,
  onComplaint: (text: string, page: string) => void,
): void {
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    // Chromium says so of every refused call, by itself; what the page makes of it is what we look at.
    if (EXPECTED.test(message.text())) return;
    onComplaint(message.text(), message.page()?.url() ?? "");
  });
  context.on("weberror", (error) => onComplaint(error.error().message, error.page()?.url() ?? ""));
}
