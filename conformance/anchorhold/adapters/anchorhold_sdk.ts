/**
 * Write an adapter as a TypeScript class, and `serve` it over the wire protocol of Anchorhold (PROTOCOL.md, version 1).
 *
 * One file, nothing but Node 20 or newer; its types can be erased, so that Node 22.18 or newer runs it as it is, and
 * older ones after `tsc` or `esbuild`. Copy it beside the adapter. A whole adapter:
 *
 *     import { serve, type Item, type Settings, type Turn } from "./anchorhold_sdk.ts";
 *
 *     class Adapter {
 *       turns = new Map<string, Turn>();
 *       describe() {
 *         return { name: "keeps-everything", version: "1.0" };
 *       }
 *       open(settings: Settings) {
 *         return settings;
 *       }
 *       append(turn: Turn) {
 *         if (!this.turns.has(turn.id)) this.turns.set(turn.id, turn);
 *       }
 *       compact() {
 *         return { kind: "nothing-to-do" as const };
 *       }
 *       live(): Item[] {
 *         return [...this.turns.values()].map((turn) => {
 *           const said = [turn.text, ...turn.calls.map((call) => call.arguments)].filter((part) => part);
 *           return { id: turn.id, turn: turn.id, kind: "raw", text: said.join("\n") || null, data: turn.data };
 *         });
 *       }
 *       close() {}
 *     }
 *
 *     serve(Adapter);
 *
 * An operation is offered by defining its method, plain or `async`; methods and fields have the names of PROTOCOL.md.
 * Every model call of the compactor goes to the `summarise` that `open` is handed. An adapter translates and never
 * repairs. Where sessions lie in files below `os.tmpdir()`, define `reopen` and `resume(settings, summarise)`, which goes
 * on with the one that is there: the suite then kills the program, and starts another on what it left behind.
 * Import this file first: from then on what is printed goes to standard error. What a child process or a
 * native library writes to standard output cannot be diverted here.
 */

import { AsyncLocalStorage } from "node:async_hooks";

export const PROTOCOL = 1;

/** Operations that every adapter has, besides `describe`. */
export const REQUIRED = ["open", "append", "compact", "live", "close"] as const;

export const OPTIONAL = [
  "pointers",
  "get",
  "search",
  "reconstitute",
  "manifest",
  "tombstones",
  "tombstone",
  "supersede",
  "evict",
  "expire",
  "reopen",
  "resume",
  "crash",
  "corrupt",
  "switch",
  "status",
  "degraded_since",
  "clear",
  "rewind",
  "fork",
  "forget",
  "files",
  "hold_copies",
  "settle",
  "ratios",
  "clock",
  "lose_power",
  "fail_store",
  "audits",
  "override",
  "begin",
  "advance",
] as const;

export const OPERATIONS = [...REQUIRED, ...OPTIONAL] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Error codes (PROTOCOL.md, "Errors"). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const UNKNOWN_OPERATION = -32601;
export const INVALID_PARAMS = -32602;
export const DEFINITE = -32001;
export const INDEFINITE = -32002;
export const SUMMARISER_FAILED = -32003;
export const ADAPTER_ERROR = -32004;

/** Parameters of the operations, in the order in which methods are given them. `open`, `resume` and `append` are built below. */
export const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  get: ["token"],
  search: ["literal"],
  reconstitute: ["subject", "attribute", "evidence"],
  manifest: ["carrier"],
  tombstone: ["literal", "source", "reason"],
  supersede: ["literal", "source", "superseder", "reason"],
  evict: ["token"],
  expire: ["seconds"],
  crash: ["point"],
  corrupt: ["token"],
  switch: ["session", "user"],
  rewind: ["turn"],
  fork: ["branch"],
  forget: ["turn"],
  hold_copies: ["held"],
  clock: ["shift"],
  fail_store: ["point", "fault"],
  override: ["reason"],
  begin: ["worker", "op", "arguments"],
  advance: ["worker"],
};

// -- errors -----------------------------------------------------------------------------------------------------

