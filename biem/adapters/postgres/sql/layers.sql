-- Memories by layer: what is shown without being found, counts, and the limit of short-term memories.

-- shelf: core memories of these scopes, most important first, then short-term memories with a category of one of them,
-- newest first; `held` counts them beyond the limit, too
(SELECT {node}, count(*) OVER () AS held
FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.layer = 'core' AND m.status <> 'archived' AND {core}
ORDER BY m.importance DESC, m.write_seq DESC, m.id
LIMIT %(most)s)
UNION ALL
(SELECT {node}, count(*) OVER () AS held
FROM memories m
WHERE m.ns = %(ns)s AND m.layer = 'short_term' AND m.metadata ? 'category' AND m.status <> 'archived' AND {core}
ORDER BY m.at DESC, m.write_seq DESC
LIMIT %(most)s)

-- layer_counts: live memories of these scopes by layer; short-term ones without a category are `events`
SELECT m.ns = %(ns)s AND %(is_project)s AS project,
    CASE WHEN m.layer = 'short_term' AND NOT m.metadata ? 'category' THEN 'events' ELSE m.layer END AS layer,
    count(*) AS memories, count(*) FILTER (WHERE m.status = 'active') AS indexed,
    coalesce(sum(octet_length(m.text)), 0)::bigint AS text_bytes
FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
GROUP BY 1, 2 ORDER BY 1, 2

-- proven: what has expired and was used enough to stay; the trigger of promotion ends its expiry
UPDATE memories SET layer = 'long_term'
WHERE expires_at <= %(at)s AND status <> 'archived' AND on_expiry = 'archive' AND layer = 'short_term'
    AND metadata ? 'category' AND (access_count >= %(accesses)s OR useful_count >= %(useful)s)
    AND (%(ns)s::text IS NULL OR ns = %(ns)s)

-- surplus: of scopes that hold more short-term memories with a category than allowed, those of least importance and use
-- and, of equals, the longest untouched; locked
SELECT id::text FROM memories
WHERE id IN (
    SELECT id FROM (
        SELECT m.id, row_number() OVER (
            PARTITION BY m.ns
            ORDER BY m.importance + least(m.useful_count, 4) + ln(1 + m.access_count) / 4 DESC,
                greatest(m.anchor_at, m.accessed_at) DESC, m.id DESC) AS place
        FROM memories m JOIN (
            SELECT ns FROM memories
            WHERE layer = 'short_term' AND metadata ? 'category' AND status <> 'archived'
                AND (%(ns)s::text IS NULL OR ns = %(ns)s)
            GROUP BY ns HAVING count(*) > %(most)s) crowded USING (ns)
        WHERE m.layer = 'short_term' AND m.metadata ? 'category' AND m.status <> 'archived') ranked
    WHERE place > %(most)s LIMIT %(limit)s)
ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
