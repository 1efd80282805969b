// The wire: JSON lines on stdin and stdout. console.log is led to stderr, as only replies may stand on stdout.
import { createInterface } from "node:readline";

export class Rejected extends Error {}
export class Skipped extends Error {}

export function markers(text) {
  return [...new Set(text.match(/\[\[[A-Za-z0-9_.:-]+\]\]/g))].join(" ");
}

async function replyTo(adapter, request) {
  if (request.cmd === "start") {
    const { implementation, observes, tokens } = adapter;
    return { version: 1, implementation, events: Object.keys(adapter.events), observes, ...(tokens && { tokens }) };
  }
  const reply = { seq: request.seq, status: "applied" };
  try {
    if (request.cmd === "reset") await adapter.reset(request.config ?? {});
    else {
      const handler = adapter.events[request.event.type];
      if (!handler) throw new Skipped(`no event ${request.event.type}`);
      await handler(request.event);
    }
    reply.observation = await adapter.observe();
  } catch (error) {
    if (error instanceof Rejected || error instanceof Skipped) {
      reply.status = error instanceof Rejected ? "rejected" : "skipped";
      reply.observation = await adapter.observe();
    } else {
      console.error(error);
      reply.status = "errored";
      reply.observation = {};
    }
    reply.reason = String(error instanceof Error ? error.message : error).slice(0, 500);
  }
  return reply;
}

export async function serve(adapter) {
  console.log = console.error;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (!line.trim()) continue;
    const request = JSON.parse(line);
    if (request.cmd === "stop") break;
    process.stdout.write(JSON.stringify(await replyTo(adapter, request)) + "\n");
  }
  process.exit(0);
}
