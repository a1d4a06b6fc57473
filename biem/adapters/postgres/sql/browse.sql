-- Lists for display. Each statement reads one page from an index and begins where the page before it ended.

-- browse_links: links of a scope, the one changed last first, and where the page ends; traces of removed ones are passed
WITH looked AS MATERIALIZED (
    SELECT * FROM crystal_links
    WHERE ns = %(ns)s AND version <= coalesce(%(version)s::bigint, 9223372036854775807)
        AND (%(version)s::bigint IS NULL OR (version, id) < (%(version)s, %(id)s))
    ORDER BY version DESC, id DESC LIMIT %(looked)s
), page AS MATERIALIZED (
    SELECT * FROM looked WHERE NOT deleted ORDER BY version DESC, id DESC LIMIT %(limit)s
), place AS (
    (SELECT version, id FROM page WHERE (SELECT count(*) FROM page) = %(limit)s ORDER BY version, id LIMIT 1)
    UNION ALL
    (SELECT version, id FROM looked
     WHERE (SELECT count(*) FROM page) < %(limit)s AND (SELECT count(*) FROM looked) = %(looked)s
     ORDER BY version, id LIMIT 1)
)
SELECT p.source_id AS source, p.target_id AS target, p.link_type AS type, p.weight, p.strength, p.created_at, p.touched_at,
    place.version AS last_key, place.id AS last_id
FROM page p FULL JOIN place ON true
ORDER BY p.version DESC, p.id DESC

-- browse_links_around: links of one node, the heaviest first, each with its place
SELECT source_id AS source, target_id AS target, link_type AS type, weight, strength, created_at, touched_at,
    weight AS last_key, id AS last_id
FROM (
    SELECT * FROM crystal_links WHERE source_id = %(node)s AND NOT deleted
    UNION ALL
    SELECT * FROM crystal_links WHERE target_id = %(node)s AND NOT deleted
    OFFSET 0
) l
WHERE ns = %(ns)s AND (%(weight)s::float8 IS NULL OR (weight, id) < (%(weight)s, %(id)s))
ORDER BY weight DESC, id DESC LIMIT %(limit)s

-- browse_nodes: the ends of links, for display; looked up by id alone, and compared with the scope afterwards
SELECT id::text, 'memory' AS type, left(text, %(chars)s) AS label, tier, layer, kind
FROM (SELECT * FROM memories WHERE id = ANY (%(ids)s::uuid[]) AND status <> 'archived' OFFSET 0) m
WHERE ns = %(ns)s AND (expires_at IS NULL OR expires_at > %(now)s)
UNION ALL
SELECT id::text, 'concept', left(name, %(chars)s), '', '', ''
FROM (SELECT * FROM concepts WHERE id = ANY (%(ids)s::uuid[]) OFFSET 0) c
WHERE ns = %(ns)s

-- browse_ids: ids of memories or conflicts of a scope that begin or end with some digits; the only one that reads a scope
SELECT id::text FROM memories
WHERE ns = %(ns)s AND %(of)s = 'memory'
    AND (replace(id::text, '-', '') LIKE %(part)s || '%%' OR replace(id::text, '-', '') LIKE '%%' || %(part)s)
UNION ALL
SELECT id::text FROM conflicts
WHERE ns = %(ns)s AND %(of)s = 'conflict'
    AND (replace(id::text, '-', '') LIKE %(part)s || '%%' OR replace(id::text, '-', '') LIKE '%%' || %(part)s)
ORDER BY 1
LIMIT %(limit)s
