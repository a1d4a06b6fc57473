-- Reading of what is always told.

-- core_memories: memories of the layer core that hold now
SELECT {node}
FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.layer = 'core' AND m.status <> 'archived'
    AND (m.valid_to IS NULL OR m.valid_to > %(now)s)
ORDER BY m.importance DESC, m.write_seq DESC, m.id
LIMIT %(most)s
