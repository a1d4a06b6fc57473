-- What was erased is looked for again in the projections, ever more seldom: whoever slept while he wrote there, for
-- however long, may leave a row behind and be killed before he learns that nobody wants it.

CREATE TABLE tombstones (
    memory_id uuid PRIMARY KEY,
    ns        text NOT NULL,
    erased_at timestamptz NOT NULL,
    look_at   timestamptz NOT NULL
);
CREATE INDEX tombstones_look ON tombstones (look_at);
ALTER TABLE tombstones ENABLE ROW LEVEL SECURITY;
CREATE POLICY tombstones_scope ON tombstones
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON tombstones TO biem_service;
