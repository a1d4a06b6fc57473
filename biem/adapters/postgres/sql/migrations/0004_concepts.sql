-- The concept memory: concepts with what was said of them and where it comes from, snippets of conversation still to be
-- built, and instant memories. Whatever is deleted of the memories takes what was derived from them along.

CREATE TABLE concepts (
    id          uuid PRIMARY KEY, -- a hash of scope and name: the same name is the same concept, and ids lie evenly
    ns          text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE,
    name        text NOT NULL,
    empty       boolean NOT NULL DEFAULT false, -- its last item has faded; goes with its last link
    created_at  timestamptz NOT NULL,
    accessed_at timestamptz -- last called up
);
CREATE INDEX concepts_ns ON concepts (ns, id);
CREATE INDEX concepts_empty ON concepts (ns) WHERE empty;

-- The inverted index of the names. A btree, because row-level security keeps `&&` on arrays from using an index.
CREATE TABLE concept_terms (
    ns         text NOT NULL,
    term       text NOT NULL,
    concept_id uuid NOT NULL REFERENCES concepts (id) ON DELETE CASCADE,
    PRIMARY KEY (ns, term, concept_id)
);
CREATE INDEX concept_terms_concept ON concept_terms (concept_id);

CREATE TABLE concept_items (
    id          uuid PRIMARY KEY, -- a hash of concept and text
    ns          text NOT NULL,
    concept_id  uuid NOT NULL REFERENCES concepts (id) ON DELETE CASCADE,
    text        text NOT NULL,
    strength    integer NOT NULL CHECK (strength > 0), -- how many periods of idleness it outlives
    touched_at  timestamptz NOT NULL, -- last found or called up
    fades_at    timestamptz NOT NULL, -- when its strength has reached 0 unless it is touched before
    model       text NOT NULL DEFAULT '', -- the embedder of the vector
    vector      bytea,
    created_at  timestamptz NOT NULL,
    accessed_at timestamptz
);
CREATE INDEX concept_items_concept ON concept_items (ns, concept_id);
CREATE INDEX concept_items_owner ON concept_items (concept_id);
CREATE INDEX concept_items_fading ON concept_items (ns, fades_at);

-- Where an item comes from. No foreign key to memories: its cascade would hide from the trigger below what is to go.
CREATE TABLE concept_sources (
    item_id   uuid NOT NULL REFERENCES concept_items (id) ON DELETE CASCADE,
    memory_id uuid NOT NULL,
    ns        text NOT NULL,
    PRIMARY KEY (item_id, memory_id)
);
CREATE INDEX concept_sources_memory ON concept_sources (memory_id);

-- Runs of messages by write sequence: one row for some forty messages, gone when they have been built from.
CREATE TABLE concept_snippets (
    ns           text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE,
    first_seq    bigint NOT NULL,
    last_seq     bigint NOT NULL,
    messages     integer NOT NULL,
    conversation text NOT NULL,
    spoken       boolean NOT NULL,
    started_at   timestamptz NOT NULL,
    ended_at     timestamptz NOT NULL,
    received_at  timestamptz NOT NULL,
    times        integer NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, first_seq)
);
CREATE INDEX concept_snippets_ended ON concept_snippets (ns, ended_at);
CREATE INDEX concept_snippets_talk ON concept_snippets (ns, conversation, first_seq);

CREATE TABLE concept_progress (
    ns    text PRIMARY KEY REFERENCES scopes (ns) ON DELETE CASCADE,
    seq   bigint NOT NULL DEFAULT 0, -- memories up to here are in snippets
    built bigint NOT NULL DEFAULT 0 -- snippets built from
);

CREATE TABLE instant_memories (
    id           uuid PRIMARY KEY,
    ns           text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE,
    memory_id    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    conversation text NOT NULL, -- the chat id
    text         text NOT NULL,
    keywords     text[] NOT NULL,
    created_at   timestamptz NOT NULL,
    viewed_at    timestamptz,
    built_at     timestamptz
);
CREATE UNIQUE INDEX instant_memories_memory ON instant_memories (memory_id);
CREATE INDEX instant_memories_talk ON instant_memories (ns, conversation, created_at);
CREATE INDEX instant_memories_age ON instant_memories (ns, created_at);
CREATE INDEX instant_memories_due ON instant_memories (ns, created_at) WHERE built_at IS NULL;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['concepts', 'concept_terms', 'concept_items', 'concept_sources', 'concept_snippets',
        'concept_progress', 'instant_memories'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY %I ON %I USING (ns = ANY ((SELECT string_to_array(current_setting(''biem.ns'', true), '',''))::text[])'
            || ' OR (SELECT current_setting(''biem.ns'', true)) = ''*'')', name || '_scope', name);
    END LOOP;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON concepts, concept_terms, concept_items, concept_sources, concept_snippets,
    concept_progress, instant_memories TO biem_service;

-- Links may end in concepts, too.
CREATE OR REPLACE VIEW graph_nodes WITH (security_invoker = true) AS
    SELECT ns, id, accessed_at FROM memories WHERE status <> 'archived'
    UNION ALL
    SELECT ns, id, accessed_at FROM concepts;

-- Destroying a memory destroys what was made of it: every item that has it as a source, and concepts left with none.
CREATE FUNCTION concepts_forget_memories() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    touched uuid[];
    orphans uuid[];
BEGIN
    WITH items AS (
        DELETE FROM concept_items i USING concept_sources s, gone
        WHERE s.memory_id = gone.id AND i.id = s.item_id
        RETURNING i.concept_id
    )
    SELECT array_agg(DISTINCT concept_id) INTO touched FROM items;
    IF touched IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(c.id) INTO orphans FROM concepts c
    WHERE c.id = ANY (touched) AND NOT EXISTS (SELECT FROM concept_items i WHERE i.concept_id = c.id);
    DELETE FROM crystal_links WHERE source_id = ANY (orphans::text[]) OR target_id = ANY (orphans::text[]);
    DELETE FROM concepts WHERE id = ANY (orphans);
    RETURN NULL;
END $$;
CREATE TRIGGER concepts_forget_memories AFTER DELETE ON memories
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION concepts_forget_memories();
