// Confirms with @earendil-works/pi-coding-agent alone what the field report says of it.
// Exits 0 when every finding of the given version is there (and, for 1.6.0, what it mended is mended), 1 otherwise.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./package.mjs";

const [version] = process.argv.slice(2);
const { SessionManager, prepareCompaction } = await load(version);
const folder = mkdtempSync(join(tmpdir(), "pi-confirm-"));
const open = (manager) => SessionManager.open(manager.getSessionFile(), folder);
const user = (manager, content) => manager.appendMessage({ role: "user", content, timestamp: Date.now() });
const assistant = (manager, text) =>
  manager.appendMessage({ role: "assistant", content: [{ type: "text", text }], provider: "fake", model: "fake", stopReason: "stop", timestamp: Date.now() });
const texts = (manager) =>
  manager.buildSessionContext().messages.map((m) => m.summary ?? (typeof m.content === "string" ? m.content : m.content[0].text));

const checks = {
  // Going back in the tree moves a pointer that is not stored: a reload is on the last entry written.
  leaf() {
    const manager = SessionManager.create(folder, folder);
    user(manager, "first");
    const kept = assistant(manager, "ok");
    user(manager, "taken back");
    assistant(manager, "ok");
    manager.branch(kept);
    const live = texts(manager);
    const reloaded = texts(open(manager));
    console.log("leaf: live", live, "reloaded", reloaded);
    return !live.includes("taken back") && reloaded.includes("taken back");
  },
  // The same before the first prompt.
  root() {
    const manager = SessionManager.create(folder, folder);
    user(manager, "taken back");
    assistant(manager, "ok");
    manager.resetLeaf();
    const reloaded = texts(open(manager));
    console.log("root: live", texts(manager), "reloaded", reloaded);
    return texts(manager).length === 0 && reloaded.includes("taken back");
  },
  // A fork drops label entries; in 0.74.2 what was appended after a label loses its parent, and all before it is gone.
  label() {
    const manager = SessionManager.create(folder, folder);
    manager.appendLabelChange(user(manager, "first"), "bookmark");
    assistant(manager, "ok");
    const live = texts(manager);
    manager.createBranchedSession(manager.getLeafId());
    const forked = texts(open(manager));
    console.log("label: live", live, "forked", forked);
    return forked.includes("first") === (version !== "0.74.2");
  },
  // The same through a compaction that keeps from a label entry on: the kept messages are gone as well.
  keptLabel() {
    const manager = SessionManager.create(folder, folder);
    const first = user(manager, "first");
    assistant(manager, "ok");
    manager.appendLabelChange(first, "bookmark");
    user(manager, "kept");
    const { firstKeptEntryId, tokensBefore } = prepareCompaction(manager.getBranch(), { enabled: true, reserveTokens: 0, keepRecentTokens: 1 });
    manager.appendCompaction("SUMMARY", firstKeptEntryId, tokensBefore);
    assistant(manager, "ok");
    const live = texts(manager);
    manager.createBranchedSession(manager.getLeafId());
    const forked = texts(open(manager));
    console.log("keptLabel: live", live, "forked", forked);
    return live.includes("kept") && forked.includes("kept") === (version !== "0.74.2");
  },
  // A limit of 0.74.2: nothing is written before the first answer, so a prompt is lost in a crash.
  unanswered() {
    const manager = SessionManager.create(folder, folder);
    user(manager, "first");
    const written = existsSync(manager.getSessionFile());
    console.log("unanswered: a session with a prompt and no answer is", written ? "on disk" : "not on disk");
    return written === (version !== "0.74.2");
  },
};

const found = Object.values(checks).map((check) => check());
rmSync(folder, { recursive: true, force: true });
process.exit(found.every(Boolean) ? 0 : 1);
