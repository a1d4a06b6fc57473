-- A memory can be corrected, may expire, and has an origin and a trust level. Old values of a memory stay in
-- memory_revisions. Programs of earlier versions work beside this one: they leave the new columns to their defaults, and
-- the search functions of their number of arguments stay.

ALTER TABLE memories
    ADD COLUMN revision integer NOT NULL DEFAULT 1,
    ADD COLUMN revised_at timestamptz, -- when its present values replaced others; null: never
    ADD COLUMN expires_at timestamptz, -- hidden from then on; null: never
    ADD COLUMN on_expiry text NOT NULL DEFAULT 'archive' CHECK (on_expiry IN ('archive', 'erase')),
    ADD COLUMN origin text NOT NULL DEFAULT 'user',
    ADD COLUMN trust smallint NOT NULL DEFAULT 2 CHECK (trust BETWEEN 0 AND 2); -- untrusted, normal, trusted
UPDATE memories SET origin = 'assistant', trust = 1 WHERE source = 'assistant';
UPDATE memories SET origin = 'system' WHERE source IN ('crystal', 'merge');

-- Pages of a list, newest or oldest first. Its condition always holds and stands in lists only: other statements that read
-- a conversation in this order have an index of conversations, and a planner without statistics may take the other one.
CREATE INDEX memories_time ON memories (ns, at DESC, write_seq DESC) WHERE (status || '') <> '';
CREATE INDEX memories_expiring ON memories (expires_at) WHERE expires_at IS NOT NULL AND status <> 'archived';

CREATE TABLE memory_revisions (
    ns           text NOT NULL,
    memory_id    uuid NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    revision     integer NOT NULL,
    stood_until  timestamptz NOT NULL, -- when the next revision replaced it
    revised_by   text NOT NULL DEFAULT '', -- what replaced it: a call, an import, a file
    write_seq    bigint NOT NULL, -- of its scope when it was replaced: so caches learn of it
    text         text NOT NULL,
    lexemes      text NOT NULL,
    evidence_sha bytea NOT NULL,
    embed_sha    bytea NOT NULL,
    before       jsonb NOT NULL, -- its other values, by column of memories
    PRIMARY KEY (memory_id, revision)
);
CREATE INDEX memory_revisions_time ON memory_revisions (ns, stood_until);
CREATE INDEX memory_revisions_seq ON memory_revisions (ns, write_seq);
CREATE INDEX memory_revisions_embed ON memory_revisions (embed_sha, ns);
CREATE INDEX memory_revisions_evidence ON memory_revisions (ns, evidence_sha);
ALTER TABLE memory_revisions ENABLE ROW LEVEL SECURITY;
CREATE POLICY memory_revisions_scope ON memory_revisions
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_revisions TO biem_service;

-- Live memories of these scopes that were revised after a moment, with the values that they had then. No SQL-standard
-- body, so that a column that is added later is part of the row.
CREATE FUNCTION standing_revisions(scopes_read text[], moment timestamptz) RETURNS SETOF memories
LANGUAGE sql STABLE AS $$
    SELECT was.*
    FROM (
        SELECT DISTINCT ON (memory_id) * FROM memory_revisions
        WHERE ns = ANY (scopes_read) AND stood_until > moment ORDER BY memory_id, revision
    ) r
    JOIN memories m ON m.id = r.memory_id
    CROSS JOIN LATERAL jsonb_populate_record(m, r.before || jsonb_build_object('revision', r.revision, 'text', r.text,
        'lexemes', r.lexemes, 'evidence_sha', r.evidence_sha, 'embed_sha', r.embed_sha)) was
    WHERE m.status <> 'archived'
$$;
GRANT EXECUTE ON FUNCTION standing_revisions TO biem_service;

-- The vector of a text belongs to its scope also when the text was replaced: `as_of` searches it.
DROP POLICY embeddings_scope ON embeddings;
CREATE POLICY embeddings_scope ON embeddings
    USING ((SELECT current_setting('biem.ns', true)) = '*'
        OR (SELECT true FROM memories m
            WHERE m.embed_sha = embeddings.sha256
                AND m.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1)
        OR (SELECT true FROM memory_revisions r
            WHERE r.embed_sha = embeddings.sha256
                AND r.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1));

-- The searches by words meet two more conditions, and leave out what has expired or
-- did not stand yet.
CREATE FUNCTION matching_memories(
    scopes_read text[], words tsquery, most integer,
    kinds text[], speakers text[], conversations text[],
    tags_all text[], since timestamptz, until timestamptz,
    as_of timestamptz,
    min_energy double precision, now timestamptz, decay double precision,
    min_sentiment real, max_sentiment real,
    metadata_meets jsonpath, least_trust smallint
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
        AND (as_of IS NULL OR m.valid_from <= as_of AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > as_of))
        AND (as_of IS NULL OR m.revised_at IS NULL OR m.revised_at <= as_of)
        AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
        AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
        AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
        AND (m.expires_at IS NULL OR m.expires_at > now)
        AND (metadata_meets IS NULL OR m.metadata @@ metadata_meets)
        AND (least_trust IS NULL OR m.trust >= least_trust)
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.id
    LIMIT most;
