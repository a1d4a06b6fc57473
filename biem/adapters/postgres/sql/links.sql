-- Links of the graph. A statement that changes links runs after `lock_scope` in the same transaction, so that it sees
-- what committed while it waited and its version commits in order.
--
-- Nodes and links are looked up by id alone, and compared with the scope afterwards: of two equality conditions the
-- planner picks the scope's while its statistics are old, and reads the whole scope.

-- links_connect: add links or let them grow (domain.link.grown); once for each name of work
WITH work AS (
    INSERT INTO link_work (ns, name, done_at)
    SELECT ns, %(once)s, %(at)s FROM scopes WHERE ns = %(ns)s AND %(once)s::text IS NOT NULL
    ON CONFLICT DO NOTHING
    RETURNING 1
), wanted AS MATERIALIZED (
    SELECT w.source, w.target, w.type, greatest(w.weight, k.weight) AS weight,
        greatest(w.strength, k.strength) + w.plus AS strength, coalesce(k.created_at, %(at)s) AS created_at,
        greatest(k.touched_at, %(at)s) AS touched_at, k.version,
        k.id IS NULL OR k.deleted OR w.weight > k.weight OR w.strength > k.strength OR w.plus > 0 AS changed
    FROM (
        SELECT *, source::uuid AS source_node, target::uuid AS target_node
        FROM unnest(%(sources)s::text[], %(targets)s::text[], %(types)s::text[], %(weights)s::float8[],
            %(strengths)s::integer[], %(plus)s::integer[]) AS g (source, target, type, weight, strength, plus)
        OFFSET 0 -- before PostgreSQL 16 no index serves a cast in the comparison: it might leak hidden rows
    ) w
    LEFT JOIN LATERAL (
        SELECT l.* FROM crystal_links l
        WHERE l.source_id = w.source AND l.target_id = w.target AND l.link_type = w.type AND (l.parked OR NOT l.deleted)
        OFFSET 0
    ) k ON k.ns = %(ns)s
    WHERE (%(once)s::text IS NULL OR EXISTS (SELECT FROM work))
        AND (SELECT n.ns FROM graph_nodes n WHERE n.id = w.source_node) = %(ns)s
        AND (SELECT n.ns FROM graph_nodes n WHERE n.id = w.target_node) = %(ns)s
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions')
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM wanted WHERE changed)
    RETURNING graph_version
)
INSERT INTO crystal_links
    (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version)
SELECT %(ns)s, w.source, w.target, w.type, w.weight, w.strength, w.created_at, w.touched_at,
    CASE WHEN w.changed THEN b.graph_version ELSE w.version END
FROM wanted w LEFT JOIN bumped b ON true
ON CONFLICT (source_id, target_id, link_type) DO UPDATE
SET weight = EXCLUDED.weight, strength = EXCLUDED.strength, created_at = EXCLUDED.created_at,
    touched_at = EXCLUDED.touched_at, version = EXCLUDED.version, deleted = false, parked = false

-- links_changes: the version of each scope, and its links above the version known, or all where that is not enough: when
-- it lies below the floor, or above the version because the database was restored from a backup
SELECT s.ns, s.graph_version, s.complete, l.source_id AS source, l.target_id AS target, l.link_type AS type, l.weight,
    l.strength, l.deleted
FROM unnest(%(scopes)s::text[], %(since)s::bigint[]) AS k (ns, since)
CROSS JOIN LATERAL (
    SELECT ns, graph_version, k.since NOT BETWEEN graph_floor AND graph_version AS complete
    FROM scopes WHERE scopes.ns = k.ns OFFSET 0
) s
LEFT JOIN LATERAL (
    SELECT * FROM crystal_links c
    WHERE c.ns = s.ns AND c.version <= s.graph_version AND c.version > CASE WHEN s.complete THEN -1 ELSE k.since END
        AND NOT (s.complete AND c.deleted)
    OFFSET 0
) l ON true

-- links_nodes: all nodes of some scopes, for a process that loads their graphs
SELECT ns, id::text FROM graph_nodes WHERE ns = ANY (%(scopes)s::text[])

