-- Notes that the index lacks, wholly or in part: each search looks among their chunks by words, and they are few.
CREATE INDEX notes_unindexed ON notes (ns) WHERE state IN ('pending', 'failed');
