-- What `biem diagnose` asks and mends. Every statement is bounded by a page, however many memories there are.

-- outbox_state: due jobs with the age of the oldest, jobs that a worker holds, dead letters with some of their memories,
-- memories that three attempts or more did not index although others were, with some of them and what the last one met
WITH refused AS (
    SELECT id, memory_id, last_error FROM outbox
    WHERE dead_at IS NULL AND task = 'encode' AND attempts > 0 AND claims > 3 AND last_error <> '' LIMIT 100000
)
SELECT
    (SELECT count(*) FROM (
        SELECT FROM outbox WHERE dead_at IS NULL AND due_at <= clock_timestamp() LIMIT 100000) AS jobs) AS due,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8 FROM (
        SELECT due_at FROM outbox WHERE dead_at IS NULL AND due_at <= clock_timestamp() ORDER BY id LIMIT 1000) AS oldest) AS due_for_s,
    (SELECT count(*) FROM (
        SELECT FROM outbox
        WHERE dead_at IS NULL AND due_at > clock_timestamp() AND claims > 0 AND last_error = '' LIMIT 100000) AS jobs) AS leased,
    (SELECT count(*) FROM (SELECT FROM outbox WHERE dead_at IS NOT NULL LIMIT 100000) AS jobs) AS dead,
    ARRAY(SELECT memory_id::text FROM outbox WHERE dead_at IS NOT NULL ORDER BY dead_at, id LIMIT %(samples)s) AS dead_ids,
    (SELECT count(*) FROM refused) AS refused,
    ARRAY(SELECT memory_id::text FROM refused ORDER BY id LIMIT %(samples)s) AS refused_ids,
    coalesce((SELECT last_error FROM refused ORDER BY id LIMIT 1), '') AS refused_for

-- memory_bounds: the lowest and the highest id
SELECT (SELECT id::text FROM memories ORDER BY id LIMIT 1) AS lowest,
    (SELECT id::text FROM memories ORDER BY id DESC LIMIT 1) AS highest

-- known_page: the next memories by id, and whether some job is about them
SELECT m.id::text, m.ns, m.status, m.model, EXISTS (SELECT FROM outbox o WHERE o.memory_id = m.id) AS queued
FROM memories m WHERE m.id > %s ORDER BY m.id LIMIT %s

-- known: the same of given ids, also of those that are no memories
SELECT given.id::text, coalesce(m.ns, '') AS ns, coalesce(m.status, 'gone') AS status, coalesce(m.model, '') AS model,
    EXISTS (SELECT FROM outbox o WHERE o.memory_id = given.id) AS queued
FROM unnest(%s::uuid[]) AS given (id) LEFT JOIN memories m USING (id)

-- scope_states: the next scopes, with links that no process loads and memories that another model indexed
SELECT s.tenant, s.usr, s.project,
    (SELECT count(*) FROM (
        SELECT FROM crystal_links l WHERE l.ns = s.ns AND l.version > s.graph_version LIMIT 1000) AS unseen) AS unseen_links,
    (SELECT coalesce(jsonb_object_agg(model, number), '{}') FROM (
        SELECT model, count(*) AS number FROM (
            (SELECT model FROM memories m WHERE m.ns = s.ns AND m.status = 'active' AND m.model < %(model)s LIMIT 1000)
            UNION ALL
            (SELECT model FROM memories m WHERE m.ns = s.ns AND m.status = 'active' AND m.model > %(model)s LIMIT 1000)
        ) AS foreign_rows GROUP BY model) AS counted) AS foreign_rows
FROM scopes s WHERE s.ns > %(after)s ORDER BY s.ns LIMIT %(limit)s

-- reencode: active memories are indexed once more, each in place of a row that may be there
WITH back AS (
    UPDATE memories m SET status = 'pending'
    WHERE id = ANY (%s::uuid[]) AND status = 'active' AND NOT EXISTS (SELECT FROM outbox o WHERE o.memory_id = m.id)
    RETURNING id, ns
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back

-- try_refused: make refused memories due now
UPDATE outbox SET due_at = clock_timestamp()
WHERE dead_at IS NULL AND task = 'encode' AND attempts > 0 AND claims > 3 AND last_error <> ''
    AND due_at > clock_timestamp()

-- clear_rows: remove archived and missing memories from the index
INSERT INTO outbox (task, memory_id, ns)
SELECT CASE WHEN m.id IS NULL THEN 'purge' ELSE 'archive' END, given.id, given.ns
FROM unnest(%s::uuid[], %s::text[]) AS given (id, ns) LEFT JOIN memories m ON m.id = given.id
WHERE (m.id IS NULL OR m.status = 'archived') AND NOT EXISTS (SELECT FROM outbox o WHERE o.memory_id = given.id)

-- renumber_scope: make every process reload this graph
UPDATE scopes SET graph_version = fresh.version, graph_floor = fresh.version
FROM (SELECT nextval('graph_versions') AS version) AS fresh
WHERE ns = %(ns)s

-- renumber_links: links above their scope's version get it
UPDATE crystal_links l SET version = s.graph_version FROM scopes s
WHERE s.ns = l.ns AND l.ns = %(ns)s AND l.version > s.graph_version

-- unfinished_moves: unfinished moves, and whether a process holds their lock
SELECT model, collection, coalesce(cursor::text, '') AS cursor, EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint << 32 | objid::bigint = %(key)s::bigint) AS running
FROM embedders WHERE state = 'filling' ORDER BY changed_at DESC

-- unfinished_scope_moves: moves to another scope of which memories remain
SELECT s.tenant, s.usr, s.project, t.tenant AS tenant_to, t.usr AS usr_to, t.project AS project_to,
    (SELECT count(*) FROM move_planned r WHERE r.move_id = p.id) AS memories
FROM move_plans p JOIN scopes s ON s.ns = p.ns JOIN scopes t ON t.ns = p.ns_to
ORDER BY p.begun_at, p.id LIMIT %(limit)s
