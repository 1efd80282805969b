// @ts-check
// The adapter: it translates the protocol's events into calls of your implementation.
//
//     foldproof smoke -- node adapter.js
//     foldproof conform -- node adapter.js
//
// `Session` stands for your implementation: replace it by an import. It runs as it is.
import { Rejected, serve } from "./protocol.js";

/** A toy session: it stores messages, takes prompts back, and replaces the past by a summary. */
class Session {
  /** @type {{ role: string, origin: string, text: string }[]} */
  messages = [];

  sentToTheModel() {
    return this.messages;
  }

  /** @param {number} prompts */
  takeBack(prompts) {
    const places = this.messages.flatMap((message, place) => (message.origin === "user" ? [place] : []));
    if (prompts > places.length) throw new RangeError("there are not so many prompts");
    this.messages.length = /** @type {number} */ (places.at(-prompts));
  }

  /** @param {string} summary */
  summarize(summary) {
    this.messages = [{ role: "user", origin: "summary", text: summary }];
  }
}

let session = new Session();

/** @type {import("./protocol.js").Adapter} */
const adapter = {
  implementation: { name: "toy", language: "typescript", version: "0" },
  observes: ["view", "history_length"],
  reset() {
    session = new Session();
  },
  // One handler an event; leave out what your implementation does not do.
  events: {
    append({ message: { role, origin, text } }) {
      session.messages.push({ role, origin, text });
    },
    undo({ count }) {
      try {
        session.takeBack(count);
      } catch (error) {
        throw new Rejected(String(error)); // your implementation refuses: say so, its state is as before
      }
    },
    clear() {
      session = new Session();
    },
    compact({ summary }) {
      if (!session.messages.length) throw new Rejected("nothing to compact");
      session.summarize(summary);
    },
  },
  // What would be sent to the model now, asked of the implementation itself: never kept beside it.
  observe() {
    const view = session.sentToTheModel().map(({ role, text }) => ({ role, text }));
    return { view, history_length: session.messages.length };
  },
};

await serve(adapter);
