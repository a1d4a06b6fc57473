-- The life of memories: where each is kept (tier), when it may be forgotten (due_at), when it was forgotten and why,
-- and from when until when what it says holds. None of the columns that an access changes is indexed, so that counting
-- an access stays a HOT update; what ages is computed from (energy_anchor, anchor_at) and never rewritten.

ALTER TABLE memories
    ADD COLUMN tier text NOT NULL DEFAULT 'L2' CHECK (tier IN ('L1', 'L2', 'L3')),
    ADD COLUMN boosted_at timestamptz,
    ADD COLUMN due_at timestamptz, -- when its retention is looked at again, at the latest; null: never
    ADD COLUMN archived_at timestamptz,
    ADD COLUMN archive_reason text NOT NULL DEFAULT '',
    ADD COLUMN valid_from timestamptz,
    ADD COLUMN valid_to timestamptz,
    ADD COLUMN superseded_by uuid;
UPDATE memories
SET valid_from = at,
    due_at = CASE WHEN layer <> 'core' AND importance < 5 THEN created_at + interval '90 days' END,
    tier = CASE status WHEN 'archived' THEN 'L3' ELSE 'L2' END;
ALTER TABLE memories ALTER COLUMN valid_from SET NOT NULL;

CREATE INDEX memories_canvas ON memories (ns) WHERE tier = 'L1';
CREATE INDEX memories_due ON memories (ns, due_at) WHERE status = 'active' AND due_at IS NOT NULL;
CREATE INDEX memories_superseded ON memories (superseded_by) WHERE superseded_by IS NOT NULL;
-- What was superseded or merged no longer stands for its fact: said again, the fact is a new memory.
DROP INDEX memories_fact;
CREATE UNIQUE INDEX memories_fact ON memories (ns, fact_key) WHERE fact_key IS NOT NULL AND superseded_by IS NULL;

-- Until this number of writes a scope cannot hold more memories than allowed, so nobody needs to count them.
ALTER TABLE scopes ADD COLUMN room_until bigint NOT NULL DEFAULT 0;

ALTER TABLE outbox DROP CONSTRAINT outbox_task_check, ADD CONSTRAINT outbox_task_check CHECK (task ~ '^[a-z_]{1,32}$');

-- domain/energy.py, energy_at: one formula here and there, compared by a test. PostgreSQL raises where a product or an
-- exponential underflows, so what is as good as nothing is 0 and the exponent is cut.
CREATE FUNCTION energy_at(anchor double precision, anchor_at timestamptz, at timestamptz, decay_per_hour double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN anchor < 1e-12 THEN 0.0 ELSE least(1.0, anchor * exp(greatest(-600.0,
    -decay_per_hour * greatest(0.0, extract(epoch FROM at - anchor_at)::double precision / 3600.0)))) END;
GRANT EXECUTE ON FUNCTION energy_at TO biem_service;

-- The text search learns to answer as of an instant; see the first migration for why it is a function.
DROP FUNCTION matching_memories;
CREATE FUNCTION matching_memories(
    scopes_read text[], words tsquery, most integer,
    kinds text[] DEFAULT NULL, speakers text[] DEFAULT NULL, conversations text[] DEFAULT NULL,
    tags_all text[] DEFAULT '{}', since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    as_of timestamptz DEFAULT NULL
)
RETURNS TABLE (id uuid, lexemes text)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT m.id, m.lexemes
    FROM memories m
    WHERE m.tsv @@ words AND m.ns = ANY (scopes_read) AND m.status <> 'archived'
        AND (m.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        AND (kinds IS NULL OR m.kind = ANY (kinds))
        AND (speakers IS NULL OR m.speaker = ANY (speakers))
        AND (conversations IS NULL OR m.conversation = ANY (conversations))
        AND m.tags @> tags_all
        AND (since IS NULL OR m.at >= since)
        AND (until IS NULL OR m.at < until)
        AND (as_of IS NULL OR m.valid_from <= as_of AND (m.valid_to IS NULL OR m.valid_to > as_of))
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.id
    LIMIT most;
END;
REVOKE ALL ON FUNCTION matching_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_memories TO biem_service;
