// @earendil-works/pi-coding-agent over the conformance protocol: the session tree, branches, labels, forks, compaction.
//
// Run as `adapter.mjs VERSION [OPTION...]`. Options: `label` bookmarks every prompt when it is appended; `fork` makes a
// restore extract the current path into a session file of its own (createBranchedSession) and open that.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { load } from "./package.mjs";

const [version, ...options] = process.argv.slice(2);
const pi = await load(version);
// Nothing of the package may write to stdout, which carries replies and nothing else.
const reply = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

class Rejected extends Error {}
class Skipped extends Error {}

const folder = mkdtempSync(join(tmpdir(), "pi-"));
// Compaction keeps as little as the package can: the last message, and a turn is split for it.
const settings = { enabled: true, reserveTokens: 100, keepRecentTokens: 1 };
let manager;

const textOf = (message) =>
  message.summary ??
  (typeof message.content === "string" ? message.content : message.content.map((block) => block.text ?? "").join(""));
const markers = (text) => (text.match(/\[\[[^[\]]+\]\]/g) ?? []).join(" ");
const usage = (totalTokens) => ({ input: totalTokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens, cost: { total: 0 } });
const estimate = (messages) => messages.reduce((sum, message) => sum + pi.estimateTokens(message), 0);
const context = () => manager.buildSessionContext().messages;

const events = {
  append({ message }) {
    if (message.role === "assistant") {
      const content = [{ type: "text", text: message.text }];
      const answer = { role: "assistant", content, api: "fake", provider: "fake", model: "fake", stopReason: "stop", timestamp: Date.now() };
      // The provider reports the size of the request and of the answer, here by the package's own estimator.
      manager.appendMessage({ ...answer, usage: usage(estimate(context()) + pi.estimateTokens(answer)) });
    } else if (message.role !== "user" || message.origin !== "user") {
      // The package counts every message of the user as a prompt, so an injection would shift an undo.
      throw new Skipped(`a ${message.role} message of origin ${message.origin} has no form of its own here`);
    } else {
      const id = manager.appendMessage({ role: "user", content: message.text, timestamp: Date.now() });
      if (options.includes("label")) manager.appendLabelChange(id, "bookmark");
    }
  },
  // As an extension compacts (session_before_compact): the package prepares, the summary is ours, the package stores it.
  compact() {
    const prepared = pi.prepareCompaction(manager.getBranch(), settings);
    if (!prepared || prepared.messagesToSummarize.length + prepared.turnPrefixMessages.length === 0) return;
    const told = [...prepared.messagesToSummarize, ...prepared.turnPrefixMessages].map(textOf);
    const summary = `Summary of ${markers([prepared.previousSummary ?? "", ...told].join(" "))}`;
    manager.appendCompaction(summary, prepared.firstKeptEntryId, prepared.tokensBefore);
  },
  // As /tree goes back to before a prompt: to the prompt's parent, or before everything.
  undo({ count }) {
    const prompts = manager.getBranch().filter((entry) => entry.type === "message" && entry.message.role === "user");
    if (count > prompts.length) throw new Rejected(`undo of ${count} prompts, but the branch holds ${prompts.length}`);
    const { parentId } = prompts.at(-count);
    if (parentId !== null && !manager.getEntry(parentId)) throw new Rejected(`the prompt's parent ${parentId} is not in the session`);
    if (parentId === null) manager.resetLeaf();
    else manager.branch(parentId);
  },
  clear() {
    manager.newSession();
  },
  restore() {
    if (options.includes("fork")) {
      if (!existsSync(manager.getSessionFile())) throw new Skipped("there is no session file to fork yet");
      if (manager.getLeafId() === null) throw new Skipped("there is no path to fork");
      manager.createBranchedSession(manager.getLeafId());
    }
    const file = manager.getSessionFile();
    // As on the command line: without a file there is nothing to resume.
    manager = existsSync(file) ? pi.SessionManager.open(file, folder) : pi.SessionManager.create(folder, folder);
  },
};

function observe() {
  const messages = context();
  // The number that the threshold is compared with; from 1.x the package checks what a reported usage still covers.
  const size = pi.estimateProjectedContextTokens
    ? pi.estimateProjectedContextTokens(manager.buildSessionProjection(), manager.getBranch())
    : undefined;
  return {
    view: pi.convertToLlm(messages).map((message) => ({ role: message.role, text: textOf(message) })),
    history_length: manager.getBranch().length,
    ...(size ? { trigger: size.tokens, view_tokens: estimate(messages) } : {}),
  };
}

function answer(request) {
  if (request.cmd === "start") {
    return {
      version: 1,
      implementation: { name: "pi-coding-agent", version, language: "javascript", homepage: "https://www.npmjs.com/package/@earendil-works/pi-coding-agent" },
      events: ["append", "undo", "clear", "compact", "restore"],
      observes: ["view", "history_length", ...(pi.estimateProjectedContextTokens ? ["trigger", "view_tokens"] : [])],
    };
  }
  const result = { seq: request.seq, status: "applied" };
  try {
    if (request.cmd === "reset") manager = pi.SessionManager.create(folder, folder);
    else events[request.event.type](request.event);
  } catch (error) {
    if (!(error instanceof Rejected || error instanceof Skipped)) console.error(error);
    Object.assign(result, { status: error instanceof Rejected ? "rejected" : error instanceof Skipped ? "skipped" : "errored", reason: error.message });
  }
  return { ...result, observation: observe() };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.cmd === "stop") break;
  reply(`${JSON.stringify(answer(request))}\n`);
}
rmSync(folder, { recursive: true, force: true });
