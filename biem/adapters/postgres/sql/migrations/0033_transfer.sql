-- Memories that come from a file or from another scope are indexed, and what relates them comes with them.

-- Conflicts, links and notes of the memory are known: a worker only indexes it. A worker of an earlier version looks for
-- them again, which adds nothing that is there.
ALTER TABLE outbox ADD COLUMN known boolean NOT NULL DEFAULT false;

-- What was moved between scopes: names and counts, no text. Written in the transaction of the move.
CREATE TABLE moves (
    id       uuid PRIMARY KEY,
    ns       text NOT NULL, -- from
    ns_to    text NOT NULL,
    moved_at timestamptz NOT NULL,
    report   jsonb NOT NULL -- counts
);
CREATE INDEX moves_ns ON moves (ns);
CREATE INDEX moves_ns_to ON moves (ns_to);
ALTER TABLE moves ENABLE ROW LEVEL SECURITY;
CREATE POLICY moves_scope ON moves
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR ns_to = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON moves TO biem_service;

-- The memories of a move that is under way; never seen by others, because the transaction that adds them deletes them.
CREATE TABLE move_members (
    move_id   uuid NOT NULL,
    ns        text NOT NULL, -- from
    memory_id uuid NOT NULL,
    PRIMARY KEY (move_id, memory_id)
);
ALTER TABLE move_members ENABLE ROW LEVEL SECURITY;
CREATE POLICY move_members_scope ON move_members
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, DELETE ON move_members TO biem_service;
