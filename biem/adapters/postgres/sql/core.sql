-- Reading of what is told without being asked for.

-- core_memories: memories of the layer core that hold now
SELECT {node}
FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.layer = 'core' AND m.status <> 'archived'
    AND (m.valid_to IS NULL OR m.valid_to > %(now)s)
ORDER BY m.importance DESC, m.write_seq DESC, m.id
LIMIT %(most)s

-- useful_memories: of each kind those that were of use last, as many as it has slots, that hold now
SELECT {node}
FROM (
    SELECT found.id, slot.size, row_number() OVER (PARTITION BY slot.kind ORDER BY found.useful_at DESC, found.id) AS place
    FROM unnest(%(kinds)s::text[], %(sizes)s::integer[]) AS slot (kind, size)
    CROSS JOIN unnest(%(scopes)s::text[]) AS home (ns)
    CROSS JOIN LATERAL (
        SELECT id, useful_at FROM memories
        WHERE ns = home.ns AND kind = slot.kind AND useful_at IS NOT NULL AND status <> 'archived'
            AND (valid_to IS NULL OR valid_to > %(now)s)
        ORDER BY useful_at DESC LIMIT slot.size) AS found
) AS newest
JOIN memories m ON m.id = newest.id
WHERE newest.place <= newest.size
ORDER BY m.useful_at DESC, m.id
