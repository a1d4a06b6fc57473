-- Gauges, read every few seconds. Bounded: past 100,000 the backlog is "at least", and memories are estimated.

-- outbox_gauges: jobs that are due and for how many seconds the oldest has been, dead letters
SELECT
    (SELECT count(*) FROM (
        SELECT FROM outbox WHERE dead_at IS NULL AND due_at <= clock_timestamp() LIMIT 100000) AS jobs) AS due,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(due_at)), 0)::float8 FROM (
        SELECT due_at FROM outbox WHERE dead_at IS NULL AND due_at <= clock_timestamp() ORDER BY id LIMIT 1000) AS oldest) AS due_for_s,
    (SELECT count(*) FROM (SELECT FROM outbox WHERE dead_at IS NOT NULL LIMIT 100000) AS jobs) AS dead

-- memory_gauges: memories by status: counted up to 20,000, beyond that what PostgreSQL's statistics say
WITH seen AS (
    SELECT
        (SELECT count(*) FROM (SELECT FROM memories LIMIT 20001) AS m) AS every,
        (SELECT count(*) FROM (SELECT FROM memories WHERE status = 'pending' LIMIT 20001) AS m) AS pending,
        (SELECT count(*) FROM (SELECT FROM memories WHERE status = 'active' LIMIT 20001) AS m) AS active
), known AS (
    SELECT
        (SELECT reltuples FROM pg_class WHERE oid = 'memories'::regclass) AS every,
        (SELECT reltuples FROM pg_class WHERE oid = 'memories_pending'::regclass) AS pending,
        (SELECT reltuples FROM pg_class WHERE oid = 'memories_model'::regclass) AS active
), told AS (
    SELECT
        CASE WHEN seen.every > 20000 THEN greatest(seen.every, known.every) ELSE seen.every END::bigint AS every,
        CASE WHEN seen.pending > 20000 THEN greatest(seen.pending, known.pending) ELSE seen.pending END::bigint AS pending,
        CASE WHEN seen.active > 20000 THEN greatest(seen.active, known.active) ELSE seen.active END::bigint AS active
    FROM seen, known
)
SELECT active, pending, greatest(0, every - active - pending) AS archived FROM told

-- conflict_gauges: contradictions that wait for a decision
SELECT count(*) AS conflicts FROM (SELECT FROM conflicts WHERE status = 'pending' AND NOT suspected LIMIT 100000) AS waiting

-- note_gauges: notes by state, their chunks and tags: counted up to 20,000, beyond that what PostgreSQL's statistics say;
-- libraries that are held, seconds since the oldest recorded scan and the oldest sign of a watcher
WITH seen AS (
    SELECT
        (SELECT count(*) FROM (SELECT FROM note_chunks LIMIT 20001) AS c) AS chunks,
        (SELECT count(*) FROM (SELECT FROM tags LIMIT 20001) AS t) AS tags
)
SELECT
    CASE WHEN seen.chunks > 20000 THEN greatest(seen.chunks, (SELECT reltuples FROM pg_class WHERE oid = 'note_chunks'::regclass))
        ELSE seen.chunks END::bigint AS chunks,
    CASE WHEN seen.tags > 20000 THEN greatest(seen.tags, (SELECT reltuples FROM pg_class WHERE oid = 'tags'::regclass))
        ELSE seen.tags END::bigint AS tags,
    (SELECT count(*) FROM (SELECT FROM notes WHERE state = 'pending' LIMIT 20000) AS n) AS pending,
    (SELECT count(*) FROM (SELECT FROM notes WHERE state = 'failed' LIMIT 20000) AS n) AS failed,
    (SELECT count(*) FROM (SELECT FROM notes WHERE state = 'skipped' LIMIT 20000) AS n) AS skipped,
    (SELECT count(*) FROM (SELECT FROM notes WHERE state = 'indexed' LIMIT 20000) AS n) AS indexed,
    (SELECT count(*) FROM note_libraries WHERE state = 'held') AS held,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(scanned_at, created_at))), 0)::float8 FROM note_libraries
        WHERE state <> 'paused') AS scanned_for_s,
    (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(watched_at)), 0)::float8 FROM note_libraries) AS watched_for_s
FROM seen
