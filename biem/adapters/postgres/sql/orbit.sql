-- What is at hand for the next question of a session.

-- orbit_written: how many memories were written to scopes that have any
SELECT ns, write_seq FROM scopes WHERE ns = ANY (%s)

-- orbit_gather: chosen memories with what was said around them, others, and what was written last
-- Limits are literal, as in the block turns: a generic plan would take a parameter for a tenth of the table.
WITH given AS MATERIALIZED (
    SELECT id, place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS ids (id, place)
), seeds AS MATERIALIZED (
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by, given.place
    FROM given CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = given.id OFFSET 0) m
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived'
), talks AS MATERIALIZED (
    SELECT min(place) AS place FROM seeds WHERE conversation <> '' AND place <= %(chosen)s
    GROUP BY ns, conversation ORDER BY count(*) DESC, min(place) LIMIT 3
), stretches AS MATERIALIZED (
    SELECT s.id, 20 AS reach,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND o.status <> 'archived'
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 20) AS before,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND o.status <> 'archived'
            ORDER BY o.at, o.write_seq LIMIT 20) AS after
    FROM seeds s JOIN talks USING (place)
    UNION ALL
    SELECT s.id, 6,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND o.status <> 'archived'
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 6),
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND o.status <> 'archived'
            ORDER BY o.at, o.write_seq LIMIT 6)
    FROM seeds s
    WHERE s.conversation <> '' AND s.place <= %(chosen)s AND s.place NOT IN (SELECT place FROM talks)
), latest AS MATERIALIZED (
    SELECT m.id FROM unnest(%(scopes)s::text[]) AS own (ns)
    CROSS JOIN LATERAL (
        SELECT id FROM memories
        WHERE memories.ns = own.ns AND memories.status <> 'archived' ORDER BY write_seq DESC LIMIT 16) m
), near AS MATERIALIZED (
    SELECT id FROM seeds
    UNION SELECT unnest(before) FROM stretches
    UNION SELECT unnest(after) FROM stretches
    UNION SELECT id FROM latest
), everyone AS (
    SELECT id FROM near
    UNION
    SELECT m.superseded_by FROM near
    CROSS JOIN LATERAL (SELECT superseded_by FROM memories WHERE memories.id = near.id OFFSET 0) m
    WHERE m.superseded_by IS NOT NULL
)
SELECT m.id::text, m.ns, m.lexemes, e.vector, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？'), true, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END,
    m.importance, m.access_count, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s),
    s.reach, s.before::text[], s.after::text[]
FROM everyone
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = everyone.id OFFSET 0) m
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
LEFT JOIN stretches s ON s.id = m.id
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived'

-- orbit_everything: all memories of scopes that hold few, in the order they were said
SELECT m.id::text, m.ns, m.lexemes, e.vector, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？'), true, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END,
    m.importance, m.access_count, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s),
    m.status = 'archived'
FROM memories m
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE
ORDER BY m.at, m.write_seq

-- orbit_since: the numbers of scopes that were known, and their memories written after those, if they are not too many
SELECT known.ns, s.write_seq,
    m.id::text, m.ns, m.lexemes, e.vector, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？'), true, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END,
    m.importance, m.access_count, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s)
FROM unnest(%(scopes)s::text[], %(written)s::bigint[]) AS known (ns, seq)
LEFT JOIN scopes s ON s.ns = known.ns
LEFT JOIN LATERAL (
    SELECT * FROM memories
    WHERE memories.ns = known.ns AND memories.write_seq > known.seq AND s.write_seq <= known.seq + %(limit)s
        AND memories.status <> 'archived'
    OFFSET 0
) m ON true
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
