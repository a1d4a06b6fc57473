-- The text search answers under the same conditions as `where` in queries.sql: as of an instant a message that was
-- replaced is still told, because it was said; and a memory's energy and mood may be asked for.
DROP FUNCTION matching_memories;
CREATE FUNCTION matching_memories(
    scopes_read text[], words tsquery, most integer,
    kinds text[] DEFAULT NULL, speakers text[] DEFAULT NULL, conversations text[] DEFAULT NULL,
    tags_all text[] DEFAULT '{}', since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL,
    as_of timestamptz DEFAULT NULL,
    min_energy double precision DEFAULT NULL, now timestamptz DEFAULT NULL, decay double precision DEFAULT NULL,
    min_sentiment real DEFAULT NULL, max_sentiment real DEFAULT NULL
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
        AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
        AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
        AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.id
    LIMIT most;
END;
REVOKE ALL ON FUNCTION matching_memories FROM PUBLIC;
GRANT EXECUTE ON FUNCTION matching_memories TO biem_service;
