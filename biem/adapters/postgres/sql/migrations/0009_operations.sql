-- What running the system needs: dead letters are found without reading the outbox, which embedder all memories are
-- moved to and how far that is, and how long operations took.

CREATE INDEX outbox_dead ON outbox (dead_at, id) WHERE dead_at IS NOT NULL;

-- One row a model that memories were moved to by `biem reembed`; programs embed with the current one.
CREATE TABLE embedders (
    model      text PRIMARY KEY, -- the embedder's id
    dim        integer NOT NULL CHECK (dim > 0),
    collection text NOT NULL,
    settings   jsonb NOT NULL, -- what builds it, but for keys
    state      text NOT NULL CHECK (state IN ('filling', 'current', 'retired')),
    cursor     uuid, -- memories up to here are in its collection
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX embedders_current ON embedders (state) WHERE state = 'current';
GRANT SELECT, INSERT, UPDATE, DELETE ON embedders TO biem_service;

-- Durations, without a word of what was said: no scope, no text.
CREATE TABLE metrics (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation   text NOT NULL CHECK (operation IN ('retrieve', 'store', 'context_build', 'trim')),
    layer       text NOT NULL DEFAULT '',
    duration_ms double precision NOT NULL,
    breakdown   jsonb NOT NULL DEFAULT '{}', -- milliseconds by step
    timestamp   timestamptz NOT NULL,
    context     jsonb NOT NULL DEFAULT '{}' -- counts and flags of the span
);
CREATE INDEX metrics_time ON metrics (timestamp);
GRANT SELECT, INSERT, UPDATE, DELETE ON metrics TO biem_service;
