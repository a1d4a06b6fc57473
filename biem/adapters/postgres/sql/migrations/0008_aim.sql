-- AIM-Memory: which memories are formed, their place in the temporal mirror, and what the write gate refused.
-- What is refused stays an event: indexed and findable, without energy, links, layer or facts.

ALTER TABLE memories
    ADD COLUMN formed boolean NOT NULL DEFAULT true,
    ADD COLUMN mirror_seq bigint; -- its number among the formed ones of its scope; null: not decided yet, or refused
UPDATE memories SET mirror_seq = write_seq WHERE status <> 'pending';

-- How many memories of a scope were formed. Not a column of scopes: an acknowledgement must not wait for a decision.
CREATE TABLE mirrors (
    ns  text PRIMARY KEY REFERENCES scopes (ns) ON DELETE CASCADE,
    seq bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 20);
INSERT INTO mirrors (ns, seq) SELECT ns, write_seq FROM scopes;

-- Refusals, and what somebody else than the worker decided. A decision may come before its memory: no foreign key.
CREATE TABLE gate_decisions (
    memory_id  uuid PRIMARY KEY,
    ns         text NOT NULL,
    formed     boolean NOT NULL,
    value      double precision NOT NULL,
    threshold  double precision NOT NULL,
    form       text NOT NULL CHECK (form IN ('raw', 'centered')),
    relevance  double precision NOT NULL,
    surprise   double precision NOT NULL,
    conflict   double precision NOT NULL,
    decided_at timestamptz NOT NULL,
    mirror_seq bigint -- the number it gets, where that is known already
);
CREATE INDEX gate_decisions_refused ON gate_decisions (ns, decided_at, memory_id) WHERE NOT formed;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['mirrors', 'gate_decisions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON mirrors, gate_decisions TO biem_service;

-- Decisions go with their memories, and those whose memory never came with their scope.
CREATE FUNCTION forget_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gate_decisions d USING gone WHERE d.memory_id = gone.id;
    RETURN NULL;
END $$;
CREATE TRIGGER memories_decisions AFTER DELETE ON memories
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_decisions();
CREATE FUNCTION forget_decisions_of_scope() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gate_decisions WHERE ns = OLD.ns;
    RETURN NULL;
END $$;
CREATE TRIGGER scopes_decisions AFTER DELETE ON scopes FOR EACH ROW EXECUTE FUNCTION forget_decisions_of_scope();

-- Whatever counts accesses or moves memories about, one that is not formed gains nothing by it; but what somebody
-- called useful is formed.
CREATE FUNCTION keep_unformed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.useful_count > OLD.useful_count THEN
        NEW.formed := true;
        NEW.energy_anchor := OLD.initial_energy;
        NEW.anchor_at := greatest(NEW.anchor_at, OLD.anchor_at);
        NEW.mirror_seq := (SELECT seq FROM mirrors WHERE ns = NEW.ns);
    ELSE
        NEW.energy_anchor := 0;
        NEW.layer := OLD.layer;
        IF NEW.tier = 'L1' THEN
            NEW.tier := 'L2';
        END IF;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER memories_unformed BEFORE UPDATE ON memories FOR EACH ROW
    WHEN (NOT NEW.formed) EXECUTE FUNCTION keep_unformed();

-- No fact is distilled from what was not formed, and nothing is merged with it.
DROP TRIGGER memories_crystallise ON memories;
CREATE TRIGGER memories_crystallise AFTER UPDATE OF access_count, useful_count ON memories FOR EACH ROW
    WHEN (NEW.formed AND NEW.status = 'active' AND NOT NEW.metadata ? 'fact'
        AND (NEW.access_count > OLD.access_count AND NEW.access_count >= 3 OR NEW.useful_count > OLD.useful_count))
    EXECUTE FUNCTION consolidate_later('crystal');

-- Nor do links end in it.
CREATE OR REPLACE VIEW graph_nodes WITH (security_invoker = true) AS
    SELECT ns, id, accessed_at FROM memories WHERE status <> 'archived' AND formed
    UNION ALL
    SELECT ns, id, accessed_at FROM concepts;