END;
CREATE FUNCTION pending_memories(
    scopes_read text[], here tsquery, words tsquery, each_word tsquery[], most integer,
    kinds text[], speakers text[], conversations text[],
    tags_all text[], since timestamptz, until timestamptz,
    as_of timestamptz,
    min_energy double precision, now timestamptz, decay double precision,
    min_sentiment real, max_sentiment real,
    metadata_meets jsonpath, least_trust smallint
)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    WITH held AS MATERIALIZED ( -- of each word up to 256
        SELECT few.id, row_number() OVER word AS place, count(*) OVER word AS holders
        FROM unnest(each_word) WITH ORDINALITY AS asked (word, number)
        CROSS JOIN LATERAL (
            SELECT m.id
            FROM memories m
            WHERE (m.tsv || array_to_tsvector(ARRAY[m.ns])) @@ (here && asked.word) AND (m.status || '') = 'pending'
                AND (m.ns = ANY (scopes_read)) IS TRUE
                AND (m.ns = ANY (string_to_array(current_setting('biem.ns', true), ','))
                    OR current_setting('biem.ns', true) = '*')
                AND (kinds IS NULL OR m.kind = ANY (kinds))
                AND (speakers IS NULL OR m.speaker = ANY (speakers))
                AND (conversations IS NULL OR m.conversation = ANY (conversations))
                AND m.tags @> tags_all
                AND (since IS NULL OR m.at >= since)
                AND (until IS NULL OR m.at < until)
                AND (as_of IS NULL
                    OR m.valid_from <= as_of AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > as_of))
                AND (as_of IS NULL OR m.revised_at IS NULL OR m.revised_at <= as_of)
                AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
                AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
                AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
                AND (m.expires_at IS NULL OR m.expires_at > now)
                AND (metadata_meets IS NULL OR m.metadata @@ metadata_meets)
                AND (least_trust IS NULL OR m.trust >= least_trust)
            LIMIT 256
        ) few
        WINDOW word AS (PARTITION BY asked.number)
    ), rare AS MATERIALIZED (
        SELECT h.id, sum(ln(256.0 / h.holders)) AS rarity FROM held h WHERE h.holders < 256 GROUP BY h.id
    )
    (SELECT r.id FROM rare r ORDER BY r.rarity DESC, r.id DESC LIMIT most)
    UNION
    (SELECT h.id FROM held h WHERE h.place <= 8 AND (h.holders < 256 OR cardinality(each_word) <= 8))
    UNION
    (SELECT m.id
    FROM memories m
    WHERE (cardinality(each_word) <= 8 OR (SELECT count(*) FROM rare) < most)
        AND (m.tsv || array_to_tsvector(ARRAY[m.ns])) @@ (here && words) AND (m.status || '') = 'pending'
        AND (m.ns = ANY (scopes_read)) IS TRUE
        AND (m.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        AND (kinds IS NULL OR m.kind = ANY (kinds))
        AND (speakers IS NULL OR m.speaker = ANY (speakers))
        AND (conversations IS NULL OR m.conversation = ANY (conversations))
        AND m.tags @> tags_all
        AND (since IS NULL OR m.at >= since)
        AND (until IS NULL OR m.at < until)
        AND (as_of IS NULL OR m.valid_from <= as_of AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > as_of))
        AND (as_of IS NULL OR m.revised_at IS NULL OR m.revised_at <= as_of)
        AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
        AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
        AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
        AND (m.expires_at IS NULL OR m.expires_at > now)
        AND (metadata_meets IS NULL OR m.metadata @@ metadata_meets)
        AND (least_trust IS NULL OR m.trust >= least_trust)
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.write_seq DESC
    LIMIT most);
END;
REVOKE ALL ON FUNCTION matching_memories(text[], tsquery, integer, text[], text[], text[], text[], timestamptz, timestamptz,
    timestamptz, double precision, timestamptz, double precision, real, real, jsonpath, smallint) FROM PUBLIC;
REVOKE ALL ON FUNCTION pending_memories(text[], tsquery, tsquery, tsquery[], integer, text[], text[], text[], text[],
    timestamptz, timestamptz, timestamptz, double precision, timestamptz, double precision, real, real, jsonpath, smallint)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_memories(text[], tsquery, integer, text[], text[], text[], text[], timestamptz, timestamptz,
    timestamptz, double precision, timestamptz, double precision, real, real, jsonpath, smallint) TO biem_service;
GRANT EXECUTE ON FUNCTION pending_memories(text[], tsquery, tsquery, tsquery[], integer, text[], text[], text[], text[],
    timestamptz, timestamptz, timestamptz, double precision, timestamptz, double precision, real, real, jsonpath, smallint)
    TO biem_service;
