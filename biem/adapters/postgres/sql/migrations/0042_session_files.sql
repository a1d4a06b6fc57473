-- The files of sessions in the folders of the mirror, and the index of mirrored memories as a view.

CREATE TABLE mirror_sessions (
    root_id    uuid NOT NULL REFERENCES mirror_roots (id) ON DELETE CASCADE,
    session_id uuid NOT NULL, -- no foreign key: the file of an erased session is still to be deleted
    ns         text NOT NULL,
    path       text NOT NULL,
    next_seq   integer NOT NULL, -- of the session as the file has it
    messages   integer NOT NULL, -- the same: fewer ones now mean that some were erased or taken back
    bytes      bigint NOT NULL, -- a file of another length was changed, or is not whole
    PRIMARY KEY (root_id, session_id)
);
CREATE INDEX mirror_sessions_ns ON mirror_sessions (ns);
ALTER TABLE mirror_sessions ENABLE ROW LEVEL SECURITY;
CREATE POLICY mirror_sessions_scope ON mirror_sessions
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON mirror_sessions TO biem_service;

-- For people and their tools: which memories have files, and where. A row per file, and one for a memory without any. The
-- conditions are those of the indexes `memories_mirrored` (layer), `memories_time` (created_at) and `memories_expiring`.
CREATE VIEW memory_index WITH (security_invoker = true) AS
SELECT m.id, m.ns, r.host, r.path || '/' || f.path AS file_path, m.layer, m.kind AS type,
    coalesce(m.metadata ->> 'category', '') AS category, coalesce(m.metadata ->> 'title', '') AS title,
    to_jsonb(m.tags) AS tags, m.at AS created_at, coalesce(m.revised_at, m.created_at) AS updated_at, m.accessed_at,
    m.access_count, m.expires_at, 'sha256:' || encode(m.evidence_sha, 'hex') AS content_hash, m.status
FROM memories m
LEFT JOIN (mirror_files f JOIN mirror_roots r ON r.id = f.root_id AND f.state <> 'gone')
    ON f.ns = m.ns AND f.memory_id = m.id
WHERE (m.status || '') <> ''
    AND (coalesce(m.metadata ->> 'category', '') <> '' OR m.layer IN ('core', 'long_term') AND m.kind <> 'event');
GRANT SELECT ON memory_index TO biem_service;

CREATE INDEX mirror_files_troubled ON mirror_files (state, root_id, path) WHERE state IN ('broken', 'held');
