"""The ledger's tables. Which rule each one serves stands beside it.

`TABLES` is written in SQLite's types and holds for both databases (`stores.postgres` names the types anew, and has
digests in place of texts in its indexes); what only one of them understands is in `SQLITE`, `DIGESTS` and `POSTGRES`.

`==` in a query compares a text of the caller's that an index is over; `=` is for all that has a length known to us.
"""

import sqlite3
from collections.abc import Iterator

APPLICATION_ID = 0x416E6368
"""`Anch`: tells this file from anybody else's database."""
LAYOUT = 6

TABLES = """
-- Grows strictly, across restarts too (EPO-2).
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('epoch', 0), ('slot', 0);

-- How long the store has lived, as far as that is certain: what lifetimes are measured by (RET-4). See `ages`.
CREATE TABLE age (boot TEXT NOT NULL, seen REAL NOT NULL, elapsed REAL NOT NULL);
INSERT INTO age VALUES ('', 0, 0);

-- One branch of one session of one user. Everything below is read through a branch's lineage only (ISO-1).
CREATE TABLE session (
  id INTEGER PRIMARY KEY, "user" TEXT NOT NULL, name TEXT NOT NULL, branch TEXT NOT NULL,
  root INTEGER,                                -- the branch that this one comes from in the end, maybe itself
  version INTEGER NOT NULL DEFAULT 0,          -- grows with all that takes something out of the window (CON-2, CON-3)
  compactions INTEGER NOT NULL DEFAULT 0,
  degraded_since REAL,                         -- none: lossless (RET-5)
  UNIQUE ("user", name, branch)
);
-- Which carriers a branch sees: those of `node` from `first` to `last`. A fork copies these few rows, never what they
-- lead to; a rewind shortens them.
CREATE TABLE lineage (
  session INTEGER NOT NULL REFERENCES session, node INTEGER NOT NULL REFERENCES session,
  first INTEGER NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (session, node, first)
) WITHOUT ROWID;
CREATE INDEX lineage_node ON lineage (node, session);

-- Raw spans (generation 0) and summaries. AUTOINCREMENT: an id is never used again, not even after a deletion.
CREATE TABLE carrier (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES session,  -- the branch that it was made in
  generation INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('raw', 'erased', 'staged', 'committed'))
);
CREATE INDEX carrier_staged ON carrier (session) WHERE state = 'staged';
CREATE VIEW visible AS
  SELECT g.session AS session, c.id AS carrier, c.generation AS generation, c.state AS state, c.session AS node
  FROM lineage g JOIN carrier c ON c.session = g.node AND c.id BETWEEN g.first AND g.last;

-- The live window of each branch, in order. A raw span in any window has its payload.
CREATE TABLE live (
  session INTEGER NOT NULL REFERENCES session, position INTEGER NOT NULL,
  carrier INTEGER NOT NULL REFERENCES carrier,
  claimed INTEGER REFERENCES carrier,  -- the staged summary about to replace it: one claim at a time (CON-2, ANC-4)
  PRIMARY KEY (session, position)
) WITHOUT ROWID;
CREATE INDEX live_carrier ON live (carrier);
CREATE INDEX live_claimed ON live (claimed) WHERE claimed IS NOT NULL;
-- What left a branch's window without a summary over it, and does not come back: by a clear (CON-3).
CREATE TABLE archived (
  session INTEGER NOT NULL REFERENCES session, carrier INTEGER NOT NULL REFERENCES carrier,
  PRIMARY KEY (session, carrier)
) WITHOUT ROWID;

-- Turns as they entered. The payload stays until the commit over it is durable and its copy has landed (PTR-2).
CREATE TABLE turn (
  carrier INTEGER PRIMARY KEY REFERENCES carrier,
  session INTEGER NOT NULL, id TEXT NOT NULL, speaker TEXT NOT NULL,
  digest BLOB NOT NULL, payload BLOB
);
CREATE INDEX turn_id ON turn (session, id);
-- Turns whose assertions stand in `assertion`, with the evidential class computed from their content (EVI-4). Not a
-- column of `turn`, to mark which would be to write the payload once more.
CREATE TABLE reading (span INTEGER PRIMARY KEY REFERENCES carrier, class TEXT NOT NULL);
-- Which turn issued a call, so that a late result finds it (STR-1).
CREATE TABLE tool_call (
  session INTEGER NOT NULL, id TEXT NOT NULL, carrier INTEGER NOT NULL REFERENCES carrier,
  PRIMARY KEY (session, id, carrier)
) WITHOUT ROWID;

-- A window has one summary at most, since every compaction takes the older one in: summaries form a chain, and those
-- of a branch's chain stand for what any of them covers (PTR-4).
CREATE TABLE summary (
  carrier INTEGER PRIMARY KEY REFERENCES carrier,
  session INTEGER NOT NULL,
  owner BLOB NOT NULL,     -- the opening of the store that wrote it, as in pointer.issuer
  chain INTEGER NOT NULL,  -- the first summary of the chain, maybe itself
  text TEXT NOT NULL,      -- as it stands in the window
  body TEXT NOT NULL,      -- without the line that the compactor adds: what the manifest is computed from
  reply TEXT NOT NULL,     -- as the summariser wrote it
  released INTEGER NOT NULL DEFAULT 0  -- no source is held any more that its commit would let go
);
CREATE INDEX summary_unreleased ON summary (session) WHERE released = 0;
CREATE INDEX summary_chain ON summary (chain, carrier);
CREATE INDEX summary_session ON summary (session, carrier);
-- What a summary replaced: raw spans, and the summary before it.
CREATE TABLE covers (
  summary INTEGER NOT NULL REFERENCES carrier, carrier INTEGER NOT NULL REFERENCES carrier,
  PRIMARY KEY (summary, carrier)
) WITHOUT ROWID;
CREATE INDEX covers_carrier ON covers (carrier, summary);

-- Facts are kept once, by the first branch of a session; an assertion is a fact with the span that says it (MAN-4).
CREATE TABLE fact (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, key BLOB NOT NULL,
  kind TEXT NOT NULL, literal TEXT NOT NULL, value TEXT, negated INTEGER NOT NULL, hedged INTEGER NOT NULL,
  subject TEXT, attribute TEXT,            -- as first written
  subject_name TEXT, attribute_name TEXT,  -- as compared
  UNIQUE (session, key)
);
CREATE INDEX fact_slot ON fact (session, subject_name, attribute_name) WHERE kind = 'slot';
CREATE INDEX fact_literal ON fact (session, literal);
CREATE TABLE assertion (
  span INTEGER NOT NULL REFERENCES carrier, fact INTEGER NOT NULL REFERENCES fact, said TEXT NOT NULL,
  PRIMARY KEY (span, fact)
) WITHOUT ROWID;
CREATE INDEX assertion_fact ON assertion (fact, span);

-- Manifests of summaries: facts that stand in the body and that a span under the summary supports. speaker: whom the
-- body attributes it to, or '' where it names nobody (MAN-2).
CREATE TABLE carries (
  summary INTEGER NOT NULL REFERENCES carrier, fact INTEGER NOT NULL REFERENCES fact, speaker TEXT NOT NULL,
  said TEXT NOT NULL,
  PRIMARY KEY (summary, fact, speaker)
) WITHOUT ROWID;
CREATE INDEX carries_fact ON carries (fact, summary);

CREATE TABLE tombstone (
  session INTEGER NOT NULL, span INTEGER NOT NULL, fact INTEGER NOT NULL,
  literal TEXT NOT NULL, decided_by TEXT NOT NULL, reason TEXT NOT NULL, time REAL NOT NULL, superseder INTEGER,
  PRIMARY KEY (session, span, fact)
) WITHOUT ROWID;
CREATE INDEX tombstone_span ON tombstone (span, fact);
CREATE INDEX tombstone_fact ON tombstone (fact);
CREATE INDEX tombstone_literal ON tombstone (session, literal);

-- The cold store. Entries never change; a slot that was emptied is used again, at another epoch (EPO-1). So that a
-- pointer is followed by one row, it says of itself which pointer leads to it, and where its span is seen.
CREATE TABLE cold (
  slot INTEGER PRIMARY KEY, epoch INTEGER NOT NULL UNIQUE, span INTEGER NOT NULL,
  session INTEGER NOT NULL,  -- the span's branch
  address BLOB,  -- as in its pointer's token; none yet where the copy comes after the commit and was not read back
  size INTEGER NOT NULL,
  payload BLOB  -- none: in the cold store outside, see `outer`
);
CREATE INDEX cold_span ON cold (span);
CREATE TABLE free_slot (slot INTEGER PRIMARY KEY);
-- Which cold store lies outside, and what may lie there without being an entry: about to become one (owner: the
-- opening that puts it there), or about to be removed (no owner).
CREATE TABLE outer_store (mark TEXT NOT NULL, made INTEGER NOT NULL);
CREATE TABLE stray (
  slot INTEGER NOT NULL, epoch INTEGER NOT NULL, owner BLOB NOT NULL, PRIMARY KEY (epoch, owner)
) WITHOUT ROWID;

-- Every pointer that was ever issued and not undone: what is not here is foreign (EPO-2). Of an erased span key,
-- epoch, `erased` and time remain, and the digest does not (ERA-1).
CREATE TABLE pointer (
  epoch INTEGER PRIMARY KEY, slot INTEGER NOT NULL, issuer BLOB NOT NULL, digest BLOB NOT NULL,
  session INTEGER NOT NULL,  -- the span's branch
  span INTEGER NOT NULL,
  holding TEXT NOT NULL CHECK (holding IN ('staged', 'committed', 'gone', 'expired', 'erased')),
  copy TEXT NOT NULL CHECK (copy IN ('outstanding', 'landed', 'unresolvable')),  -- PTR-5
  time REAL NOT NULL,        -- wall clock, to be read by people
  age REAL NOT NULL,         -- of the store when it was written, see `age`
  indexed INTEGER NOT NULL DEFAULT 0  -- its words are in the full-text index (REC-4)
);
CREATE UNIQUE INDEX pointer_span ON pointer (span);
CREATE INDEX pointer_session ON pointer (session, holding, span);
CREATE INDEX pointer_unindexed ON pointer (session, span) WHERE indexed = 0;
CREATE INDEX pointer_unresolvable ON pointer (session, span) WHERE copy = 'unresolvable';
CREATE INDEX pointer_outstanding ON pointer (session) WHERE copy = 'outstanding';

-- Originals found damaged, and audits (RET-1, RET-2).
CREATE TABLE damage (epoch INTEGER PRIMARY KEY, session INTEGER NOT NULL, message TEXT NOT NULL, time REAL NOT NULL);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, compaction INTEGER NOT NULL, span INTEGER NOT NULL,
  passed INTEGER NOT NULL, message TEXT NOT NULL, time REAL NOT NULL
);
CREATE INDEX audit_session ON audit (session, id);
CREATE INDEX audit_span ON audit (span, id);
CREATE INDEX audit_failed ON audit (span) WHERE passed = 0;
-- Losses that a caller took upon itself, by cause (RET-3).
CREATE TABLE override (
  session INTEGER NOT NULL, cause TEXT NOT NULL, reason TEXT NOT NULL, time REAL NOT NULL,
  PRIMARY KEY (session, cause)
) WITHOUT ROWID;
-- What was erased, and when; swept: no page and no log of the database holds it any more (ERA-1).
CREATE TABLE erasure (
  span INTEGER PRIMARY KEY, session INTEGER NOT NULL, time REAL NOT NULL, swept INTEGER NOT NULL
);
"""

