/**
 * A worked example: a compactor in TypeScript, and its adapter.
 *
 *     anchorhold smoke 'cmd:node conformance/examples/keeps_originals.ts'
 *     anchorhold check 'cmd:node conformance/examples/keeps_originals.ts'
 *
 * (Node before 22.18 does not run TypeScript: compile both files first, with `tsc` or `esbuild`.)
 *
 * The compactor replaces old messages with what a model says about them and about its summary before, and keeps each
 * original under a reference below the name that the summary gives. What happens is written to a journal first, so that it can be killed at any time. The adapter
 * below it only translates.
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

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

/** What can happen to a notebook. Bytes are written as base64. */
type Entry =
  | { kind: "named"; name: string }
  | { kind: "added"; message: Omit<Message, "content"> & { text: string | null; base64: string | null }; digest: string }
  | { kind: "compacted"; summary: Summary; replaced: string[] } // the summary before goes as well
  | { kind: "cleared" };

/** Lines of JSON in a file. Each is on the disk, and whole, when `write` returns, and is not there at all else. */
class Journal {
  readonly #path: string;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** All lines. What a process that died left of its last one is passed over, and written over next. */
  read(): Entry[] {
    const content = existsSync(this.#path) ? readFileSync(this.#path) : Buffer.alloc(0);
    this.#size = content.lastIndexOf(10) + 1;
    const lines = content.subarray(0, this.#size).toString("utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Entry);
  }

  /** Throws where the store does not take it, or does not have it afterwards. */
  write(entry: Entry): void {
    const line = Buffer.from(`${JSON.stringify(entry)}\n`, "utf8");
    const file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      ftruncateSync(file, this.#size);
      writeSync(file, line, 0, line.length, this.#size);
      fsyncSync(file);
      const there = Buffer.alloc(line.length);
      readSync(file, there, 0, line.length, this.#size);
      if (!there.equals(line)) throw new Error("what was written is not there");
      this.#size += line.length;
    } finally {
      closeSync(file);
    }
  }
}

/** A conversation that is compacted on request, and goes on from its journal. */
class Notebook {
  readonly #journal: Journal;
  #name = "";
  readonly #originals = new Map<string, Message>();
  readonly #known = new Set<string>();
  /** Why the journal's words of a message are not to be trusted. */
  readonly #damaged = new Map<Message, string>();
  #carriers: Carrier[] = [];
  #summaries = 0;

  constructor(journal: Journal) {
    this.#journal = journal;
    for (const entry of journal.read()) this.#take(entry);
    if (this.#name === "") this.#write({ kind: "named", name: `nb-${crypto.randomUUID()}` });
  }

  #write(entry: Entry): void {
    this.#journal.write(entry);
    this.#take(entry);
  }

  /** What an entry of the journal says has happened. Nothing else changes the state. */
  #take(entry: Entry): void {
    switch (entry.kind) {
      case "named":
        this.#name = entry.name;
        break;
      case "added": {
        const { text, base64, ...rest } = entry.message;
        const message = { ...rest, content: text ?? new Uint8Array(Buffer.from(base64 ?? "", "base64")) };
        this.#carriers.push({ message });
        this.#known.add(message.id);
        const found = digest(entry.message);
        const why = `${message.id} was written with digest ${entry.digest}, and now has ${found}`;
        if (found !== entry.digest) this.#damaged.set(message, why);
        break;
      }
      case "compacted": {
        const { summary, replaced } = entry;
        const old = replaced.map((id) => this.#message(id));
        const references = summary.references.slice(-old.length);
        references.forEach((reference, n) => this.#originals.set(reference, old[n] as Message));
        const gone = new Set(old);
        this.#carriers = [
          { summary },
          ...this.#carriers.filter((carrier) => "message" in carrier && !gone.has(carrier.message)),
        ];
        this.#summaries += 1;
        break;
      }
      case "cleared":
        this.#carriers = [];
    }
  }

  /** The first message of this id that is in the window. */
  #message(id: string): Message {
    for (const carrier of this.#carriers) if ("message" in carrier && carrier.message.id === id) return carrier.message;
    throw new Error(`the journal replaces message ${id}, which is not there`);
  }

  /** A message that came in already adds nothing. */
  add(message: Message): void {
    if (this.#known.has(message.id)) return;
    const { content, ...rest } = message;
    const bytes = typeof content === "string" ? null : Buffer.from(content).toString("base64");
    const written = { ...rest, text: typeof content === "string" ? content : null, base64: bytes };
    this.#write({ kind: "added", message: written, digest: digest(written) });
  }

  get carriers(): readonly Carrier[] {
    return this.#carriers;
  }

  /** Throws for one that is not what was written: a wrong original is worse than none. */
  original(reference: string): Message | undefined {
    const message = this.#originals.get(reference);
    const damage = message && this.#damaged.get(message);
    if (damage !== undefined) throw new Error(`${reference}: ${damage}`);
    return message;
  }

  find(words: string): [string, Message] | undefined {
    return [...this.#originals].find(([, message]) => textOf(message).includes(words));
  }

  clear(): void {
    this.#write({ kind: "cleared" });
  }

  /** The latest request of the user, where nobody has answered it in words. */
  #request(): Message | undefined {
    for (const carrier of [...this.#carriers].reverse()) {
      if (!("message" in carrier)) continue;
      const { role, calls, content } = carrier.message;
      if (role === "user") return carrier.message;
      if (role === "assistant" && calls.length === 0 && content.length > 0) return undefined;
    }
    return undefined;
  }

  /** All but the last messages, pinned ones and an open request; a call goes with its results or stays with them. */
  #replaceable(): Message[] {
    const messages = this.#carriers.flatMap((carrier) => ("message" in carrier ? [carrier.message] : []));
    const kept = new Set(this.#carriers.slice(-KEPT));
    const request = this.#request();
    const old = new Set(
      this.#carriers.flatMap((carrier) =>
        "message" in carrier && !kept.has(carrier) && !carrier.message.pinned && carrier.message !== request
          ? [carrier.message]
          : [],
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

  get #summary(): Summary | undefined {
    const [first] = this.#carriers;
    return first !== undefined && "summary" in first ? first.summary : undefined;
  }

  /** Replace all but the last messages; answers with the summary, or with nothing where there was nothing to do. */
  async compact(model: Model): Promise<{ summary: Summary; replaced: string[] } | undefined> {
    const old = this.#replaceable();
    if (old.length === 0) return undefined;
    const before = this.#summary;
    const texts = [...(before === undefined ? [] : [before.content]), ...old.map(textOf)];
    const reply = await model([PROMPT, ...texts]);
    if (!reply.finished) throw new NoSummary("the model did not finish its summary");
    if (reply.text.trim() === "") throw new NoSummary("the model said nothing");
    if (texts.includes(reply.text)) throw new NoSummary("the model repeated what it was shown");
    if (before?.content.startsWith(reply.text)) throw new NoSummary("the model gave the summary that was there already");
    if (/^Error code: \d+/.test(reply.text)) throw new NoSummary("the model's answer is an error message");
    const number = this.#summaries + 1;
    const references = [...(before?.references ?? []), ...old.map((_, n) => `${this.#name}/${number}.${n}`)];
    const summary = {
      id: `summary-${number}`,
      content: `${reply.text}\n[left out: the full words of ${references.length} messages, under ${this.#name}]`,
      references,
    };
    // One line of the journal: the summary is there with all that it replaces, or nothing has happened.
    const replaced = old.map((message) => message.id);
    this.#write({ kind: "compacted", summary, replaced });
    return { summary, replaced: [...(before === undefined ? [] : [before.id]), ...replaced] };
  }
}

function belongTogether(one: Message, other: Message): boolean {
  return (
    (one.answers !== null && other.calls.includes(one.answers)) ||
    (other.answers !== null && one.calls.includes(other.answers))
  );
}

function digest(written: unknown): string {
  return createHash("sha256").update(JSON.stringify(written)).digest("hex");
}

function textOf(message: Message): string {
  return typeof message.content === "string" ? message.content : Buffer.from(message.content).toString("utf8");
}

// -- the adapter ---------------------------------------------------------------------------------------------------

class Adapter {
  #folder!: string;
  #notebook!: Notebook;
  #summarise!: Summarise;

  describe() {
    return { name: "keeps-originals", version: "1.0", mechanisms: ["summariser" as const] };
  }

  open(settings: Settings, summarise: Summarise): Settings {
    this.#begin(summarise, mkdtempSync(join(tmpdir(), "notebook-")));
    return { ...settings, budget: null, watermark: null, horizon: null, lifetime: null, keep: null };
  }

  #begin(summarise: Summarise, folder: string): void {
    this.#summarise = summarise;
    this.#folder = folder;
    this.reopen();
  }

  /** As after a restart: what is not in the files is gone. */
  reopen(): void {
    this.#notebook = new Notebook(new Journal(join(this.#folder, "journal.jsonl")));
  }

  /** In place of `open`, in the `TMPDIR` of a program that was killed: one session can have been open there. */
  resume(_settings: Settings, summarise: Summarise): void {
    const [name, ...others] = readdirSync(tmpdir()).filter((each) => each.startsWith("notebook-"));
    if (name === undefined || others.length > 0) throw new Error("there is not one session to go on with");
    this.#begin(summarise, join(tmpdir(), name));
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
      return { kind: "committed", summary: done.summary.id, covered: done.replaced };
    } catch (error) {
      if (error instanceof NoSummary) return { kind: "refused", reason: error.message };
      // A model or a store that fails leaves the notebook as it was, and its error comes out.
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
    rmSync(this.#folder, { recursive: true });
  }
}

serve(Adapter);
