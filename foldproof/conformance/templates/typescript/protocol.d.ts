/** The conformance protocol, version 1. */
export interface Message {
  id: string;
  role: "user" | "assistant" | "tool" | "system";
  origin: string;
  text: string;
}

export type ProtocolEvent =
  | { type: "append"; message: Message }
  | { type: "call"; kind: "open" | "close" | "next"; call: string; summary?: string; memory?: string }
  | { type: "step_end" }
  | { type: "measure"; tokens?: number }
  | { type: "undo"; count: number }
  | { type: "clear" }
  | { type: "compact"; summary: string; keep?: number; frozen?: boolean }
  | { type: "restore" }
  | { type: "toggle"; enabled: boolean }
  // Extensions, for what a harness has in a form of its own: lines of one session, one exchange, one answer.
  | { type: "branch"; name: string; count: number }
  | { type: "switch"; name: string }
  | { type: "remove"; prompt: string }
  | { type: "regenerate"; prompt: string; message: Message };

export interface ViewItem {
  role: string;
  text: string;
  synthetic?: "memory" | "status";
  calls?: string[];
  result_of?: string;
}

export interface Observation {
  view?: ViewItem[];
  history_length?: number;
  anchors?: { name: string; value: number; bound: "exclusive" | "inclusive" }[];
  trigger?: number;
  view_tokens?: number;
  committed?: string[];
  pending?: string | null;
}

export interface Adapter {
  implementation: { name: string; language: string; version?: string; homepage?: string };
  observes: (keyof Observation)[];
  tokens?: { tolerance?: number; overhead?: number };
  reset(config: Record<string, unknown>): void | Promise<void>;
  observe(): Observation | Promise<Observation>;
  /** One handler an event; the events listed here are those that can be sent. */
  events: {
    [Name in ProtocolEvent["type"]]?: (event: Extract<ProtocolEvent, { type: Name }>) => void | Promise<void>;
  };
}

/** The implementation refuses the event; its state is as before. */
export class Rejected extends Error {}
/** The adapter cannot do this event here; the implementation was not asked. */
export class Skipped extends Error {}
/** The marks in a text, in order, each once: what a fake summarizer says. */
export function markers(text: string): string;
/** Answer requests on stdin until `stop`. */
export function serve(adapter: Adapter): Promise<void>;