/**
 * An operation did not succeed. Definite: it did not happen. Indefinite: it may have.
 *
 * Anything else that an operation throws is reported as indefinite.
 */
export class OperationError extends Error {
  readonly definite: boolean;

  constructor(message: string, options: { definite?: boolean } = {}) {
    super(message);
    this.name = "OperationError";
    this.definite = options.definite ?? true;
  }
}

/** The model call failed. Let it out where the compactor's model client would throw its own error. */
export class SummariserError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SummariserError";
  }
}

/** The adapter, not the compactor, is at fault: the suite stops with this message and gives no verdict. */
export class AdapterError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AdapterError";
  }
}

// -- values -----------------------------------------------------------------------------------------------------

/** What a compactor may have (see `Description`). */
export const MECHANISMS = [
  "summariser",
  "pointers",
  "retrieval",
  "questions",
  "manifests",
  "tombstones",
  "superseders",
  "eviction",
  "key-recycling",
  "persistence",
  "crashes",
  "store-faults",
  "status",
  "degraded-since",
  "expiry",
  "sessions",
  "clearing",
  "rewinding",
  "forks",
  "erasure",
  "background-copy",
  "clocks",
  "power-loss",
  "store-errors",
  "audits",
  "overrides",
  "workers",
  // While `compact` waits for its model, other operations may be called. To be declared.
  "concurrency",
] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** What a window's size is counted in. Four characters of text are a token, rounded up. */
export const UNITS = ["tokens", "items"] as const;
export type Unit = (typeof UNITS)[number];

/** What an item of the live window is: a turn exactly as it entered, what stands for turns, or neither. */
export const CARRIER_KINDS = ["raw", "summary", "other"] as const;
export type CarrierKind = (typeof CARRIER_KINDS)[number];

/** How an operation ended. */
export const OUTCOME_KINDS = ["committed", "nothing-to-do", "refused", "failed"] as const;
export type OutcomeKind = (typeof OUTCOME_KINDS)[number];

/** What a question was answered with. A text that says "not found" is not `found`. */
export const ANSWER_KINDS = [
  "found",
  "partial",
  "pending",
  "tombstoned",
  "expired",
  "foreign",
  "insufficient",
  "degraded",
  "unanchored",
  "absent",
] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

/** A call that a turn issues; `arguments` exactly as the model wrote them. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** One message, tool call or tool result. Content that is not valid Unicode is in `data` and `text` is null. */
export interface Turn {
  id: string;
  /** `user`, `assistant`, `system` or `tool`. */
  speaker: string;
  text: string | null;
  data: Uint8Array | null;
  /** Seconds since the epoch. */
  time: number | null;
  calls: readonly ToolCall[];
  /** Id of the call that this answers. */
  result_of: string | null;
  status: string | null;
  protected: boolean;
  /** The class that its author declares: `narrative`, `structured`, `side-effecting`. */
  declared: string | null;
}

/** What a session is opened with; `open` returns what could be taken. */
export interface Settings {
  session: string;
  /** `null` in what `open` returns: the compactor knows no users. */
  user: string | null;
  branch: string;
  budget: number | null;
  watermark: number | null;
  unit: Unit;
  horizon: number | null;
  lifetime: number | null;
  keep?: number | null;
}

/** The text of each message of one model request, in order, instructions included. */
export interface Shown {
  messages: readonly string[];
}

/** What the model answered; `finish` is `stop`, or how else it ended (`length`, `refusal`, …). */
export interface Reply {
  text: string;
  finish: string;
}

/** The suite's model. May be called while the suite waits for an operation. Rejects with `SummariserError`. */
export type Summarise = (shown: Shown) => Promise<Reply>;

/** Who the compactor is. The operations are filled in by `serve`. */
export interface Description {
  name: string;
  version: string;
  /** Mechanisms beyond those that the offered operations show. */
  mechanisms?: readonly Mechanism[];
  /** Mechanisms that exist and cannot be seen or driven, each with the reason. */
  hidden?: Partial<Record<Mechanism, string>>;
  crash_points?: readonly string[];
  /** Where it declares that originals cannot be had back: its own words. */
  irreversible?: string | null;
}

