import { globSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Where `npm run dev` serves; while you work on the dashboard, Vite asks it for everything that is not a page. */
const SERVICE = process.env["PURSER_URL"] ?? "http://127.0.0.1:3300";

/** Without these every icon that two pages share would be a file, and a first page fifty of them. */
const GROUPS = [
  // Drawn when a page is there already; the only thing that is large and can wait.
  {
    name: "charts",
    test: /node_modules\/(recharts|victory-vendor|d3-|@reduxjs|react-redux|redux|immer|reselect|es-toolkit|decimal)/,
    includeDependenciesRecursively: false,
    priority: 2,
  },
  {
    name: "shared",
    test: /node_modules|dashboard\/src\/(api|frame|ui|words)\//,
    minShareCount: 2,
    priority: 1,
  },
];

export default defineConfig({
  plugins: [react(), tailwindcss(), compress()],
  build: {
    // Where light-dark() is known; nothing older is asked for.
    target: ["chrome123", "firefox120", "safari17.5"],
    // The service sends a strict policy: nothing may be inlined as data.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: {
    host: "127.0.0.1",
    // With the Host that the browser sees: the service compares it with the Origin of every write.
    proxy: Object.fromEntries(
      ["/manage", "/v1", "/docs", "/openapi"].map((path) => [path, { target: SERVICE, changeOrigin: false }]),
    ),
  },
});

/** Once, while building: the service then sends files as they lie there, and compresses nothing itself. */
function compress(): Plugin {
  let directory = "";
  return {
    name: "compress",
    apply: "build",
    configResolved: ({ build }) => {
      directory = build.outDir;
    },
    closeBundle: () => {
      for (const file of globSync(`${directory}/**/*.{js,css,svg,html}`)) {
        const content = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content));
      }
    },
  };
}
