-- What was made of what, what there is to consolidate, and which turns' feedback was taken.

CREATE TABLE derivations (
    ns        text NOT NULL,
    memory_id uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    source_id uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    origin    text NOT NULL CHECK (origin IN ('dedupe', 'merge', 'crystal', 'heir')),
    linked    boolean NOT NULL DEFAULT true, -- false: the links of the source are still to be taken over
    PRIMARY KEY (memory_id, source_id, origin),
    CHECK (memory_id <> source_id)
);
CREATE INDEX derivations_source ON derivations (source_id);
CREATE INDEX derivations_unlinked ON derivations (ns, memory_id) WHERE NOT linked;

-- A fact is a memory, too; one without the other cannot be.
ALTER TABLE crystal_facts ADD CONSTRAINT crystal_facts_memory FOREIGN KEY (id) REFERENCES memories (id) ON DELETE CASCADE;
CREATE UNIQUE INDEX crystal_facts_sources ON crystal_facts (ns, (metadata ->> 'sources_hash'));
CREATE INDEX crystal_facts_current ON crystal_facts (ns, id) WHERE NOT metadata ? 'superseded_by';

-- Memories that a job has to look at, because something happened to them: so no job ever searches for its work.
CREATE TABLE consolidation_queue (
    ns        text NOT NULL,
    job       text NOT NULL CHECK (job IN ('dedupe', 'merge', 'crystal')),
    memory_id uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    marks     integer NOT NULL DEFAULT 1, -- what happens while a job looks at it is not forgotten
    PRIMARY KEY (ns, job, memory_id)
);
CREATE INDEX consolidation_queue_memory ON consolidation_queue (memory_id);
CREATE FUNCTION consolidate_later() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO consolidation_queue AS q (ns, job, memory_id) VALUES (NEW.ns, TG_ARGV[0], NEW.id)
    ON CONFLICT (ns, job, memory_id) DO UPDATE SET marks = q.marks + 1;
    RETURN NULL;
END $$;
-- A fact has its vector: does another one say the same?
CREATE TRIGGER memories_dedupe AFTER UPDATE OF status ON memories FOR EACH ROW
    WHEN (NEW.kind <> 'event' AND NEW.status = 'active' AND OLD.status = 'pending')
    EXECUTE FUNCTION consolidate_later('dedupe');
CREATE TRIGGER memories_merge AFTER UPDATE OF status, layer ON memories FOR EACH ROW
    WHEN (NEW.kind <> 'event' AND NEW.status = 'active' AND NEW.layer = 'long_term'
        AND (OLD.status = 'pending' OR OLD.layer <> 'long_term'))
    EXECUTE FUNCTION consolidate_later('merge');
-- It was used again, and not for the first time: is it one of many that are used together? (ConsolidationPolicy says
-- from how many uses on; less than 3 accesses are never looked at.)
CREATE TRIGGER memories_crystallise AFTER UPDATE OF access_count, useful_count ON memories FOR EACH ROW
    WHEN (NEW.status = 'active' AND NOT NEW.metadata ? 'fact'
        AND (NEW.access_count > OLD.access_count AND NEW.access_count >= 3 OR NEW.useful_count > OLD.useful_count))
    EXECUTE FUNCTION consolidate_later('crystal');

CREATE TABLE feedbacks (
    ns   text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE,
    turn text NOT NULL,
    at   timestamptz NOT NULL,
    PRIMARY KEY (ns, turn)
);
CREATE INDEX feedbacks_at ON feedbacks (ns, at);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['derivations', 'consolidation_queue', 'feedbacks'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON derivations, consolidation_queue, feedbacks TO biem_service;
