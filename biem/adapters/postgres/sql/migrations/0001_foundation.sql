-- The truth: memories, their originals and vectors, the outbox that drives all background work, crystal facts and links.
-- Applied once, in one transaction, by the role that owns the schema. Services act as biem_service, to which
-- row-level security applies: a transaction sees the scopes named in biem.ns ('*' for maintenance) and nothing else.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'biem_service') THEN
        CREATE ROLE biem_service NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server was faster
END $$;
DO $$
BEGIN
    EXECUTE format('GRANT biem_service TO %I', current_user);
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;

CREATE TABLE scopes (
    ns         text PRIMARY KEY,
    tenant     text NOT NULL,
    usr        text NOT NULL,
    project    text NOT NULL,
    write_seq  bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 20); -- write_seq moves with every write: room for HOT updates

CREATE TABLE memories (
    id             uuid PRIMARY KEY,
    ns             text NOT NULL REFERENCES scopes (ns),
    ref            text,
    fact_key       bytea,
    text           text NOT NULL,
    evidence_sha   bytea NOT NULL,
    embed_sha      bytea NOT NULL,
    kind           text NOT NULL CHECK (kind IN ('knowledge', 'skill', 'emotion', 'task', 'event')),
    layer          text NOT NULL CHECK (layer IN ('core', 'session', 'short_term', 'long_term')),
    status         text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'active', 'archived')),
    model          text NOT NULL DEFAULT '', -- the embedder whose collection holds it, once active
    tags           text[] NOT NULL DEFAULT '{}',
    reason         text NOT NULL DEFAULT '',
    importance     real NOT NULL CHECK (importance BETWEEN 1 AND 5),
    source         text NOT NULL DEFAULT '',
    speaker        text NOT NULL DEFAULT '',
    conversation   text NOT NULL DEFAULT '',
    at             timestamptz NOT NULL,
    created_at     timestamptz NOT NULL,
    metadata       jsonb NOT NULL DEFAULT '{}',
    language       text NOT NULL DEFAULT 'und',
    fields         jsonb NOT NULL DEFAULT '{}',
    entities       text[] NOT NULL DEFAULT '{}',
    sentiment      real NOT NULL DEFAULT 0 CHECK (sentiment BETWEEN -1 AND 1),
    lexemes        text NOT NULL,
    tsv            tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(lexemes, ' '))) STORED,
    write_seq      bigint NOT NULL,
    initial_energy double precision NOT NULL CHECK (initial_energy BETWEEN 0 AND 1),
    energy_anchor  double precision NOT NULL CHECK (energy_anchor BETWEEN 0 AND 1),
    anchor_at      timestamptz NOT NULL,
    access_count   integer NOT NULL DEFAULT 0,
    useful_count   integer NOT NULL DEFAULT 0,
    accessed_at    timestamptz
) WITH (fillfactor = 85); -- counters move with every recall
CREATE UNIQUE INDEX memories_ref ON memories (ns, ref) WHERE ref IS NOT NULL;
CREATE UNIQUE INDEX memories_fact ON memories (ns, fact_key) WHERE fact_key IS NOT NULL;
CREATE UNIQUE INDEX memories_seq ON memories (ns, write_seq);
CREATE INDEX memories_pending ON memories (ns) WHERE status = 'pending';
CREATE INDEX memories_model ON memories (ns, model) WHERE status = 'active';
CREATE INDEX memories_embed ON memories (embed_sha);
CREATE INDEX memories_evidence ON memories (ns, evidence_sha);
CREATE INDEX memories_words ON memories USING gin (tsv);

CREATE TABLE evidence (
    ns         text NOT NULL,
    sha256     bytea NOT NULL,
    text       text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (ns, sha256)
);

CREATE TABLE embeddings (
    model      text NOT NULL,
    sha256     bytea NOT NULL,
    vector     bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (model, sha256)
);

CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task       text NOT NULL CHECK (task IN ('encode', 'purge')),
    memory_id  uuid NOT NULL,
    ns         text NOT NULL,
    attempts   integer NOT NULL DEFAULT 0, -- claims that the row itself is to blame for
    claims     integer NOT NULL DEFAULT 0, -- all claims: who holds a job knows it by this number
    due_at     timestamptz NOT NULL DEFAULT now(), -- a lease moves it ahead, so an abandoned job comes due by itself
    last_error text NOT NULL DEFAULT '',
    dead_at    timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_due ON outbox (id) WHERE dead_at IS NULL;
CREATE INDEX outbox_memory ON outbox (memory_id);

CREATE TABLE crystal_facts (
    id              uuid PRIMARY KEY,
    ns              text NOT NULL,
    content         text NOT NULL,
    source_node_ids text[] NOT NULL DEFAULT '{}',
    confidence      double precision NOT NULL DEFAULT 1.0,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    metadata        jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX crystal_facts_ns ON crystal_facts (ns);

CREATE TABLE crystal_links (
    id         bigserial PRIMARY KEY,
    ns         text NOT NULL,
    source_id  varchar(64) NOT NULL,
    target_id  varchar(64) NOT NULL,
    link_type  varchar(16) NOT NULL,
    weight     double precision NOT NULL DEFAULT 1.0,
    strength   integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    touched_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (source_id, target_id, link_type)
);
CREATE INDEX crystal_links_ns ON crystal_links (ns);
CREATE INDEX crystal_links_target ON crystal_links (target_id);

CREATE TABLE erasures (
    id        uuid PRIMARY KEY,
    ns        text NOT NULL,
    erased_at timestamptz NOT NULL,
    receipt   jsonb NOT NULL -- counts and ids, never text
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['scopes', 'memories', 'evidence', 'crystal_facts', 'crystal_links', 'erasures'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO biem_service', current_schema());
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE
    ON scopes, memories, evidence, embeddings, outbox, crystal_facts, crystal_links, erasures TO biem_service;
GRANT USAGE ON SEQUENCE crystal_links_id_seq TO biem_service;

-- Row-level security forbids index conditions that are not leakproof, and `@@` is not: without this function the text
-- search of a service would read every row of its scopes. It runs as the owner and applies the policy itself.
CREATE FUNCTION matching_memories(
    scopes_read text[], words tsquery, most integer,
    kinds text[] DEFAULT NULL, speakers text[] DEFAULT NULL, conversations text[] DEFAULT NULL,
    tags_all text[] DEFAULT '{}', since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL
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
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.id
    LIMIT most;
END;
REVOKE ALL ON FUNCTION matching_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_memories TO biem_service;