/** A carrier in the live window, as the model sees it. */
export interface Item {
  id: string;
  kind: CarrierKind;
  text?: string | null;
  data?: Uint8Array | null;
  /** Id of the turn, where this is a raw one and the compactor keeps the id. */
  turn?: string | null;
  speaker?: string | null;
  /** Ids of the turns that a summary declares to stand for. */
  covers?: readonly string[] | null;
  generation?: number | null;
  pending?: boolean;
}

/** An opaque token from a summary to an original. */
export interface Pointer {
  summary: string;
  token: string;
  covers?: readonly string[] | null;
  key?: string | null;
  epoch?: number | null;
}

/** Answer of `get`, `search` and `reconstitute`. */
export interface Answer {
  kind: AnswerKind;
  text?: string | null;
  data?: Uint8Array | null;
  value?: string | null;
  carrier?: string | null;
  source?: string | null;
  evidence?: boolean | null;
  continuation?: string | null;
  reason?: string | null;
}

/** One entry of a manifest. */
export interface Entry {
  literal: string;
  source?: string | null;
  kind?: string;
  subject?: string | null;
  attribute?: string | null;
}

/** How `compact`, `evict` or `tombstone` ended. */
export interface Outcome {
  kind: OutcomeKind;
  reason?: string | null;
  summary?: string | null;
  covered?: readonly string[] | null;
  facts?: readonly string[];
  pending?: boolean;
}

/** The record that one assertion was dropped on purpose. */
export interface Tombstone {
  literal: string;
  source: string | null;
  decided_by: string;
  reason: string;
  time?: number | null;
  subject?: string | null;
  attribute?: string | null;
  /** Id of the turn that took its place. */
  superseder?: string | null;
}

/** Counts of summaries: ever committed, and of these pending and unresolvable. */
export interface Ratios {
  committed: number;
  pending: number;
  unresolvable: number;
}

/** One fetch of an evicted turn's fact: after how many compactions, of which turn, and whether it came back. */
export interface Audit {
  compaction: number;
  turn?: string | null;
  passed: boolean;
}

/** Answer of `advance`: done, with the result; or the access to a store before which the worker stands. */
export interface Advance {
  done: boolean;
  at?: string | null;
  outcome?: Outcome | null;
  answer?: Answer | null;
}

type May<T> = T | Promise<T>;

/** What `serve` serves: the required operations, and those of the others that the compactor has. */
export interface Adapter {
  describe(): May<Description>;
  open(settings: Settings, summarise: Summarise): May<Settings>;
  append(turn: Turn): May<string | null | undefined | void>;
  compact(): May<Outcome>;
  live(): May<readonly Item[]>;
  close(): May<void>;
  pointers?(): May<readonly Pointer[]>;
  get?(token: string): May<Answer>;
  search?(literal: string): May<Answer>;
  reconstitute?(subject: string, attribute: string, evidence: boolean): May<Answer>;
  manifest?(carrier: string): May<readonly Entry[]>;
  tombstones?(): May<readonly Tombstone[]>;
  tombstone?(literal: string, source: string, reason: string): May<Outcome>;
  supersede?(literal: string, source: string, superseder: string, reason: string): May<Outcome>;
  evict?(token: string): May<Outcome>;
  expire?(seconds: number): May<void>;
  reopen?(): May<void>;
  resume?(settings: Settings, summarise: Summarise): May<void>;
  crash?(point: string): May<void>;
  corrupt?(token: string): May<boolean>;
  switch?(session: string, user: string, branch?: string): May<void>;
  status?(): May<string>;
  degraded_since?(): May<number | null>;
  clear?(): May<void>;
  rewind?(turn: string): May<void>;
  fork?(branch: string): May<void>;
  forget?(turn: string): May<Outcome>;
  files?(): May<readonly string[]>;
  hold_copies?(held: boolean): May<void>;
  settle?(): May<void>;
  ratios?(): May<Ratios>;
  clock?(shift: number): May<void>;
  lose_power?(): May<void>;
  fail_store?(point: string, fault: "error" | "silent" | "short"): May<void>;
  audits?(): May<readonly Audit[]>;
  override?(reason: string): May<Outcome>;
  begin?(worker: string, op: string, args: Record<string, unknown>): May<void>;
  advance?(worker: string): May<Advance>;
}

