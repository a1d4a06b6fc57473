-- What notes say of facts: which sentence of which chunk confirms or contradicts a memory, until somebody decides.

CREATE TABLE note_verdicts (
    id         uuid PRIMARY KEY,
    ns         text NOT NULL, -- of the memory
    memory_id  uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    chunk_id   uuid NOT NULL REFERENCES note_chunks (id) ON DELETE CASCADE,
    kind       text NOT NULL CHECK (kind IN ('contradicts', 'confirms')),
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    sentence   text NOT NULL, -- of the note
    status     text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'kept', 'dismissed')),
    found_at   timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    UNIQUE (chunk_id, memory_id)
);
CREATE INDEX note_verdicts_memory ON note_verdicts (memory_id);
CREATE INDEX note_verdicts_open ON note_verdicts (ns) WHERE status = 'open';

-- With which notes a fact was compared: up to which chunk, and in which wording.
CREATE TABLE note_compared (
    memory_id uuid PRIMARY KEY REFERENCES memories (id) ON DELETE CASCADE,
    ns        text NOT NULL,
    sha       bytea NOT NULL,
    newest    uuid NOT NULL
);
CREATE INDEX note_compared_ns ON note_compared (ns);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['note_verdicts', 'note_compared'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON note_verdicts, note_compared TO biem_service;

-- The newest chunk of a scope.
CREATE INDEX note_chunks_newest ON note_chunks (ns, id);
DROP INDEX note_chunks_ns;

-- Where a chunk stands in characters is not stored any more: each edit moved all later chunks of its file. What an edit does
-- move, lines and places, is written beside the old row.
ALTER TABLE note_chunks ALTER COLUMN char_start SET DEFAULT 0, ALTER COLUMN char_end SET DEFAULT 0;
ALTER TABLE note_chunks SET (fillfactor = 85);

-- Calls of an embedding server, for its quota; counts of all scopes together, no text.
CREATE TABLE embedder_usage (
    model text NOT NULL,
    day   date NOT NULL,
    calls bigint NOT NULL DEFAULT 0,
    texts bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (model, day)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON embedder_usage TO biem_service;
