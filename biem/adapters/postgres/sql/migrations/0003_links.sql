-- Links know when they changed, so that a process can keep its graph up to date by asking for what is new.

-- Versions come from one sequence, taken under the lock of the scope's row: within a scope they commit in order, and a
-- scope that is erased and made anew continues above its old ones.
CREATE SEQUENCE graph_versions;
GRANT USAGE ON SEQUENCE graph_versions TO biem_service;
ALTER TABLE scopes
    ADD COLUMN graph_floor   bigint NOT NULL DEFAULT nextval('graph_versions'), -- removals up to here are not kept
    ADD COLUMN graph_version bigint NOT NULL DEFAULT nextval('graph_versions'),
    ADD COLUMN graph_pruned  bigint NOT NULL DEFAULT 0; -- changes up to here were looked at by pruning

ALTER TABLE crystal_links
    ADD COLUMN version bigint NOT NULL DEFAULT 0,
    ADD COLUMN deleted boolean NOT NULL DEFAULT false, -- kept for a while, so that others learn of it
    ADD COLUMN parked  boolean NOT NULL DEFAULT false, -- deleted because an end is archived; comes back with it
    ADD CONSTRAINT crystal_links_types CHECK (link_type IN ('temporal', 'semantic', 'causal', 'mention', 'cooccurrence')),
    ADD CONSTRAINT crystal_links_values CHECK (weight BETWEEN 0 AND 1 AND strength >= 0 AND source_id <> target_id);
DROP INDEX crystal_links_ns;
CREATE INDEX crystal_links_version ON crystal_links (ns, version);
CREATE INDEX crystal_links_idle ON crystal_links (ns, link_type, touched_at) WHERE NOT deleted;
CREATE INDEX crystal_links_gone ON crystal_links (ns, touched_at) WHERE deleted AND NOT parked;

-- Names of pieces of work that added to links and must not add twice.
CREATE TABLE link_work (
    ns      text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE,
    name    text NOT NULL,
    done_at timestamptz NOT NULL,
    PRIMARY KEY (ns, name)
);
CREATE INDEX link_work_done ON link_work (ns, done_at);
ALTER TABLE link_work ENABLE ROW LEVEL SECURITY;
CREATE POLICY link_work_scope ON link_work USING (
    ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
    OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON link_work TO biem_service;

-- What a link may end in. Whoever adds another kind of node replaces the view with a further UNION ALL of the same
-- three columns and types; ids are unique over all of them.
CREATE VIEW graph_nodes WITH (security_invoker = true) AS
    SELECT ns, id, accessed_at FROM memories WHERE status <> 'archived';
GRANT SELECT ON graph_nodes TO biem_service;

-- The last memories of a conversation before another one.
CREATE INDEX memories_talk ON memories (ns, conversation, at, write_seq);

-- Rows that vanish leave no trace to learn from, so whoever knows an older version has to load anew.
CREATE FUNCTION links_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM scopes WHERE ns IN (SELECT ns FROM gone) ORDER BY ns FOR NO KEY UPDATE; -- before a version is taken
    UPDATE scopes s
    SET graph_version = CASE WHEN d.live THEN d.next ELSE s.graph_version END,
        graph_floor = CASE WHEN d.live THEN d.next ELSE greatest(s.graph_floor, d.version) END
    FROM (
        SELECT ns, bool_or(NOT deleted) AS live, max(version) AS version, nextval('graph_versions') AS next
        FROM gone GROUP BY ns
    ) d
    WHERE s.ns = d.ns;
    RETURN NULL;
END $$;
CREATE TRIGGER crystal_links_deleted AFTER DELETE ON crystal_links
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION links_deleted();