// -- values to JSON and back ------------------------------------------------------------------------------------

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether text can be written as UTF-8: it has no lone surrogate. */
export function isUnicode(text: string): boolean {
  return !LONE_SURROGATE.test(text);
}

/** Text as bytes, each lone surrogate encoded as if it were a character. */
export function bytesOf(text: string): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    const lone = code >= 0xd800 && code <= 0xdfff;
    parts.push(
      lone
        ? Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
        : Buffer.from(character, "utf8"),
    );
  }
  return Buffer.concat(parts);
}

/** The JSON form of a value of the protocol. Throws AdapterError for anything that the protocol has no form for. */
export function plain(value: unknown): unknown {
  switch (typeof value) {
    case "undefined":
      return null;
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new AdapterError(`the protocol has no form for the number ${value}`);
      return value;
    case "object":
      break;
    default:
      throw new AdapterError(`the protocol has no form for a ${typeof value}`);
  }
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Set) return [...value].map(plain).sort();
  const prototype = Object.getPrototypeOf(value);
  if (value instanceof Map || value instanceof Date || value instanceof Promise) {
    throw new AdapterError(`the protocol has no form for a ${prototype.constructor.name}`);
  }
  const members: Record<string, unknown> = { ...value };
  const { text, data } = members;
  if (typeof text === "string" && (data === null || data === undefined) && !isUnicode(text)) {
    members.text = null;
    members.data = bytesOf(text);
  }
  const known = Object.entries(members).filter(([, member]) => member !== undefined);
  return Object.fromEntries(known.map(([name, member]) => [name, plain(member)]));
}

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The turn in the params of `append`. Throws TypeError where it is none. */
export function turnFrom(wire: unknown): Turn {
  if (!isObject(wire) || typeof wire.id !== "string" || typeof wire.speaker !== "string") {
    throw new TypeError("a turn is an object with `id` and `speaker`");
  }
  return {
    id: wire.id,
    speaker: wire.speaker,
    text: (wire.text as string | null) ?? null,
    data: typeof wire.data === "string" ? new Uint8Array(Buffer.from(wire.data, "base64")) : null,
    time: (wire.time as number | null) ?? null,
    calls: ((wire.calls as Json[] | undefined) ?? []).map((call) => ({
      id: String(call.id),
      name: String(call.name),
      arguments: String(call.arguments),
    })),
    result_of: (wire.result_of as string | null) ?? null,
    status: (wire.status as string | null) ?? null,
    protected: wire.protected === true,
    declared: (wire.declared as string | null) ?? null,
  };
}

/** The settings in the params of `open`. Throws TypeError where they are none. */
export function settingsFrom(wire: unknown): Settings {
  if (!isObject(wire)) throw new TypeError("`settings` is an object");
  return {
    session: (wire.session as string | undefined) ?? "s",
    user: (wire.user as string | undefined) ?? "u",
    branch: (wire.branch as string | undefined) ?? "main",
    budget: (wire.budget as number | null) ?? null,
    watermark: (wire.watermark as number | null) ?? null,
    unit: (wire.unit as Unit | undefined) ?? "tokens",
    horizon: (wire.horizon as number | null) ?? null,
    lifetime: (wire.lifetime as number | null) ?? null,
    keep: (wire.keep as number | null) ?? null,
  };
}

// -- the stream -------------------------------------------------------------------------------------------------

// Taken before anything prints: from here on what goes through `console` or `process.stdout` goes to standard error.
const protocolWrite = process.stdout.write.bind(process.stdout) as (line: string, done?: () => void) => boolean;
process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;

