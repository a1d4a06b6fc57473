-- Reading for the ranking of recall.

-- turns: memories found, unindexed ones that share a word, their neighbours in conversation, and what superseded them.
-- The limits of two are literal: a generic plan would take a parameter for a tenth of the table. `IS TRUE` keeps the
-- planner from reading a whole scope by its name where ids are known, and OFFSET 0 makes it look each id up: it takes
-- the few hundred for a large part of the table.
WITH RECURSIVE found AS MATERIALIZED (
    SELECT unnest(%(ids)s::uuid[]) AS id
    UNION
    (SELECT pending.id FROM pending_memories(%(scopes)s, %(here)s::tsquery, %(words)s::tsquery, %(each_word)s::tsquery[],
        %(pending_limit)s, %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
        %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real) pending
     WHERE %(words)s::tsquery IS NOT NULL AND %(pending_limit)s > 0)
    UNION -- what a process with another model indexed is not in our collection
    (SELECT m.id FROM memories m
     WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model < %(model)s
        AND m.tsv @@ %(words)s::tsquery AND {where}
     ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s)
    UNION
    (SELECT m.id FROM memories m
     WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model > %(model)s
        AND m.tsv @@ %(words)s::tsquery AND {where}
     ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s)
), seeds (id, ns, conversation, at, write_seq, superseded_by) AS (
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by
    FROM found JOIN memories m ON m.id = found.id
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND {where}
    UNION
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by
    FROM seeds s JOIN memories m ON m.id = s.superseded_by
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived'
), stretches AS MATERIALIZED (
    SELECT s.id,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND (%(since)s::timestamptz IS NULL OR o.at >= %(since)s) AND o.status <> 'archived'
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 3) AS before, -- the third tells that the second is no opening
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND (%(until)s::timestamptz IS NULL OR o.at < %(until)s) AND o.status <> 'archived'
            ORDER BY o.at, o.write_seq LIMIT 2) AS after
    FROM seeds s
    WHERE s.conversation <> ''
), everyone AS (
    SELECT id FROM seeds
    UNION SELECT unnest(before[:2]) FROM stretches
    UNION SELECT unnest(after) FROM stretches
), placed AS MATERIALIZED ( -- joined once: beside the lookups below, it would be joined once for each of them
    SELECT everyone.id, s.before::text[], s.after::text[] FROM everyone LEFT JOIN stretches s USING (id)
)
SELECT m.id::text, m.ns, m.lexemes, e.vector, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？'), {where}, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END,
    m.importance, m.access_count, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s),
    placed.before, placed.after
FROM placed
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = placed.id OFFSET 0) m
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
