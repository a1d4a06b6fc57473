-- The mirror: memories as Markdown files, and the projects that have one in their folders. No trigger and no queue: a sync
-- joins files and memories, so that a write of a memory costs nothing for it.

CREATE TABLE projects (
    ns         text NOT NULL, -- the user's own level
    key        text NOT NULL, -- the project of its scope
    name       text NOT NULL DEFAULT '', -- to be shown; empty: the key
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (ns, key)
);
CREATE TABLE project_roots (
    ns        text NOT NULL,
    host      text NOT NULL,
    root      text NOT NULL, -- the main work tree
    key       text NOT NULL,
    linked    boolean NOT NULL DEFAULT false, -- by hand
    PRIMARY KEY (ns, host, root),
    FOREIGN KEY (ns, key) REFERENCES projects (ns, key) ON DELETE CASCADE
);
CREATE INDEX project_roots_key ON project_roots (ns, key);

CREATE TABLE mirror_roots (
    id        uuid PRIMARY KEY,
    ns        text NOT NULL REFERENCES scopes (ns),
    path      text NOT NULL,
    host      text NOT NULL,
    kind      text NOT NULL DEFAULT 'global' CHECK (kind IN ('global', 'project')),
    state     text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
    adopted   boolean NOT NULL DEFAULT false, -- files that we did not write are taken in
    synced_at timestamptz,
    report    jsonb NOT NULL DEFAULT '{}', -- of the last sync that did anything
    UNIQUE (host, path) -- one folder, one scope
);
CREATE INDEX mirror_roots_ns ON mirror_roots (ns);

CREATE TABLE mirror_files (
    root_id   uuid NOT NULL REFERENCES mirror_roots (id) ON DELETE CASCADE,
    path      text NOT NULL, -- relative, with '/', as the disk names it
    ns        text NOT NULL,
    memory_id uuid, -- no foreign key: the file of an erased memory is still to be deleted
    sha256    bytea NOT NULL,
    bytes     bigint NOT NULL,
    mtime_ns  bigint NOT NULL,
    inode     numeric(20) NOT NULL DEFAULT 0,
    read_ns   bigint NOT NULL,
    state     text NOT NULL DEFAULT 'clean' CHECK (state IN ('clean', 'new', 'broken', 'held', 'stranger', 'refused', 'gone')),
    reason    text NOT NULL DEFAULT '',
    revision  integer NOT NULL DEFAULT 0, -- of the memory, when both agreed
    layer     text NOT NULL DEFAULT '',
    archived  boolean NOT NULL DEFAULT false,
    base      jsonb, -- what both said when they agreed
    PRIMARY KEY (root_id, path)
);
CREATE UNIQUE INDEX mirror_files_memory ON mirror_files (root_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX mirror_files_ns ON mirror_files (ns, memory_id);

-- Ids of erased memories that had a file: a copy of it, as in a branch of Git, is refused.
CREATE TABLE mirror_erased (
    memory_id uuid PRIMARY KEY,
    ns        text NOT NULL
);
CREATE INDEX mirror_erased_ns ON mirror_erased (ns);

-- The memories that have files: those of a category, and core and long-term ones that are no messages.
CREATE INDEX memories_mirrored ON memories (ns, id)
    WHERE coalesce(metadata ->> 'category', '') <> '' OR layer IN ('core', 'long_term') AND kind <> 'event';

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['projects', 'project_roots', 'mirror_roots', 'mirror_files', 'mirror_erased'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON projects, project_roots, mirror_roots, mirror_files, mirror_erased TO biem_service;