SQLITE = """
CREATE TRIGGER cold_is_immutable BEFORE UPDATE ON cold
WHEN OLD.address IS NOT NULL OR (NEW.slot, NEW.epoch, NEW.span, NEW.session, NEW.size, NEW.payload)
  IS NOT (OLD.slot, OLD.epoch, OLD.span, OLD.session, OLD.size, OLD.payload)
BEGIN SELECT RAISE(ABORT, 'entries of the cold store never change'); END;
-- The words of originals, without their text; see `index`. Every character beyond ASCII belongs to a word.
CREATE VIRTUAL TABLE entry USING fts5 (words, content = '', tokenize = 'ascii');
-- Sessions (by their first branch) that have vectors of their originals, and of what dimension; see `vectors`.
CREATE TABLE embedding (session INTEGER PRIMARY KEY, dimension INTEGER);
CREATE TABLE vector (span INTEGER PRIMARY KEY, outstanding INTEGER NOT NULL DEFAULT 1, embedding BLOB);
CREATE INDEX vector_outstanding ON vector (span) WHERE outstanding = 1;
"""

DIGESTS = """
-- A row of an index holds some 2,700 bytes, and a text may be as long as anybody likes: indexes are over its digest.
-- Not md5(), which a server under FIPS refuses. The way to bytes is the one that depends on no setting.
CREATE FUNCTION digest(text) RETURNS bytea LANGUAGE sql IMMUTABLE AS
'SELECT sha256(decode(replace($1, E''\\\\'', E''\\\\\\\\''), ''escape''))';
-- SQLite has it as another way to write `=`; here the planner puts the body in its place, and finds the index.
CREATE FUNCTION same_text(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS
'SELECT digest($1) = digest($2) AND $1 = $2';
CREATE OPERATOR == (LEFTARG = text, RIGHTARG = text, FUNCTION = same_text);
"""
"""Run before the tables are made, see `stores.postgres`."""