-- links_weaken: idle links lose one strength or are removed; for those whose ends were used the idle period restarts
WITH due AS (
    SELECT d.*, d.source_id::uuid AS source_node, d.target_id::uuid AS target_node
    FROM unnest(%(types)s::text[]) AS t (type)
    CROSS JOIN LATERAL (
        SELECT l.id, l.source_id, l.target_id FROM crystal_links l
        WHERE l.ns = %(ns)s AND l.link_type = t.type AND NOT l.deleted AND l.touched_at <= %(idle_before)s
        ORDER BY l.touched_at LIMIT %(limit)s
    ) d
    LIMIT %(limit)s
), looked AS MATERIALIZED (
    SELECT d.id, (
        SELECT max(n.accessed_at) FROM graph_nodes n
        WHERE n.id IN (d.source_node, d.target_node) AND n.accessed_at > %(idle_before)s
    ) AS used
    FROM due d
    WHERE %(share)s >= 1 OR abs(hashint8extended(d.id, %(salt)s) %% 1000000) < %(share)s * 1000000
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions')
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM looked WHERE used IS NULL)
    RETURNING graph_version
)
UPDATE crystal_links l
SET touched_at = coalesce(d.used, %(at)s),
    strength = CASE WHEN d.used IS NULL THEN l.strength - 1 ELSE l.strength END,
    deleted = d.used IS NULL AND l.strength <= 1,
    version = CASE WHEN d.used IS NULL THEN b.graph_version ELSE l.version END
FROM looked d LEFT JOIN bumped b ON true
WHERE l.id = d.id
RETURNING d.used IS NULL AS weaker, l.deleted AS gone

-- links_prune: links above the maximum of nodes with newly changed links; saves its progress
WITH changed AS MATERIALIZED (
    SELECT l.*
    FROM scopes s
    CROSS JOIN LATERAL (
        SELECT l.source_id, l.target_id, l.version, l.deleted FROM crystal_links l
        WHERE l.ns = s.ns AND l.version > s.graph_pruned AND l.version <= s.graph_version
        ORDER BY l.version FETCH FIRST %(limit)s ROWS WITH TIES
    ) l
    WHERE s.ns = %(ns)s
), ends AS (
    SELECT source_id AS node FROM changed WHERE NOT deleted
    UNION
    SELECT target_id FROM changed WHERE NOT deleted
), surplus AS MATERIALIZED (
    SELECT DISTINCT p.id
    FROM ends e
    CROSS JOIN LATERAL (
        SELECT b.id, b.ns FROM (
            SELECT * FROM crystal_links l WHERE l.source_id = e.node AND NOT l.deleted
            UNION ALL
            SELECT * FROM crystal_links l WHERE l.target_id = e.node AND NOT l.deleted
        ) b
        ORDER BY b.weight DESC, b.strength DESC, b.touched_at DESC, b.id OFFSET %(most)s
    ) p
    WHERE p.ns = %(ns)s
), bumped AS (
    UPDATE scopes
    SET graph_pruned = (SELECT max(version) FROM changed),
        graph_version = CASE WHEN EXISTS (SELECT FROM surplus) THEN nextval('graph_versions') ELSE graph_version END
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM changed)
    RETURNING graph_version
), removed AS (
    UPDATE crystal_links l SET deleted = true, touched_at = %(at)s, version = b.graph_version
    FROM surplus p, bumped b WHERE l.id = p.id
)
SELECT (SELECT count(*) FROM surplus) AS removed, (SELECT count(*) FROM changed) AS looked

-- links_drop: remove links of these nodes, parked or for good; or only of ids that are no nodes any more
WITH leaving AS MATERIALIZED (
    SELECT i.id FROM (SELECT id, id::uuid AS node FROM unnest(%(ids)s::text[]) AS g (id) OFFSET 0) i
    WHERE NOT %(absent)s OR (SELECT n.ns FROM graph_nodes n WHERE n.id = i.node) IS NULL
), hit AS MATERIALIZED (
    SELECT l.id, l.ns FROM leaving i JOIN crystal_links l ON l.source_id = i.id
    WHERE NOT l.deleted OR (l.parked AND NOT %(parked)s)
    UNION
    SELECT l.id, l.ns FROM leaving i JOIN crystal_links l ON l.target_id = i.id
    WHERE NOT l.deleted OR (l.parked AND NOT %(parked)s)
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions')
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM hit h WHERE h.ns = %(ns)s)
    RETURNING graph_version
)
UPDATE crystal_links l SET deleted = true, parked = %(parked)s, touched_at = %(at)s, version = b.graph_version
FROM hit h, bumped b WHERE l.id = h.id AND h.ns = %(ns)s

