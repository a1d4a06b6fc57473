-- What stood at a moment is shown by the expiry that a memory has now, which alone says until when it may be shown, and is
-- believed no more than now: a source that was found to be wrong was so then.
CREATE OR REPLACE FUNCTION standing_revisions(scopes_read text[], moment timestamptz) RETURNS SETOF memories
LANGUAGE sql STABLE AS $$
    SELECT was.*
    FROM (
        SELECT DISTINCT ON (memory_id) * FROM memory_revisions
        WHERE ns = ANY (scopes_read) AND stood_until > moment ORDER BY memory_id, revision
    ) r
    JOIN memories m ON m.id = r.memory_id
    CROSS JOIN LATERAL jsonb_populate_record(m, (r.before - '{expires_at,on_expiry}'::text[])
        || jsonb_build_object('revision', r.revision, 'text', r.text, 'lexemes', r.lexemes,
            'evidence_sha', r.evidence_sha, 'embed_sha', r.embed_sha,
            'trust', least(m.trust, (r.before ->> 'trust')::smallint))) was
    WHERE m.status <> 'archived'
$$;

-- A move of many memories is committed in slices. What remains of it is kept here, so that it can be taken up again after
-- a crash: which memories, and links to those that have moved already, which are made in the target when both ends are
-- there.
CREATE TABLE move_plans (
    id       uuid PRIMARY KEY,
    ns       text NOT NULL, -- from
    ns_to    text NOT NULL,
    begun_at timestamptz NOT NULL,
    report   jsonb NOT NULL -- counts of the slices that are done
);
CREATE INDEX move_plans_ns ON move_plans (ns);
CREATE INDEX move_plans_ns_to ON move_plans (ns_to);
ALTER TABLE move_plans ENABLE ROW LEVEL SECURITY;
CREATE POLICY move_plans_scope ON move_plans
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR ns_to = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON move_plans TO biem_service;

CREATE TABLE move_planned (
    move_id   uuid NOT NULL REFERENCES move_plans (id) ON DELETE CASCADE,
    ns        text NOT NULL, -- from
    memory_id uuid NOT NULL,
    write_seq bigint NOT NULL,
    PRIMARY KEY (move_id, memory_id)
);
CREATE INDEX move_planned_order ON move_planned (move_id, write_seq);
CREATE INDEX move_planned_memory ON move_planned (memory_id);
ALTER TABLE move_planned ENABLE ROW LEVEL SECURITY;
CREATE POLICY move_planned_scope ON move_planned
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, DELETE ON move_planned TO biem_service;

CREATE TABLE move_links (
    move_id    uuid NOT NULL REFERENCES move_plans (id) ON DELETE CASCADE,
    ns         text NOT NULL, -- from
    source_id  text NOT NULL,
    target_id  text NOT NULL,
    link_type  text NOT NULL,
    weight     double precision NOT NULL,
    strength   integer NOT NULL,
    created_at timestamptz NOT NULL,
    touched_at timestamptz NOT NULL,
    parked     boolean NOT NULL,
    PRIMARY KEY (move_id, source_id, target_id, link_type)
);
CREATE INDEX move_links_target ON move_links (move_id, target_id);
ALTER TABLE move_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY move_links_scope ON move_links
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, DELETE ON move_links TO biem_service;
