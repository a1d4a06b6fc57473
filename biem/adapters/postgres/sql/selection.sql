-- Which memories meet conditions that the vector index does not know.

-- matching: all of some scopes, read one by one
SELECT m.id::text FROM memories m WHERE m.ns = ANY (%(scopes)s) AND m.status <> 'archived' AND {where} LIMIT %(most)s

-- matching_mood: by their index; for a range of sentiment that leaves out 0, which most memories have
SELECT m.id::text FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.sentiment <> 0 AND m.sentiment BETWEEN %(least)s::real AND %(greatest)s::real
    AND m.status <> 'archived' AND {where}
LIMIT %(most)s

-- matching_warm: an energy needs an anchor as high and not too long ago, and of that a BRIN index knows the blocks.
-- Small scopes are read as a whole, and so are those of a table that is mostly of others, where the index would lead to
-- everything that is warm. Updates stay HOT beside such an index only from PostgreSQL 16 on, so before there is none.
WITH read AS MATERIALIZED (
    SELECT sum(s.write_seq) <= 2000 OR sum(s.write_seq) * 20 < (SELECT reltuples FROM pg_class WHERE oid = 'memories'::regclass)
        OR to_regclass('memories_warm') IS NULL AS whole
    FROM scopes s WHERE s.ns = ANY (%(scopes)s)
)
(SELECT m.id::text FROM memories m
 WHERE (SELECT whole FROM read) AND m.ns = ANY (%(scopes)s)
    AND (m.energy_anchor >= %(min_energy)s AND m.anchor_at >= %(warm_since)s) IS TRUE -- by the name, not by the blocks
    AND m.status <> 'archived' AND {where}
 LIMIT %(most)s)
UNION ALL
(SELECT m.id::text FROM memories m
 WHERE NOT (SELECT whole FROM read) AND (m.ns = ANY (%(scopes)s)) IS TRUE -- by the blocks, not by the name of the scope
    AND m.energy_anchor >= %(min_energy)s AND m.anchor_at >= %(warm_since)s AND m.status <> 'archived' AND {where}
 LIMIT %(most)s)

-- meeting: which of these meet them
SELECT m.id::text FROM unnest(%(ids)s::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = asked.id OFFSET 0) m
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND {where}

-- selected_vectors: the vectors of these
SELECT m.id::text, e.vector
FROM unnest(%(ids)s::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = asked.id OFFSET 0) m
CROSS JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived'

-- selected_words: the words of those of these that share one with a question
SELECT m.id::text, m.lexemes
FROM unnest(%(ids)s::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = asked.id OFFSET 0) m
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND m.tsv @@ %(words)s::tsquery
