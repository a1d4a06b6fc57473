-- Read-only views: the ranking of recall, prefetched candidates, core memories, scopes, conditions.

-- core_memories: valid memories of the layer core
SELECT {node}
FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.layer = 'core' AND m.status <> 'archived' AND {core}
ORDER BY m.importance DESC, m.write_seq DESC, m.id
LIMIT %(most)s

-- core_then: the same, of what stood at `as_of` and was revised since
SELECT {node}
FROM standing_revisions(%(scopes)s, %(as_of)s) m
WHERE m.layer = 'core' AND {core}
ORDER BY m.importance DESC, m.write_seq DESC, m.id
LIMIT %(most)s

-- useful_memories: of each kind the valid memories found useful last, as many as it has slots
SELECT {node}
FROM (
    SELECT found.id, slot.size, row_number() OVER (PARTITION BY slot.kind ORDER BY found.useful_at DESC, found.id) AS place
    FROM unnest(%(kinds)s::text[], %(sizes)s::integer[]) AS slot (kind, size)
    CROSS JOIN unnest(%(scopes)s::text[]) AS home (ns)
    CROSS JOIN LATERAL (
        SELECT id, useful_at FROM memories
        WHERE ns = home.ns AND kind = slot.kind AND useful_at IS NOT NULL AND status <> 'archived' AND trust > 0
            AND (valid_to IS NULL OR valid_to > %(now)s) AND (expires_at IS NULL OR expires_at > %(now)s)
        ORDER BY useful_at DESC LIMIT slot.size) AS found
) AS newest
JOIN memories m ON m.id = newest.id
WHERE newest.place <= newest.size
ORDER BY m.useful_at DESC, m.id

-- orbit_written: how many memories were written to scopes that have any
SELECT ns, write_seq FROM scopes WHERE ns = ANY (%s)

-- orbit_gather: chosen memories with what was said around them, others, and what was written last
-- Limits are literal, as in the block turns: a generic plan would take a parameter for a tenth of the table.
WITH given AS MATERIALIZED (
    SELECT id, place FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS ids (id, place)
), seeds AS MATERIALIZED (
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by, given.place
    FROM given CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = given.id OFFSET 0) m
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
), talks AS MATERIALIZED (
    SELECT min(place) AS place FROM seeds WHERE conversation <> '' AND place <= %(chosen)s
    GROUP BY ns, conversation ORDER BY count(*) DESC, min(place) LIMIT 3
), stretches AS MATERIALIZED (
    SELECT s.id, 20 AS reach,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND o.status <> 'archived' AND o.trust > 0 AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 20) AS before,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND o.status <> 'archived' AND o.trust > 0 AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at, o.write_seq LIMIT 20) AS after
    FROM seeds s JOIN talks USING (place)
    UNION ALL
    SELECT s.id, 6,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND o.status <> 'archived' AND o.trust > 0 AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 6),
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND o.status <> 'archived' AND o.trust > 0 AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at, o.write_seq LIMIT 6)
    FROM seeds s
    WHERE s.conversation <> '' AND s.place <= %(chosen)s AND s.place NOT IN (SELECT place FROM talks)
), latest AS MATERIALIZED (
    SELECT m.id FROM unnest(%(scopes)s::text[]) AS own (ns)
    CROSS JOIN LATERAL (
        SELECT id FROM memories
        WHERE memories.ns = own.ns AND memories.status <> 'archived' AND memories.trust > 0
            AND (expires_at IS NULL OR expires_at > %(now)s)
        ORDER BY write_seq DESC LIMIT 16) m
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
SELECT m.id::text, m.ns, m.lexemes, e.vector, e.parts, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？') AS asks, true AS matches, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END AS sources,
    m.importance, m.access_count AS accesses, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) AS energy,
    m.trust,
    s.reach, s.before::text[], s.after::text[]
FROM everyone
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = everyone.id OFFSET 0) m
LEFT JOIN LATERAL (
    SELECT vector, parts FROM embeddings
    WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
LEFT JOIN stretches s ON s.id = m.id
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)

-- orbit_everything: all memories of scopes that hold few, in the order they were said
SELECT m.id::text, m.ns, m.lexemes, e.vector, e.parts, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？') AS asks, true AS matches, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END AS sources,
    m.importance, m.access_count AS accesses, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) AS energy,
    m.trust,
    m.status = 'archived' OR (m.expires_at <= %(now)s) IS TRUE AS archived
