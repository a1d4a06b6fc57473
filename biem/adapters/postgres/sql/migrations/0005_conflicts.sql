-- Pairs of memories that disagree, what was decided about them, and who lost to whom. A memory's valid_to and
-- superseded_by follow from its supersessions (the earliest end counts), so each decision can be taken back alone.

CREATE TABLE conflicts (
    id          uuid PRIMARY KEY,
    ns          text NOT NULL,
    kind        text NOT NULL CHECK (kind IN ('contradiction', 'update', 'duplicate')),
    older_id    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    newer_id    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    confidence  real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    rule        text NOT NULL,
    attribute   text NOT NULL DEFAULT '',
    suspected   boolean NOT NULL DEFAULT false, -- for a model to look at; nobody else is told
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'resolved', 'ignored')),
    resolution  text CHECK (resolution IN ('keep_new', 'keep_old', 'merge', 'keep_both')),
    decided_by  text CHECK (decided_by IN ('rule', 'judge', 'user')),
    merged_id   uuid, -- the memory that a merge made
    plan        jsonb, -- steps of a merge, or of taking one back, that are under way
    due_at      timestamptz, -- when a worker should look at it; a lease moves it ahead
    attempts    integer NOT NULL DEFAULT 0,
    created_at  timestamptz NOT NULL,
    resolved_at timestamptz,
    UNIQUE (ns, older_id, newer_id), -- checking twice finds nothing new
    CHECK (older_id <> newer_id),
    CHECK ((status = 'resolved') = (resolution IS NOT NULL)),
    CHECK ((status = 'pending') = (decided_by IS NULL))
);
CREATE INDEX conflicts_recent ON conflicts (ns, created_at DESC, id);
CREATE INDEX conflicts_pending ON conflicts (ns, created_at DESC, id) WHERE status = 'pending' AND NOT suspected;
CREATE INDEX conflicts_older ON conflicts (older_id);
CREATE INDEX conflicts_newer ON conflicts (newer_id);
CREATE INDEX conflicts_merged ON conflicts (merged_id) WHERE merged_id IS NOT NULL;
CREATE INDEX conflicts_planned ON conflicts (due_at) WHERE plan IS NOT NULL;
CREATE INDEX conflicts_unjudged ON conflicts (due_at) WHERE plan IS NULL AND status = 'pending' AND due_at IS NOT NULL;

CREATE TABLE supersessions (
    conflict_id uuid NOT NULL REFERENCES conflicts (id) ON DELETE CASCADE,
    ns          text NOT NULL,
    loser_id    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    winner_id   uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    ended_at    timestamptz NOT NULL,
    PRIMARY KEY (conflict_id, loser_id)
);
CREATE INDEX supersessions_loser ON supersessions (loser_id);
CREATE INDEX supersessions_winner ON supersessions (winner_id);

-- As the domain's Conflict has it, in the order of adapters/conflicts.py; reads with the rights of who asks.
CREATE VIEW conflict_pairs WITH (security_invoker = true) AS
SELECT c.id, c.ns, c.kind, c.older_id, c.newer_id, o.text AS older_text, n.text AS newer_text, c.confidence, c.rule,
    c.attribute, c.status, c.resolution, c.decided_by, c.merged_id, c.created_at, c.resolved_at,
    c.status = 'pending' AND (o.status = 'archived' OR n.status = 'archived' OR o.superseded_by IS NOT NULL
        OR n.superseded_by IS NOT NULL) AS moot,
    c.suspected, c.plan
FROM conflicts c JOIN memories o ON o.id = c.older_id JOIN memories n ON n.id = c.newer_id;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['conflicts', 'supersessions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON conflicts, supersessions TO biem_service;
GRANT SELECT ON conflict_pairs TO biem_service;
