-- Notes: what is known of folders of Markdown files. The files are the source; nothing here is written back to them.

CREATE TABLE note_libraries (
    id         uuid PRIMARY KEY,
    ns         text NOT NULL REFERENCES scopes (ns),
    name       text NOT NULL,
    root       text NOT NULL,
    host       text NOT NULL, -- which machine has the folder; empty: every machine
    exclude    text[] NOT NULL DEFAULT '{}',
    state      text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'held')),
    created_at timestamptz NOT NULL DEFAULT now(),
    scanned_at timestamptz,
    full_at    timestamptz, -- when every file was read
    report     jsonb NOT NULL DEFAULT '{}', -- counts of the last scan
    UNIQUE (ns, name),
    UNIQUE (ns, host, root)
);

CREATE TABLE notes (
    id         uuid PRIMARY KEY,
    ns         text NOT NULL,
    library_id uuid NOT NULL REFERENCES note_libraries (id) ON DELETE CASCADE,
    path       text NOT NULL, -- relative to the root, with '/', as the disk names it
    title      text NOT NULL DEFAULT '',
    sha256     bytea NOT NULL DEFAULT '',
    bytes      bigint NOT NULL DEFAULT 0,
    mtime_ns   bigint NOT NULL DEFAULT 0,
    inode      numeric(20) NOT NULL DEFAULT 0,
    encoding   text NOT NULL DEFAULT '',
    front      jsonb NOT NULL DEFAULT '{}',
    at         timestamptz, -- the date of the document
    tag_ids    integer[] NOT NULL DEFAULT '{}', -- those that all its chunks have, by source
    tag_counts smallint[] NOT NULL DEFAULT '{}',
    state      text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'indexed', 'skipped', 'failed')),
    reason     text NOT NULL DEFAULT '',
    attempts   integer NOT NULL DEFAULT 0, -- leases that the note itself is to blame for
    claims     integer NOT NULL DEFAULT 0, -- all leases: who holds a note knows it by this number
    due_at     timestamptz NOT NULL DEFAULT now(),
    read_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (library_id, path)
);
CREATE INDEX notes_sha ON notes (library_id, sha256);
CREATE INDEX notes_due ON notes (due_at) WHERE state = 'pending';
CREATE INDEX notes_ns ON notes (ns);
CREATE INDEX notes_tags ON notes USING gin (tag_ids);

CREATE TABLE note_chunks (
    id         uuid PRIMARY KEY,
    ns         text NOT NULL,
    note_id    uuid NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    place      integer NOT NULL,
    chunk_key  bytea NOT NULL, -- SHA-256 of headings, body and its number among equals
    line_start integer NOT NULL,
    line_end   integer NOT NULL,
    char_start integer NOT NULL,
    char_end   integer NOT NULL,
    depth      smallint NOT NULL,
    chain      integer[] NOT NULL DEFAULT '{}', -- tags of the headings above it, outermost first
    levels     smallint[] NOT NULL DEFAULT '{}', -- of these headings
    body       text NOT NULL,
    body_sha   bytea NOT NULL, -- of the text that is embedded
    lexemes    text NOT NULL,
    tsv        tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(lexemes, ' '))) STORED,
    tokens     integer NOT NULL,
    tag_ids    integer[] NOT NULL DEFAULT '{}', -- its own, by source
    tag_counts smallint[] NOT NULL DEFAULT '{}',
    model      text NOT NULL DEFAULT '', -- the embedder whose collection holds it
    UNIQUE (note_id, chunk_key),
    UNIQUE (note_id, place) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX note_chunks_words ON note_chunks USING gin (tsv);
CREATE INDEX note_chunks_tags ON note_chunks USING gin (tag_ids);
CREATE INDEX note_chunks_sha ON note_chunks (body_sha);
CREATE INDEX note_chunks_ns ON note_chunks (ns);
CREATE INDEX note_chunks_model ON note_chunks (model);

CREATE TABLE tags (
    id      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ns      text NOT NULL,
    name    text NOT NULL, -- folded: what makes two tags the same
    shown   text NOT NULL, -- as first written
    sha256  bytea NOT NULL, -- of `shown`, the text that is embedded
    idle    boolean NOT NULL DEFAULT false, -- a heading that says nothing: it has no vector
    model   text NOT NULL DEFAULT '', -- the embedder whose collection holds it
    same_as integer REFERENCES tags (id) ON DELETE SET NULL,
    uses    integer NOT NULL DEFAULT 0, -- chunks that have it, counted after a scan
    UNIQUE (ns, name)
);
CREATE INDEX tags_sha ON tags (sha256);
CREATE INDEX tags_same ON tags (same_as) WHERE same_as IS NOT NULL;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['note_libraries', 'notes', 'note_chunks', 'tags'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON note_libraries, notes, note_chunks, tags TO biem_service;
GRANT USAGE ON SEQUENCE tags_id_seq TO biem_service;

-- Row-level security keeps `@@` and `&&` from their indexes; these two apply the policy themselves.
CREATE FUNCTION matching_chunks(scopes_read text[], words tsquery, libraries uuid[], most integer)
RETURNS TABLE (id uuid, lexemes text)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT c.id, c.lexemes
    FROM note_chunks c
    WHERE c.tsv @@ words AND (c.ns = ANY (scopes_read)) IS TRUE
        AND (c.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        AND (libraries IS NULL OR EXISTS (
            SELECT FROM notes n WHERE n.id = c.note_id AND n.library_id = ANY (libraries)))
    ORDER BY ts_rank(c.tsv, words, 1) DESC, c.id
    LIMIT most;
END;
REVOKE ALL ON FUNCTION matching_chunks FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_chunks TO biem_service;

CREATE FUNCTION tagged_notes(scopes_read text[], wanted integer[], most integer)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT found.id
    FROM (
        (SELECT n.id FROM notes n
        WHERE n.tag_ids && wanted AND (n.ns = ANY (scopes_read)) IS TRUE
            AND (n.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        LIMIT most)
        UNION
        (SELECT c.note_id FROM note_chunks c
        WHERE c.tag_ids && wanted AND (c.ns = ANY (scopes_read)) IS TRUE
            AND (c.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        LIMIT most)
    ) found
    LIMIT most;
END;
REVOKE ALL ON FUNCTION tagged_notes FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tagged_notes TO biem_service;

-- A vector belongs to whom its text belongs to, which may be a chunk or a tag, too.
DROP POLICY embeddings_scope ON embeddings;
CREATE POLICY embeddings_scope ON embeddings
    USING ((SELECT current_setting('biem.ns', true)) = '*'
        OR (SELECT true FROM memories m
            WHERE m.embed_sha = embeddings.sha256
                AND m.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1)
        OR (SELECT true FROM memory_revisions r
            WHERE r.embed_sha = embeddings.sha256
                AND r.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1)
        OR (SELECT true FROM note_chunks c
            WHERE c.body_sha = embeddings.sha256
                AND c.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1)
        OR (SELECT true FROM tags t
            WHERE t.sha256 = embeddings.sha256
                AND t.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1));