FROM memories m
LEFT JOIN LATERAL (
    SELECT vector, parts FROM embeddings
    WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE
ORDER BY m.at, m.write_seq

-- orbit_since: the numbers of scopes that were known, and their memories written after those, if they are not too many,
-- and those revised since, of which some may be known
SELECT known.ns AS known_ns, s.write_seq AS written,
    m.id::text, m.ns, m.lexemes, e.vector, e.parts, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？') AS asks, true AS matches, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END AS sources,
    m.importance, m.access_count AS accesses, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) AS energy,
    m.trust
FROM unnest(%(scopes)s::text[], %(written)s::bigint[]) AS known (ns, seq)
LEFT JOIN scopes s ON s.ns = known.ns
LEFT JOIN LATERAL (
    SELECT * FROM memories
    WHERE memories.ns = known.ns AND memories.write_seq > known.seq AND s.write_seq <= known.seq + %(limit)s
        AND memories.status <> 'archived'
        AND (memories.expires_at IS NULL OR memories.expires_at > %(now)s)
    UNION ALL
    SELECT memories.*
    FROM (
        SELECT DISTINCT r.memory_id FROM memory_revisions r
        WHERE r.ns = known.ns AND r.write_seq >= known.seq LIMIT %(limit)s + 1
    ) revised JOIN memories ON memories.id = revised.memory_id
    WHERE memories.write_seq <= known.seq AND memories.status <> 'archived'
        AND (memories.expires_at IS NULL OR memories.expires_at > %(now)s)
    OFFSET 0
) m ON true
LEFT JOIN LATERAL (
    SELECT vector, parts FROM embeddings
    WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true

-- scopes_listed: scopes of a tenant and a user, null meaning any, with counts and the time of their last write
SELECT s.tenant, s.usr, s.project, held.memories, held.pending, last.created_at AS written_at
FROM scopes s
CROSS JOIN LATERAL (
    SELECT count(*) AS memories, count(*) FILTER (WHERE m.status = 'pending') AS pending
    FROM memories m WHERE m.ns = s.ns
) held
LEFT JOIN LATERAL (
    SELECT m.created_at FROM memories m WHERE m.ns = s.ns ORDER BY m.write_seq DESC LIMIT 1
) last ON true
WHERE (%(tenant)s::text IS NULL OR s.tenant = %(tenant)s) AND (%(user)s::text IS NULL OR s.usr = %(user)s)
ORDER BY s.tenant, s.usr, s.project

-- scopes_of_user: the projects of a user, of which the empty one is the user's own level
SELECT project FROM scopes WHERE tenant = %s AND usr = %s ORDER BY project

-- matching: all of some scopes, read one by one
SELECT m.id::text FROM memories m WHERE m.ns = ANY (%(scopes)s) AND m.status <> 'archived' AND {where} LIMIT %(most)s

-- matching_mood: by their index; for a range of sentiment that leaves out 0, which most memories have
SELECT m.id::text FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.sentiment <> 0 AND m.sentiment BETWEEN %(least)s::real AND %(greatest)s::real
    AND m.status <> 'archived' AND {where}
LIMIT %(most)s

-- matching_warm: an energy needs an anchor as high and recent enough; a BRIN index finds the blocks of such anchors.
-- Small scopes are read as a whole, and so are those that are a small part of the table, where the index would return
-- mostly other scopes' rows. Updates stay HOT with such an index only from PostgreSQL 16 on; earlier versions have none.
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

-- matching_metadata: by their index; of those that meet the conditions on metadata, which meet all
SELECT m.id::text, {where} AS meets
FROM memories_with_metadata(%(scopes)s, %(scoped)s::jsonpath, %(most)s) AS found
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = found.id OFFSET 0) m

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

-- selected_words: the words of those of these that share a word with a question
SELECT m.id::text, m.lexemes
FROM unnest(%(ids)s::uuid[]) AS asked (id)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = asked.id OFFSET 0) m
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND m.tsv @@ %(words)s::tsquery

-- turns_then: memories as they stood at `as_of`, of those that were revised since
SELECT m.id::text, m.ns, m.lexemes, e.vector, e.parts, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？') AS asks, ({where}) AS matches, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END AS sources,
    m.importance, m.access_count AS accesses, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) AS energy,
    m.trust
