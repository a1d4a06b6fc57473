-- Of many pending memories those that share a question's rarer words are looked at first. To rank all that share any of
-- the thirty words of a question in Chinese, where one character is in a tenth of all texts, took 0.2 s at 50,000.

-- As before, but: what shares words of which few pending memories have any is ordered by how few have them; all that
-- share any word are ranked only for a question of few words, or where those are too few; and a word that hundreds have
-- adds rows of its own only to a question of few words.
CREATE OR REPLACE FUNCTION pending_memories(
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
                AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
                AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
                AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
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
        AND (min_energy IS NULL OR energy_at(m.energy_anchor, m.anchor_at, now, decay) >= min_energy)
        AND (min_sentiment IS NULL OR m.sentiment >= min_sentiment)
        AND (max_sentiment IS NULL OR m.sentiment <= max_sentiment)
    ORDER BY ts_rank(m.tsv, words, 1) DESC, m.write_seq DESC
    LIMIT most);
END;
