// Loads the parts of the package that the scripts drive, by file: on Node 20 the entry point of 1.6.0 does not load.
import { pathToFileURL } from "node:url";
import { join } from "node:path";

export async function load(version) {
  const root = process.env.PI_ROOT ?? join(import.meta.dirname, version, "node_modules");
  const part = (file) => import(pathToFileURL(join(root, "@earendil-works/pi-coding-agent/dist/core", file)).href);
  const [sessions, compaction, messages] = await Promise.all([
    part("session-manager.js"),
    part("compaction/compaction.js"),
    part("messages.js"),
  ]);
  return { ...sessions, ...compaction, ...messages };
}
