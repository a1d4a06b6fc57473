-- The first and the last date of a scope's notes, which searches look up again and again: no note but these two is read.
CREATE INDEX notes_dated ON notes (ns, at);
DROP INDEX notes_ns;