FROM standing_revisions(%(scopes)s, %(as_of)s) m
LEFT JOIN LATERAL (
    SELECT vector, parts FROM embeddings
    WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true

-- selected_then: the same, only those that meet the conditions
SELECT m.id::text, m.lexemes, e.vector
FROM standing_revisions(%(scopes)s, %(as_of)s) m
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
WHERE {where}

-- turns: memories found, unindexed ones that share a word, their neighbours in conversation, and what superseded them.
-- The limits of two are literal: a generic plan would take a parameter for a tenth of the table. `IS TRUE` keeps the
-- planner from reading a whole scope by its name where ids are known, and OFFSET 0 makes it look each id up: it takes
-- the few hundred for a large part of the table.
WITH RECURSIVE found AS MATERIALIZED (
    SELECT unnest(%(ids)s::uuid[]) AS id
    UNION
    (SELECT pending.id FROM pending_memories(%(scopes)s, %(here)s::tsquery, %(words)s::tsquery, %(each_word)s::tsquery[],
        %(pending_limit)s, %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
        %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real,
            %(metadata)s::jsonpath, %(min_trust)s::smallint) pending
     WHERE %(words)s::tsquery IS NOT NULL AND %(pending_limit)s > 0)
    UNION -- memories indexed by another model are not in our collection
    (SELECT m.id FROM memories m
     WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model < %(model)s
        AND m.tsv @@ %(words)s::tsquery AND {where}
     ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s)
    UNION
    (SELECT m.id FROM memories m
     WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model > %(model)s
        AND m.tsv @@ %(words)s::tsquery AND {where}
     ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s)
), seeds (id, ns, conversation, at, write_seq, superseded_by, live) AS (
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by, m.status <> 'archived'
    FROM found CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = found.id OFFSET 0) m
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE
        AND CASE m.status WHEN 'archived' THEN m.superseded_by IS NOT NULL -- replaced since the search
            ELSE {where} OR m.id = ANY (%(then)s::uuid[]) END
    UNION
    SELECT m.id, m.ns, m.conversation, m.at, m.write_seq, m.superseded_by, true
    FROM seeds s CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = s.superseded_by OFFSET 0) m
    WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
), stretches AS MATERIALIZED (
    SELECT s.id,
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) < (s.at, s.write_seq)
                AND (%(since)s::timestamptz IS NULL OR o.at >= %(since)s) AND o.status <> 'archived' AND o.trust > 0
                AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at DESC, o.write_seq DESC LIMIT 3) AS before, -- the third tells that the second is no opening
        ARRAY(
            SELECT o.id FROM memories o
            WHERE o.ns = s.ns AND o.conversation = s.conversation AND (o.at, o.write_seq) > (s.at, s.write_seq)
                AND (%(until)s::timestamptz IS NULL OR o.at < %(until)s) AND o.status <> 'archived' AND o.trust > 0
                AND (o.expires_at IS NULL OR o.expires_at > %(now)s)
            ORDER BY o.at, o.write_seq LIMIT 2) AS after
    FROM seeds s
    WHERE s.conversation <> '' AND s.live
), placed AS MATERIALIZED ( -- grouped, not joined: for a million expected rows a hash join creates files on disk
    SELECT id, max(before)::text[] AS before, max(after)::text[] AS after
    FROM (
        SELECT id, before, after FROM stretches
        UNION ALL SELECT id, NULL, NULL FROM seeds WHERE live
        UNION ALL SELECT unnest(before[:2]), NULL, NULL FROM stretches
        UNION ALL SELECT unnest(after), NULL, NULL FROM stretches
    ) everyone
    GROUP BY id
)
SELECT m.id::text, m.ns, m.lexemes, e.vector, e.parts, m.kind, m.speaker, m.conversation, m.at, m.write_seq,
    right(rtrim(m.text), 1) IN ('?', '？') AS asks, ({where}) AS matches, m.valid_to, m.superseded_by::text,
    CASE WHEN m.source = 'crystal' AND jsonb_typeof(m.metadata -> 'sources') = 'array'
        THEN ARRAY(SELECT jsonb_array_elements_text(m.metadata -> 'sources')) END AS sources,
    m.importance, m.access_count AS accesses, energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) AS energy,
    m.trust,
    placed.before, placed.after
FROM placed
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = placed.id OFFSET 0) m
LEFT JOIN LATERAL (
    SELECT vector, parts FROM embeddings
    WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true
