-- Sessions: conversations word for word, and what of them a model is given.

CREATE TABLE sessions (
    id          uuid PRIMARY KEY,
    ns          text NOT NULL REFERENCES scopes (ns),
    name        text NOT NULL,
    status      text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'closed', 'archived')),
    opened_at   timestamptz NOT NULL,
    closed_at   timestamptz,
    archived_at timestamptz,
    next_seq    integer NOT NULL DEFAULT 1, -- of the next message
    head_seq    integer NOT NULL DEFAULT 1, -- what precedes it was trimmed, but for system messages
    round       integer NOT NULL DEFAULT 0, -- of the last message; a message of the user begins one
    messages    integer NOT NULL DEFAULT 0,
    tokens      bigint NOT NULL DEFAULT 0, -- of messages that were not trimmed
    all_tokens  bigint NOT NULL DEFAULT 0,
    trim_at     timestamptz, -- when the session is to be trimmed; null: there is no need
    trim_tries  integer NOT NULL DEFAULT 0, -- failed summaries in a row
    metadata    jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50); -- each message updates its row: there is room for it on the page
CREATE UNIQUE INDEX sessions_open ON sessions (ns, name) WHERE status = 'open';
CREATE INDEX sessions_ns ON sessions (ns, id);
CREATE INDEX sessions_trim ON sessions (trim_at) WHERE trim_at IS NOT NULL;
CREATE INDEX sessions_closed ON sessions (id) WHERE status = 'closed';

CREATE TABLE session_messages ( -- rows are added and erased, never changed
    session_id uuid NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq        integer NOT NULL,
    ns         text NOT NULL,
    role       text NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content    text NOT NULL,
    tokens     integer NOT NULL,
    round      integer NOT NULL,
    at         timestamptz NOT NULL,
    ref        text,
    memory_id  uuid, -- the memory made of it
    data       jsonb NOT NULL DEFAULT '{}', -- tool calls and the like
    PRIMARY KEY (session_id, seq)
);
CREATE UNIQUE INDEX session_messages_ref ON session_messages (session_id, ref) WHERE ref IS NOT NULL;
CREATE INDEX session_messages_memory ON session_messages (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX session_messages_system ON session_messages (session_id, seq) WHERE role = 'system';
CREATE INDEX session_messages_ns ON session_messages (ns);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['sessions', 'session_messages'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON sessions, session_messages TO biem_service;

-- A summary of trimmed messages is erased with any of them.
ALTER TABLE derivations DROP CONSTRAINT derivations_origin_check;
ALTER TABLE derivations ADD CONSTRAINT derivations_origin_check
    CHECK (origin IN ('dedupe', 'merge', 'crystal', 'heir', 'summary'));
