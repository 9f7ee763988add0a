"""The ledger's tables. Which rule each one serves stands beside it.

`TABLES` is written in SQLite's types and holds for both databases (`stores.postgres` names the types anew); what
only one of them understands is in `SQLITE` and `POSTGRES`.
"""

import sqlite3
from collections.abc import Iterator

APPLICATION_ID = 0x416E6368
"""`Anch`: tells this file from anybody else's database."""
LAYOUT = 1

TABLES = """
-- Grows strictly, across restarts too (EPO-2).
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('epoch', 0), ('slot', 0);

-- Everything below belongs to one session of one user, and is read through its id only (ISO-1).
CREATE TABLE session (
  id INTEGER PRIMARY KEY, "user" TEXT NOT NULL, name TEXT NOT NULL, branch TEXT NOT NULL,
  compactions INTEGER NOT NULL DEFAULT 0, UNIQUE ("user", name, branch)
);

-- Raw spans (generation 0) and summaries. AUTOINCREMENT: an id is never used again, not even after a deletion.
CREATE TABLE carrier (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES session,
  position INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('live', 'staged', 'replaced')),
  claimed INTEGER REFERENCES carrier,  -- the staged summary about to replace it: one claim at a time (CON-2, ANC-4)
  leaf INTEGER REFERENCES carrier,     -- raw: the first summary that stood for it
  top INTEGER REFERENCES carrier       -- summary: the live summary that stands for it now, maybe itself (PTR-4)
);
CREATE INDEX carrier_live ON carrier (session, position) WHERE state = 'live';
CREATE INDEX carrier_staged ON carrier (session) WHERE state = 'staged';
CREATE INDEX carrier_claimed ON carrier (claimed) WHERE claimed IS NOT NULL;
CREATE INDEX carrier_leaf ON carrier (leaf) WHERE leaf IS NOT NULL;
CREATE INDEX carrier_top ON carrier (top) WHERE top IS NOT NULL;

-- Turns as they entered. The payload stays until the commit over it is durable and its copy has landed (PTR-2).
CREATE TABLE turn (
  carrier INTEGER PRIMARY KEY REFERENCES carrier,
  session INTEGER NOT NULL, id TEXT NOT NULL, speaker TEXT NOT NULL,
  digest BLOB NOT NULL, payload BLOB,
  read INTEGER NOT NULL DEFAULT 0,  -- its assertions stand in `assertion`
  UNIQUE (session, id)
);
CREATE INDEX turn_unreleased ON turn (session) WHERE payload IS NOT NULL;

CREATE TABLE summary (
  carrier INTEGER PRIMARY KEY REFERENCES carrier,
  session INTEGER NOT NULL,
  owner BLOB NOT NULL,  -- the opening of the store that wrote it, as in pointer.issuer
  text TEXT NOT NULL,   -- as it stands in the window
  body TEXT NOT NULL,   -- without the line that the compactor adds: what the manifest is computed from
  reply TEXT NOT NULL   -- as the summariser wrote it
);

-- Facts are kept once; an assertion is a fact with the span that says it (MAN-4).
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
  span INTEGER NOT NULL, fact INTEGER NOT NULL, session INTEGER NOT NULL,
  literal TEXT NOT NULL, decided_by TEXT NOT NULL, reason TEXT NOT NULL, time REAL NOT NULL, superseder INTEGER,
  PRIMARY KEY (span, fact)
) WITHOUT ROWID;
CREATE INDEX tombstone_session ON tombstone (session, literal);
CREATE INDEX tombstone_fact ON tombstone (fact);

-- The cold store. Entries never change; a slot that was emptied is used again, at another epoch (EPO-1).
CREATE TABLE cold (
  slot INTEGER PRIMARY KEY, epoch INTEGER NOT NULL UNIQUE, span INTEGER NOT NULL, payload BLOB NOT NULL
);
CREATE INDEX cold_span ON cold (span);
CREATE TABLE free_slot (slot INTEGER PRIMARY KEY);

-- Every pointer that was ever issued and not undone: what is not here is foreign (EPO-2).
CREATE TABLE pointer (
  epoch INTEGER PRIMARY KEY, slot INTEGER NOT NULL, issuer BLOB NOT NULL, digest BLOB NOT NULL,
  session INTEGER NOT NULL, span INTEGER NOT NULL,
  holding TEXT NOT NULL CHECK (holding IN ('staged', 'committed', 'gone')), time REAL NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0  -- its words are in the full-text index (REC-4)
);
CREATE UNIQUE INDEX pointer_span ON pointer (span);
CREATE INDEX pointer_session ON pointer (session, holding);
CREATE INDEX pointer_unindexed ON pointer (session) WHERE indexed = 0 AND holding = 'committed';

-- Originals found damaged, and audits (RET-1, RET-2).
CREATE TABLE damage (epoch INTEGER PRIMARY KEY, session INTEGER NOT NULL, message TEXT NOT NULL, time REAL NOT NULL);
CREATE INDEX damage_session ON damage (session);
CREATE TABLE audit (
  id INTEGER PRIMARY KEY, session INTEGER NOT NULL, compaction INTEGER NOT NULL, span INTEGER NOT NULL,
  passed INTEGER NOT NULL, message TEXT NOT NULL, time REAL NOT NULL
);
CREATE INDEX audit_session ON audit (session, id);
"""

SQLITE = """
CREATE TRIGGER cold_is_immutable BEFORE UPDATE ON cold
BEGIN SELECT RAISE(ABORT, 'entries of the cold store never change'); END;
-- The words of originals, without their text; see `index`. Every character beyond ASCII belongs to a word.
CREATE VIRTUAL TABLE entry USING fts5 (words, content = '', tokenize = 'ascii');
"""

POSTGRES = """
CREATE TABLE anchorhold (layout BIGINT NOT NULL);
CREATE TABLE entry (span BIGINT PRIMARY KEY, words TEXT[] NOT NULL);
CREATE INDEX entry_words ON entry USING gin (words);
CREATE FUNCTION cold_never_changes() RETURNS trigger LANGUAGE plpgsql AS
'BEGIN RAISE EXCEPTION ''entries of the cold store never change''; END';
CREATE TRIGGER cold_is_immutable BEFORE UPDATE ON cold FOR EACH ROW EXECUTE FUNCTION cold_never_changes();
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
