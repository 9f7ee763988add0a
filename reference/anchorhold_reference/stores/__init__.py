"""Where things are kept: the ledger (SQLite, PostgreSQL) and the bytes of originals (in the ledger, a directory, an
object store)."""
