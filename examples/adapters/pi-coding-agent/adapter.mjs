// @earendil-works/pi-coding-agent over the conformance protocol: the session tree, branches, labels, forks, compaction.
//
// Run as `adapter.mjs VERSION [OPTION...]`. Options: `label` bookmarks every prompt when it is appended; `fork` makes a
// restore extract the current path into a session file of its own (createBranchedSession) and open that; it has no other
// line, so lines are offered without `fork` only.
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
let line, lines;
const begin = () => {
  manager = pi.SessionManager.create(folder, folder);
  [line, lines] = ["main", {}];
};
function go(leaf) {
  if (leaf !== null && !manager.getEntry(leaf)) throw new Rejected(`the entry ${leaf} is not in the session`);
  if (leaf === null) manager.resetLeaf();
  else manager.branch(leaf);
}
// "Branch-local", says the package of an edit: going back to before it takes it back as well. Then it is skipped.
function keepEdits(id) {
  const path = manager.getBranch();
  const after = path.slice(path.findIndex((entry) => entry.id === id));
  if (after.some((entry) => entry.type === "context_edit")) throw new Skipped("a message was left out after that prompt");
}
// A prompt and what follows it up to the next prompt.
const isPrompt = (entry) => entry.type === "message" && entry.message.role === "user";
function exchange(marker) {
  const path = manager.getBranch();
  const start = path.findIndex((entry) => isPrompt(entry) && textOf(entry.message).includes(`[[${marker}]]`));
  const after = path.findIndex((entry, place) => place > start && isPrompt(entry));
  return path.slice(start, after < 0 ? undefined : after);
}

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
    const prompts = manager.getBranch().filter(isPrompt);
    if (count > prompts.length) throw new Rejected(`undo of ${count} prompts, but the branch holds ${prompts.length}`);
    const prompt = prompts.at(-count);
    const { parentId } = prompt;
    keepEdits(prompt.id);
    go(parentId);
  },
  clear() {
    manager.newSession();
    lines = {};
  },
  // The answer is left behind, as /tree goes back to a prompt and the turn is run again.
  regenerate({ prompt, message }) {
    const [asked] = exchange(prompt);
    if (asked === undefined) throw new Rejected(`${prompt} is not on the branch`);
    if (exchange(prompt).at(-1) !== manager.getBranch().at(-1)) throw new Skipped("a turn answers the last prompt");
    keepEdits(asked.id);
    manager.branch(asked.id);
    events.append({ message });
  },
  // Lines are leaves of the tree: the one that is left is remembered, and gone back to with /tree.
  branch({ name, count }) {
    const leaf = manager.getLeafId();
    if (count) events.undo({ count });
    [lines[line], line] = [leaf, name];
  },
  switch({ name }) {
    const leaf = manager.getLeafId();
    go(lines[name]);
    [lines[line], line] = [leaf, name];
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

// One message is left out of the context for good, as extensions do it from 1.x on.
if (pi.SessionManager.prototype.appendContextEdit) {
  events.remove = ({ prompt }) => {
    const shown = new Set(manager.buildContextEntries().map((entry) => entry.id));
    const taken = exchange(prompt).filter((entry) => entry.type === "message");
    // What is summarised is no "model-visible entry" any more, which is what the package lets be edited.
    if (!taken.length || taken.some((entry) => !shown.has(entry.id))) throw new Rejected(`${prompt} is summarised`);
    for (const entry of taken) manager.appendContextEdit(entry.id, null);
  };
}
if (options.includes("fork")) {
  delete events.branch;
  delete events.switch;
}

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
      implementation: { name: "pi-coding-agent", version, language: "javascript" },
      events: Object.keys(events),
      observes: ["view", "history_length", ...(pi.estimateProjectedContextTokens ? ["trigger", "view_tokens"] : [])],
    };
  }
  const result = { seq: request.seq, status: "applied" };
  try {
    if (request.cmd === "reset") begin();
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
