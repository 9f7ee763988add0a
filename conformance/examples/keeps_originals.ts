/**
 * A worked example: a compactor in TypeScript, and its adapter.
 *
 *     anchorhold smoke 'cmd:node conformance/examples/keeps_originals.ts'
 *     anchorhold check 'cmd:node conformance/examples/keeps_originals.ts'
 *
 * (Node before 22.18 does not run TypeScript: compile both files first, with `tsc` or `esbuild`.)
 *
 * The compactor replaces old messages with what a model says about them, and keeps each original under a reference
 * that the summary names. The adapter below it only translates.
 */

import {
  OperationError,
  serve,
  type Answer,
  type Item,
  type Outcome,
  type Pointer,
  type Settings,
  type Summarise,
  type Turn,
} from "../anchorhold/adapters/anchorhold_sdk.ts";

// -- the compactor, which knows nothing of Anchorhold --------------------------------------------------------------

interface Message {
  id: string;
  role: string;
  content: string | Uint8Array;
  pinned: boolean;
  /** Ids of the tool calls that it makes, and of the one that it answers. */
  calls: string[];
  answers: string | null;
}

interface Summary {
  id: string;
  content: string;
  /** One reference for each original that it stands for. */
  references: string[];
}

type Carrier = { message: Message } | { summary: Summary };
type Model = (prompt: string[]) => Promise<{ text: string; finished: boolean }>;

const KEPT = 4;
const PROMPT = "Summarise the conversation. Keep every name, number, path and decision word for word.";

/** The model gave something that is no summary; the notebook is as it was. */
class NoSummary extends Error {}

/** A conversation that is compacted on request. */
class Notebook {
  readonly #name = `nb-${crypto.randomUUID()}`;
  readonly #originals = new Map<string, Message>();
  #carriers: Carrier[] = [];
  #summaries = 0;

  add(message: Message): void {
    this.#carriers.push({ message });
  }

  get carriers(): readonly Carrier[] {
    return this.#carriers;
  }

  original(reference: string): Message | undefined {
    return this.#originals.get(reference);
  }

  find(words: string): [string, Message] | undefined {
    return [...this.#originals].find(([, message]) => textOf(message).includes(words));
  }

  clear(): void {
    this.#carriers = [];
  }

  /** All but the last messages and those that are pinned; a call goes together with its results or stays with them. */
  #replaceable(): Message[] {
    const messages = this.#carriers.flatMap((carrier) => ("message" in carrier ? [carrier.message] : []));
    const kept = new Set(this.#carriers.slice(-KEPT));
    const old = new Set(
      this.#carriers.flatMap((carrier) =>
        "message" in carrier && !kept.has(carrier) && !carrier.message.pinned ? [carrier.message] : [],
      ),
    );
    for (let size = -1; size !== old.size; ) {
      size = old.size;
      for (const message of old) {
        const unanswered = message.calls.some((call) => !messages.some((other) => other.answers === call));
        const separated = messages.some((other) => !old.has(other) && belongTogether(message, other));
        if (unanswered || separated) old.delete(message);
      }
    }
    return [...old];
  }

  /** Replace all but the last messages; answers with the summary, or with nothing where there was nothing to do. */
  async compact(model: Model): Promise<{ summary: Summary; replaced: Message[] } | undefined> {
    const old = this.#replaceable();
    if (old.length === 0) return undefined;
    const texts = old.map(textOf);
    const reply = await model([PROMPT, ...texts]);
    if (!reply.finished) throw new NoSummary("the model did not finish its summary");
    if (reply.text.trim() === "") throw new NoSummary("the model said nothing");
    if (texts.includes(reply.text)) throw new NoSummary("the model repeated what it was shown");
    if (this.#carriers.some((carrier) => "summary" in carrier && carrier.summary.content.startsWith(reply.text))) {
      throw new NoSummary("the model gave a summary that was there already");
    }
    if (/^Error code: \d+/.test(reply.text)) throw new NoSummary("the model's answer is an error message");
    this.#summaries += 1;
    // Originals first: a summary that is there before what it names would name nothing.
    const references = old.map((message, n) => {
      const reference = `${this.#name}/${this.#summaries}.${n}`;
      this.#originals.set(reference, message);
      return reference;
    });
    const id = `summary-${this.#summaries}`;
    const summary = { id, content: `${reply.text}\n[originals: ${references.join(" ")}]`, references };
    const replaced = new Set(old);
    const at = this.#carriers.findIndex((carrier) => "message" in carrier && replaced.has(carrier.message));
    const rest = this.#carriers.filter((carrier) => !("message" in carrier) || !replaced.has(carrier.message));
    this.#carriers = [...rest.slice(0, at), { summary }, ...rest.slice(at)];
    return { summary, replaced: old };
  }
}

