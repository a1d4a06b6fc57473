-- Memories that wait to be indexed are found by their words, however many wait.

-- Words of pending memories together with their scope as one more word, so that a search reads neither what is indexed
-- nor what others import. Its condition is written so that only a query that repeats it can be planned with it, and
-- such a query with no other index of pending memories: whatever statistics say while thousands arrive. Without
-- fastupdate, as a search would read the list of what was not sorted in yet, from its beginning, each time.
CREATE INDEX memories_pending_words ON memories USING gin ((tsv || array_to_tsvector(ARRAY[ns])))
    WITH (fastupdate = off) WHERE (status || '') = 'pending';

-- The best `most` by rank and, of each word, some: a rare word must not be lost among thousands that share a common one.
-- It runs as the owner and applies the policy itself, as matching_memories does. `here` matches any of the scopes.
CREATE FUNCTION pending_memories(
    scopes_read text[], here tsquery, words tsquery, each_word tsquery[], most integer,
    kinds text[] DEFAULT NULL, speakers text[] DEFAULT NULL, conversations text[] DEFAULT NULL,
    tags_all text[] DEFAULT '{}', since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    as_of timestamptz DEFAULT NULL,
    min_energy double precision DEFAULT NULL, now timestamptz DEFAULT NULL, decay double precision DEFAULT NULL,
    min_sentiment real DEFAULT NULL, max_sentiment real DEFAULT NULL
)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    (SELECT m.id
    FROM memories m
    WHERE (m.tsv || array_to_tsvector(ARRAY[m.ns])) @@ (here && words) AND (m.status || '') = 'pending'
        AND (m.ns = ANY (scopes_read)) IS TRUE
        AND (m.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
        AND (kinds IS NULL OR m.kind = ANY (kinds))
        AND (speakers IS NULL OR m.speaker = ANY (speakers))
        AND (conversations IS NULL OR m.conversation = ANY (conversations))
        AND m.tags @> tags_all
        AND (since IS NULL OR m.at >= since)
        AND (until IS NULL OR m.at < until)
        AND (as_of IS NULL OR m.valid_from <= as_of AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > as_of))
        AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
        AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
        AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.write_seq DESC
    LIMIT most)
    UNION
    SELECT few.id
    FROM unnest(each_word) AS asked (word)
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
            AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
            AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
            AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
        LIMIT 16
    ) few;
END;
REVOKE ALL ON FUNCTION pending_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pending_memories TO biem_service;
