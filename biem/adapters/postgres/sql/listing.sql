-- Lists of one scope; `(status || '') <> ''` holds for all and leads to the indexes of lists. Each page is read from the index of its order and begins after the last memory of the page before.
-- A coalesce of a parameter would keep a bound out of the index: row-level security takes it for a leak. OFFSET 0 keeps
-- the other conditions out of the choice of the index: the planner expects that one row meets them, and would read and
-- sort the scope to find it.

-- list_newest: those said last first
SELECT {node}
FROM (
    SELECT * FROM memories
    WHERE ns = %(ns)s AND (status || '') <> '' AND at >= %(from)s::timestamptz
        AND (at, write_seq) < (%(key)s::timestamptz, %(seq)s::bigint)
    ORDER BY at DESC, write_seq DESC OFFSET 0
) m
WHERE {listed}
ORDER BY m.at DESC, m.write_seq DESC LIMIT %(limit)s

-- list_oldest: in the order they were said
SELECT {node}
FROM (
    SELECT * FROM memories
    WHERE ns = %(ns)s AND (status || '') <> '' AND at < %(to)s::timestamptz AND (at, write_seq) > (%(key)s::timestamptz, %(seq)s::bigint)
    ORDER BY at, write_seq OFFSET 0
) m
WHERE {listed}
ORDER BY m.at, m.write_seq LIMIT %(limit)s

-- list_importance: the most important first, of equals the last written
SELECT {node}
FROM (
    SELECT * FROM memories
    WHERE ns = %(ns)s AND (status || '') <> '' AND (importance, write_seq) < (%(key)s::real, %(seq)s::bigint)
    ORDER BY importance DESC, write_seq DESC OFFSET 0
) m
WHERE {listed}
ORDER BY m.importance DESC, m.write_seq DESC LIMIT %(limit)s

-- list_energy: those of most energy first; reads the whole scope, because an index of energies would make every access
-- of a memory write to all its indexes
WITH best AS MATERIALIZED (
    SELECT m.id, energy_at(m.energy_anchor, m.anchor_at, %(energies_at)s, %(decay)s) AS energy_then, m.write_seq
    FROM memories m
    WHERE m.ns = %(ns)s
        AND (energy_at(m.energy_anchor, m.anchor_at, %(energies_at)s, %(decay)s), m.write_seq)
            < (%(key)s::double precision, %(seq)s::bigint)
        AND {listed}
    ORDER BY energy_then DESC, m.write_seq DESC LIMIT %(limit)s
)
SELECT {node}, best.energy_then
FROM best CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = best.id OFFSET 0) m
WHERE (m.ns = %(ns)s) IS TRUE
ORDER BY best.energy_then DESC, best.write_seq DESC

-- list_newest_then: of what stood at `as_of` and was revised since; so are the next ones
SELECT {node} FROM standing_revisions(ARRAY[%(ns)s::text], %(as_of)s) m
WHERE (m.at, m.write_seq) < (%(key)s::timestamptz, %(seq)s::bigint) AND {listed}
ORDER BY m.at DESC, m.write_seq DESC LIMIT %(limit)s

-- list_oldest_then: in the order they were said
SELECT {node} FROM standing_revisions(ARRAY[%(ns)s::text], %(as_of)s) m
WHERE (m.at, m.write_seq) > (%(key)s::timestamptz, %(seq)s::bigint) AND {listed}
ORDER BY m.at, m.write_seq LIMIT %(limit)s

-- list_importance_then: the most important first
SELECT {node} FROM standing_revisions(ARRAY[%(ns)s::text], %(as_of)s) m
WHERE (m.importance, m.write_seq) < (%(key)s::real, %(seq)s::bigint) AND {listed}
ORDER BY m.importance DESC, m.write_seq DESC LIMIT %(limit)s

-- list_energy_then: those of most energy first
SELECT {node}, energy_at(m.energy_anchor, m.anchor_at, %(energies_at)s, %(decay)s) AS energy_then
FROM standing_revisions(ARRAY[%(ns)s::text], %(as_of)s) m
WHERE (energy_at(m.energy_anchor, m.anchor_at, %(energies_at)s, %(decay)s), m.write_seq)
        < (%(key)s::double precision, %(seq)s::bigint)
    AND {listed}
ORDER BY energy_then DESC, m.write_seq DESC LIMIT %(limit)s

-- list_count_then: how many there are of what stood then
SELECT count(*) AS memories FROM standing_revisions(ARRAY[%(ns)s::text], %(as_of)s) m WHERE {listed}

-- list_count: how many there are
SELECT count(*) AS memories
FROM (
    SELECT * FROM memories
    WHERE ns = %(ns)s AND (status || '') <> '' AND at >= %(from)s::timestamptz AND at < %(to)s::timestamptz
    OFFSET 0
) m
WHERE {listed}