/** A request that is answered with a JSON-RPC error. */
class RequestError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

interface Waiting {
  resolve: (reply: Reply) => void;
  reject: (error: Error) => void;
}

/** Serves one adapter: one operation after the other, unless its description declares `concurrency`. */
export class Server {
  readonly #make: (new () => Adapter) | null;
  #adapter: Adapter | null;
  #concurrent = false;
  #asked = 0;
  #rest: Buffer[] = [];
  #last: Promise<void> = Promise.resolve();
  readonly #running = new Set<unknown>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #request = new AsyncLocalStorage<unknown>();
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  constructor(adapter: Adapter | (new () => Adapter)) {
    this.#make = typeof adapter === "function" ? adapter : null;
    this.#adapter = typeof adapter === "function" ? null : adapter;
  }

  /** Answer until `shutdown`, or until the suite closes the stream; then the process ends. */
  run(): void {
    process.stdin.on("data", (chunk: Buffer) => this.#read(chunk));
    process.stdin.on("end", () => this.#ended());
    process.stdin.on("error", () => this.#ended());
  }

  // -- reading

  #read(chunk: Buffer): void {
    let begin = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, begin)) {
      this.#rest.push(chunk.subarray(begin, end));
      const line = Buffer.concat(this.#rest);
      this.#rest = [];
      begin = end + 1;
      this.#line(line);
    }
    if (begin < chunk.length) this.#rest.push(chunk.subarray(begin));
  }

  #line(line: Buffer): void {
    let message: unknown;
    try {
      message = JSON.parse(this.#decoder.decode(line));
    } catch (error) {
      this.#sendError(null, PARSE_ERROR, `not JSON: ${String(error)}`);
      return;
    }
    if (!isObject(message)) {
      this.#sendError(null, INVALID_REQUEST, "a message is a JSON object, one a line");
    } else if ("method" in message) {
      const request = message;
      if (this.#concurrent) void this.#answer(request);
      else this.#last = this.#last.then(() => this.#answer(request));
    } else if ("result" in message || "error" in message) {
      this.#replied(message);
    } else {
      this.#sendError(message.id ?? null, INVALID_REQUEST, "a request has a `method`");
    }
  }

  #replied(message: Json): void {
    const waiting = this.#waiting.get(String(message.id));
    if (waiting === undefined) return;
    this.#waiting.delete(String(message.id));
    if (isObject(message.error)) {
      waiting.reject(new SummariserError(String(message.error.message ?? "the model call failed")));
      return;
    }
    const result = isObject(message.result) ? message.result : {};
    waiting.resolve({ text: String(result.text ?? ""), finish: String(result.finish ?? "stop") });
  }

  #ended(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new SummariserError("the suite went away"));
    this.#waiting.clear();
    // An operation that never returns must not outlive the suite.
    if (this.#running.size === 0) process.exit(0);
    setTimeout(() => process.exit(1), 2000);
  }

  // -- answering

  async #answer(message: Json): Promise<void> {
    const request = message.id ?? null;
    try {
      if (typeof message.method !== "string") throw new RequestError(INVALID_REQUEST, "`method` is a text");
      const params = message.params ?? {};
      if (!isObject(params)) throw new RequestError(INVALID_PARAMS, "params are given by name");
      const method = message.method;
      const result = plain(await this.#request.run(request, () => this.#call(method, params, request)));
      this.#send({ jsonrpc: "2.0", id: request, result }, method === "shutdown" ? () => process.exit(0) : undefined);
    } catch (error) {
      if (error instanceof RequestError) {
        this.#sendError(request, error.code, error.message);
      } else if (error instanceof AdapterError) {
        console.error(error);
        this.#sendError(request, ADAPTER_ERROR, error.message);
      } else if (error instanceof OperationError) {
        this.#sendError(request, error.definite ? DEFINITE : INDEFINITE, error.message);
      } else {
        console.error(error);
        this.#sendError(request, INDEFINITE, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
      }
    }
  }

  async #call(method: string, params: Json, request: unknown): Promise<unknown> {
    if (method === "initialize") return this.#initialize(params);
    if (method === "shutdown") return null;
    if (!(OPERATIONS as readonly string[]).includes(method)) {
      throw new RequestError(UNKNOWN_OPERATION, `no operation ${JSON.stringify(method)}`);
    }
    if (this.#adapter === null) {
      if ((method !== "open" && method !== "resume") || this.#make === null) throw new RequestError(UNKNOWN_OPERATION, "not open");
      this.#adapter = new this.#make();
    }
    const adapter = this.#adapter as unknown as Record<string, unknown>;
    const operation = adapter[method];
    if (typeof operation !== "function") {
      throw new RequestError(UNKNOWN_OPERATION, `this compactor has no ${JSON.stringify(method)}`);
    }
    let given: unknown[];
    try {
      given = this.#arguments(method, params);
    } catch (error) {
      throw new RequestError(INVALID_PARAMS, `params of ${JSON.stringify(method)}: ${String(error)}`);
    }
    this.#running.add(request);
    try {
      return await operation.apply(adapter, given);
    } finally {
      this.#running.delete(request);
      if (method === "close" && this.#make !== null) this.#adapter = null;
    }
  }

  #arguments(method: string, params: Json): unknown[] {
    if (method === "open" || method === "resume") return [settingsFrom(params.settings), (shown: Shown) => this.#summarise(shown)];
    if (method === "append") return [turnFrom(params.turn)];
    const names = PARAMETERS[method] ?? [];
    for (const name of names) {
      if (!(name in params)) throw new TypeError(`\`${name}\` is missing`);
    }
    const given = names.map((name) => params[name]);
    if (method === "switch" && (params.branch ?? "main") !== "main") given.push(params.branch);
    return given;
  }

  async #initialize(params: Json): Promise<unknown> {
    if (params.protocol !== PROTOCOL) {
      throw new RequestError(INVALID_PARAMS, `this adapter speaks protocol ${PROTOCOL} only`);
    }
    if (this.#adapter === null && this.#make !== null) this.#adapter = new this.#make();
    const adapter = this.#adapter as unknown as Record<string, unknown> & Adapter;
    const operations = OPERATIONS.filter((name) => typeof adapter[name] === "function");
    const missing = REQUIRED.filter((name) => !operations.includes(name));
    if (missing.length > 0) throw new AdapterError(`the adapter does not define ${missing.join(", ")}`);
    const description = await adapter.describe();
    this.#concurrent = description.mechanisms?.includes("concurrency") ?? false;
    return { protocol: PROTOCOL, description: { ...description, operations } };
  }

  // -- asking

  #summarise(shown: Shown): Promise<Reply> {
    if (this.#running.size === 0) {
      const why = "the suite is not waiting for an operation, so nothing may be asked of it";
      return Promise.reject(new SummariserError(why));
    }
    this.#asked += 1;
    const id = `a${this.#asked}`;
    // What a model is shown is text; a lone surrogate cannot be sent to one and is replaced as clients do.
    const messages = shown.messages.map((text) => text.replace(/\p{Surrogate}/gu, "\ufffd"));
    const request = this.#request.getStore();
    const params = this.#concurrent && typeof request === "number" ? { messages, request } : { messages };
    return new Promise<Reply>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: "2.0", id, method: "summarise", params });
    });
  }

  // -- writing

  #sendError(request: unknown, code: number, message: string): void {
    const text = message.replace(/\p{Surrogate}/gu, "\ufffd");
    this.#send({ jsonrpc: "2.0", id: request, error: { code, message: text } });
  }

  #send(message: Json, done?: () => void): void {
    protocolWrite(`${JSON.stringify(message)}\n`, done);
  }
}

/**
 * Serve an adapter on standard input and output, until the suite ends the session.
 *
 * `adapter` is a class, of which each `open` gets a fresh instance, or an object, which then has to start afresh at
 * each `open` itself.
 */
export function serve(adapter: Adapter | (new () => Adapter)): void {
  new Server(adapter).run();
}
