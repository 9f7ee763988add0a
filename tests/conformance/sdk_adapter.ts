/** The adapter of sdk_adapter.py in TypeScript: every operation, plain and async, for the tests of the wire. */

import {
  OperationError,
  serve,
  type Advance,
  type Answer,
  type Audit,
  type Description,
  type Entry,
  type Item,
  type Outcome,
  type Pointer,
  type Ratios,
  type Settings,
  type Summarise,
  type Tombstone,
  type Turn,
} from "../../conformance/anchorhold/adapters/anchorhold_sdk.ts";

class Adapter {
  summarise: Summarise = () => Promise.reject(new Error("not open"));
  window: Item[] = [];
  store = new Map<string, Item[]>();
  armed: string | null = null;
  turns = new Map<string, Turn>();
  tombs: Tombstone[] = [];
  settings: Settings | null = null;
  done: unknown[] = [];
  begun: unknown[] = [];

  describe(): Description {
    console.log("this goes to standard error");
    return {
      name: "tests' own",
      version: "1.2",
      mechanisms: ["summariser"],
      hidden: { "key-recycling": "keys are inside" },
      crash_points: ["staged", "committed"],
    };
  }

  async open(settings: Settings, summarise: Summarise): Promise<Settings> {
    await Promise.resolve();
    this.summarise = summarise;
    this.settings = settings;
    return { ...settings, horizon: null };
  }

  async resume(settings: Settings, summarise: Summarise): Promise<void> {
    await this.open(settings, summarise);
    this.window = [{ id: "resumed", kind: "other", text: `${settings.session} ${settings.budget}` }];
  }

  append(turn: Turn): string {
    if (this.turns.has(turn.id)) throw new OperationError(`turn ${turn.id} is here already`);
    this.turns.set(turn.id, turn);
    const { id, text, data, speaker } = turn;
    this.window.push({ id, turn: id, kind: "raw", text, data, speaker });
    return `k-${id}` + (turn.declared === null ? "" : `/${turn.declared}`);
  }

  async compact(): Promise<Outcome> {
    const old = this.window.slice(0, -2).filter((item) => item.kind === "raw");
    if (old.length === 0) return { kind: "nothing-to-do" };
    const messages = ["Summarise.", ...old.map((item) => item.text ?? "")];
    let reply;
    if (this.settings?.branch === "many") {
      const replies = await Promise.all(messages.map((message) => this.summarise({ messages: [message] })));
      reply = { text: replies.map((each) => each.text).sort().join(" "), finish: "length" };
    } else {
      reply = await this.summarise({ messages });
    }
    if (this.armed !== null) {
      this.armed = null;
      throw new OperationError("crashed", { definite: false });
    }
    const summary = `s${this.store.size}`;
    this.store.set(summary, old);
    const covered = old.map((item) => item.id);
    this.window = [
      { id: summary, kind: "summary", text: reply.text, covers: covered, generation: 1 },
      ...this.window.slice(-2),
    ];
    return { kind: "committed", summary, covered, reason: reply.finish };
  }

  live(): Item[] {
    return this.window;
  }

  close(): void {
    this.window = [];
  }

  pointers(): Pointer[] {
    return [...this.store].flatMap(([summary, items]) =>
      items.map((item) => ({ summary, token: `${summary}/${item.id}`, covers: [item.id], key: item.id, epoch: 1 })),
    );
  }

  get(token: string): Answer {
    const [summary = "", turn = ""] = token.split("/");
    const item = this.store.get(summary)?.find((each) => each.id === turn);
    if (item === undefined) return { kind: "foreign", reason: `no ${token}` };
    return { kind: "found", text: item.text, data: item.data, carrier: summary, evidence: true };
  }

  search(literal: string): Answer {
    const turn = [...this.turns.values()].find((each) => each.text?.includes(literal));
    return turn === undefined ? { kind: "unanchored" } : { kind: "found", text: turn.text, source: turn.id };
  }

  reconstitute(subject: string, attribute: string, evidence: boolean): Answer {
    return { kind: "insufficient", reason: `${subject}.${attribute} ${evidence ? "True" : "False"}`, value: "v" };
  }

  manifest(carrier: string): Entry[] {
    return [{ literal: "x", source: carrier, kind: "path", subject: "a", attribute: "b" }];
  }

  tombstones(): Tombstone[] {
    return this.tombs;
  }

  tombstone(literal: string, source: string, reason: string): Outcome {
    this.tombs.push({ literal, source, reason, decided_by: "suite", time: 1.5 });
    return { kind: "committed" };
  }

  supersede(literal: string, source: string, superseder: string, reason: string): Outcome {
    this.tombs.push({ literal, source, reason, decided_by: "suite", superseder });
    return { kind: "committed" };
  }

  evict(_token: string): Outcome {
    return { kind: "refused", reason: "gate", facts: ["a fact"] };
  }

  expire(_seconds: number): void {}

  reopen(): void {
    this.window = [...this.window];
  }

  crash(point: string): void {
    this.armed = point;
  }

  corrupt(token: string): boolean {
    return this.store.has(token.split("/")[0] ?? "");
  }

  switch(session: string, user: string, branch = "main"): void {
    this.done = [["switch", branch]];
    if (session === "raises") throw new RangeError(user);
  }

  status(): string {
    return "degraded: tests";
  }

  degraded_since(): number {
    return 12.5;
  }

  clear(): void {
    this.done.push(["clear"]);
  }

  rewind(turn: string): void {
    this.done.push(["rewind", turn]);
  }

  async fork(branch: string): Promise<void> {
    this.done.push(["fork", branch]);
  }

  forget(turn: string): Outcome {
    return { kind: "refused", reason: `forget ${turn}` };
  }

  files(): string[] {
    return ["/var/lib/tests/ledger.db"];
  }

  hold_copies(held: boolean): void {
    this.done.push(["hold_copies", held]);
  }

  settle(): void {
    this.done.push(["settle"]);
  }

  ratios(): Ratios {
    return { committed: 3, pending: 1, unresolvable: 0 };
  }

  clock(shift: number): void {
    this.done.push(["clock", shift]);
  }

  lose_power(): void {
    this.done.push(["lose_power"]);
  }

  fail_store(point: string, fault: string): void {
    this.done.push(["fail_store", point, fault]);
  }

  audits(): Audit[] {
    return [
      { compaction: 1, turn: "t1", passed: true },
      { compaction: 2, passed: false },
    ];
  }

  override(reason: string): Outcome {
    return { kind: "committed", reason: JSON.stringify([...this.done, reason]) };
  }

  begin(worker: string, op: string, args: Record<string, unknown>): void {
    this.begun = [worker, op, args];
  }

  advance(worker: string): Advance {
    if (worker === "w") return { done: false, at: JSON.stringify(this.begun) };
    if (worker === "asks") return { done: true, answer: { kind: "found", text: "x" } };
    return { done: true, outcome: { kind: "nothing-to-do" } };
  }
}

serve(Adapter);