function belongTogether(one: Message, other: Message): boolean {
  return (
    (one.answers !== null && other.calls.includes(one.answers)) ||
    (other.answers !== null && one.calls.includes(other.answers))
  );
}

function textOf(message: Message): string {
  return typeof message.content === "string" ? message.content : Buffer.from(message.content).toString("utf8");
}

// -- the adapter ---------------------------------------------------------------------------------------------------

class Adapter {
  #notebook = new Notebook();
  #summarise: Summarise = () => Promise.reject(new Error("not open"));

  describe() {
    return { name: "keeps-originals", version: "1.0", mechanisms: ["summariser" as const] };
  }

  open(settings: Settings, summarise: Summarise): Settings {
    this.#summarise = summarise;
    return { ...settings, budget: null, watermark: null, horizon: null, lifetime: null, keep: null };
  }

  append(turn: Turn): void {
    // A message of this compactor has one content: calls are written into it, as its users do.
    const calls = turn.calls.map((call) => `${call.name} ${call.arguments}`);
    const content = turn.data ?? [turn.text ?? "", ...calls].filter((text) => text !== "").join("\n");
    this.#notebook.add({
      id: turn.id,
      role: turn.speaker,
      content,
      pinned: turn.protected,
      calls: turn.calls.map((call) => call.id),
      answers: turn.result_of,
    });
  }

  async compact(): Promise<Outcome> {
    try {
      const done = await this.#notebook.compact(async (prompt) => {
        const reply = await this.#summarise({ messages: prompt });
        return { text: reply.text, finished: reply.finish === "stop" };
      });
      if (done === undefined) return { kind: "nothing-to-do" };
      const covered = done.replaced.map((message) => message.id);
      return { kind: "committed", summary: done.summary.id, covered };
    } catch (error) {
      if (error instanceof NoSummary) return { kind: "refused", reason: error.message };
      // A model that fails leaves the notebook as it was, and its error comes out.
      throw new OperationError(String(error));
    }
  }

  live(): Item[] {
    return this.#notebook.carriers.map((carrier): Item => {
      if ("summary" in carrier) return { id: carrier.summary.id, kind: "summary", text: carrier.summary.content };
      const { id, role, content } = carrier.message;
      const text = typeof content === "string" ? content : null;
      return { id, turn: id, kind: "raw", speaker: role, text, data: text === null ? (content as Uint8Array) : null };
    });
  }

  pointers(): Pointer[] {
    return this.#notebook.carriers.flatMap((carrier) =>
      "summary" in carrier
        ? carrier.summary.references.map((token) => {
            const original = this.#notebook.original(token);
            return { summary: carrier.summary.id, token, covers: original === undefined ? null : [original.id] };
          })
        : [],
    );
  }

  get(token: string): Answer {
    const message = this.#notebook.original(token);
    return message === undefined ? { kind: "foreign" } : this.#found(token, message);
  }

  search(literal: string): Answer {
    const found = this.#notebook.find(literal);
    return found === undefined ? { kind: "unanchored" } : this.#found(...found);
  }

  #found(carrier: string, message: Message): Answer {
    const content = typeof message.content === "string" ? { text: message.content } : { data: message.content };
    return { kind: "found", carrier, source: message.id, evidence: true, ...content };
  }

  clear(): void {
    this.#notebook.clear();
  }

  close(): void {
    this.#notebook = new Notebook();
  }
}

serve(Adapter);