-- links_parked: which of these nodes have parked links
SELECT i.id FROM unnest(%(ids)s::text[]) AS i (id)
WHERE (SELECT l.ns FROM crystal_links l WHERE l.source_id = i.id AND l.parked LIMIT 1) = %(ns)s
    OR (SELECT l.ns FROM crystal_links l WHERE l.target_id = i.id AND l.parked LIMIT 1) = %(ns)s

-- links_restore: parked links of these nodes whose ends are both nodes again
WITH hit AS MATERIALIZED (
    SELECT k.id
    FROM (
        SELECT id, source_id::uuid AS source_node, target_id::uuid AS target_node
        FROM crystal_links WHERE source_id = ANY (%(ids)s::text[]) AND parked
        UNION
        SELECT id, source_id::uuid, target_id::uuid
        FROM crystal_links WHERE target_id = ANY (%(ids)s::text[]) AND parked
    ) k
    WHERE (SELECT n.ns FROM graph_nodes n WHERE n.id = k.source_node) = %(ns)s
        AND (SELECT n.ns FROM graph_nodes n WHERE n.id = k.target_node) = %(ns)s
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions')
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM hit)
    RETURNING graph_version
)
UPDATE crystal_links l SET deleted = false, parked = false, touched_at = %(at)s, version = b.graph_version
FROM hit h, bumped b WHERE l.id = h.id

-- links_of: the links of some nodes
SELECT source_id AS source, target_id AS target, link_type AS type, weight, strength, created_at, touched_at
FROM (
    SELECT * FROM crystal_links WHERE source_id = ANY (%(ids)s::text[]) AND NOT deleted
    UNION
    SELECT * FROM crystal_links WHERE target_id = ANY (%(ids)s::text[]) AND NOT deleted
    OFFSET 0
) l
WHERE ns = %(ns)s
ORDER BY weight DESC, strength DESC, touched_at DESC, id

-- links_count: links of a scope
SELECT count(*) AS links FROM crystal_links WHERE ns = %(ns)s AND NOT deleted

-- links_dangling: ends that are no nodes, among the links changed last and those before some point of the versions; so
-- all are examined in the course of time, and the cost of a run does not grow with the scope; without `looked`: among all
WITH looked AS MATERIALIZED (
    (SELECT source_id, target_id, deleted FROM crystal_links
     WHERE ns = %(ns)s ORDER BY version DESC LIMIT %(looked)s::bigint)
    UNION ALL
    (SELECT source_id, target_id, deleted FROM crystal_links
     WHERE ns = %(ns)s AND %(looked)s::bigint IS NOT NULL AND version <= (
        SELECT (graph_floor + random() * (graph_version - graph_floor))::bigint FROM scopes WHERE ns = %(ns)s)
     ORDER BY version DESC LIMIT %(looked)s::bigint)
)
SELECT e.node
FROM (
    SELECT source_id AS node, source_id::uuid AS id FROM looked WHERE NOT deleted
    UNION
    SELECT target_id, target_id::uuid FROM looked WHERE NOT deleted
) e
WHERE (SELECT n.ns FROM graph_nodes n WHERE n.id = e.id) IS DISTINCT FROM %(ns)s
ORDER BY e.node LIMIT %(limit)s

-- links_compact: delete traces of removed links; the trigger on the table raises the floor of the versions
DELETE FROM crystal_links WHERE id IN (
    SELECT id FROM crystal_links
    WHERE ns = %(ns)s AND deleted AND NOT parked AND touched_at < %(before)s
    ORDER BY touched_at LIMIT %(limit)s)

-- links_forget_work: delete names of old calls
DELETE FROM link_work WHERE ns = %(ns)s AND name IN (
    SELECT name FROM link_work WHERE ns = %(ns)s AND done_at < %(before)s ORDER BY done_at LIMIT %(limit)s)

-- links_earlier: the last memories of the same conversation before each of some
SELECT m.id::text AS memory_id, o.id::text, o.at, o.write_seq AS seq, o.conversation
FROM unnest(%(ids)s::uuid[], %(ats)s::timestamptz[], %(seqs)s::bigint[], %(conversations)s::text[])
    AS m (id, at, seq, conversation)
CROSS JOIN LATERAL (
    SELECT o.id, o.at, o.write_seq, o.conversation FROM memories o
    WHERE o.ns = %(ns)s AND o.conversation = m.conversation AND (o.at, o.write_seq) < (m.at, m.seq)
        AND o.at > m.at - make_interval(secs => %(window_s)s) AND o.status <> 'archived'
    ORDER BY o.at DESC, o.write_seq DESC LIMIT %(most)s
) o