POSTGRES = """
CREATE TABLE anchorhold (layout BIGINT NOT NULL);
-- In place of constraints, which take columns only.
CREATE UNIQUE INDEX session_named ON session (digest("user"), digest(name), digest(branch));
CREATE UNIQUE INDEX tool_call_id ON tool_call (session, digest(id), carrier);
CREATE TABLE entry (span BIGINT PRIMARY KEY, words TEXT[] NOT NULL);
CREATE INDEX entry_words ON entry USING gin (words);
CREATE FUNCTION cold_never_changes() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''entries of the cold store never change''; END';
CREATE TRIGGER cold_is_immutable BEFORE UPDATE ON cold FOR EACH ROW
WHEN (OLD.address IS NOT NULL OR (NEW.slot, NEW.epoch, NEW.span, NEW.session, NEW.size, NEW.payload)
  IS DISTINCT FROM (OLD.slot, OLD.epoch, OLD.span, OLD.session, OLD.size, OLD.payload))
EXECUTE FUNCTION cold_never_changes();
CREATE FUNCTION instr(bytea, bytea) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT position($2 in $1)';
CREATE FUNCTION instr(text, text) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT strpos($1, $2)';
"""


def statements(script: str) -> Iterator[str]:
    """The statements of a script, one at a time: run as a whole, a script would end the transaction that it is to
    be part of."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
