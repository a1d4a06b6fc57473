-- Jobs: leases, results, dead letters.

-- claim_fresh: lease jobs that were never tried, oldest first
WITH due AS (
    SELECT id FROM outbox WHERE dead_at IS NULL AND attempts = 0 AND due_at <= clock_timestamp()
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET attempts = 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE o.id = ANY (ARRAY(SELECT id FROM due)) -- a join would be planned for a tenth of the outbox, and read all of it
RETURNING o.id AS key, o.task, o.memory_id::text, o.ns, o.attempts, o.claims, o.known

-- claim_retried: lease one job that was tried before; alone, so that a poison row cannot take others down with it
WITH due AS (
    SELECT id FROM outbox WHERE dead_at IS NULL AND attempts > 0 AND due_at <= clock_timestamp()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET attempts = attempts + 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE o.id = ANY (ARRAY(SELECT id FROM due)) -- a join would be planned for a tenth of the outbox, and read all of it
RETURNING o.id AS key, o.task, o.memory_id::text, o.ns, o.attempts, o.claims, o.known

-- renew: extend the leases that are still held
UPDATE outbox o SET due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM unnest(%(keys)s::bigint[], %(claims)s::integer[]) AS held (id, claims)
WHERE o.id = held.id AND o.claims = held.claims AND o.dead_at IS NULL
RETURNING o.id AS key

-- job_nodes: the memories of leased jobs with the names of their scopes
SELECT {node}, s.tenant, s.usr, s.project FROM memories m JOIN scopes s USING (ns) WHERE m.id = ANY (%s::uuid[])

-- complete: activate memories with the results of encoding, unless they were revised or moved meanwhile
UPDATE memories m
SET status = 'active', model = %(model)s, language = r.language, fields = r.fields, entities = r.entities,
    sentiment = r.sentiment,
    tier = CASE WHEN trust > 0 AND energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) >= %(enter)s THEN 'L1' ELSE 'L2' END
FROM jsonb_to_recordset(%(learned)s) AS r (id uuid, ns text, revision integer, language text, fields jsonb, entities text[],
    sentiment real)
WHERE m.id = r.id AND (m.ns = r.ns) IS TRUE AND m.status = 'pending' AND m.revision = r.revision
RETURNING m.id::text, m.tier

-- existing: which of these ids are memories, their revisions and scopes
SELECT id::text, revision, ns FROM memories WHERE id = ANY (%s::uuid[])

-- hasten: jobs of moved memories that wait for the lease of a worker, which no longer writes to the index; unless another
-- worker claimed the job after this one
UPDATE outbox o SET due_at = clock_timestamp()
FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS held (id, claims)
WHERE o.memory_id = held.id AND o.claims = held.claims AND o.task = 'encode' AND o.attempts = 0 AND o.dead_at IS NULL
    AND o.due_at > clock_timestamp()

-- done: jobs that are finished
DELETE FROM outbox WHERE id = ANY (%s) RETURNING id AS key

-- release: return jobs for later
UPDATE outbox SET due_at = clock_timestamp() + make_interval(secs => %(delay_s)s), last_error = %(reason)s,
    attempts = greatest(0, attempts - %(refund)s)
WHERE id = ANY (%(keys)s)

-- bury: move jobs to the dead letters
UPDATE outbox SET dead_at = clock_timestamp(), last_error = %s WHERE id = ANY (%s)

-- dead: the dead letters
SELECT o.memory_id::text, s.tenant, s.usr, s.project, o.attempts, o.last_error AS reason, o.dead_at
FROM outbox o JOIN scopes s USING (ns)
WHERE o.dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR o.ns = %(ns)s)
ORDER BY o.id LIMIT %(limit)s

-- retry_dead: requeue dead letters
UPDATE outbox SET dead_at = NULL, attempts = 0, due_at = clock_timestamp()
WHERE dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR ns = %(ns)s)

-- backlog: jobs neither done nor dead; purge jobs wait by design and do not count
SELECT count(*) AS jobs FROM outbox
WHERE dead_at IS NULL AND task = 'encode' AND (%(ns)s::text IS NULL OR ns = %(ns)s)
    AND (NOT %(due_only)s OR due_at <= clock_timestamp())

-- encode_due: whether a memory is due to be encoded; counting all of a bulk import took a millisecond at each look
SELECT EXISTS (
    SELECT FROM outbox WHERE dead_at IS NULL AND task = 'encode' AND due_at <= clock_timestamp()
) AS due

-- waiting: memories that are still to be encoded, and their last errors
SELECT memory_id::text, claims > 0 AS claimed, dead_at IS NOT NULL AS dead, last_error AS reason FROM outbox
WHERE memory_id = ANY (%s::uuid[]) AND task = 'encode' ORDER BY id
