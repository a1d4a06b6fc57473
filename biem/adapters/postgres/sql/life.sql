-- Tiers, retention, feedback and tombstones. Each statement writes transitions only: ageing itself writes nothing.

-- feedback_once: record the feedback of a turn; no row when it was recorded before
INSERT INTO feedbacks (ns, turn, at) SELECT ns, %(turn)s, %(at)s FROM scopes WHERE ns = %(ns)s
ON CONFLICT DO NOTHING RETURNING turn

-- feedback_compact: delete turns that are too old to be repeated
DELETE FROM feedbacks WHERE (ns, turn) IN (
    SELECT ns, turn FROM feedbacks WHERE ns = %(ns)s AND at < %(before)s ORDER BY at LIMIT %(limit)s)

-- reward: change energy, count useful feedback, and promote memories that became hot or were useful often enough
WITH before AS MATERIALIZED (
    SELECT m.id, m.tier, given.mark, m.useful_count + (given.mark > 0)::integer AS useful,
        least(1, greatest(0, energy_at(m.energy_anchor, m.anchor_at, %(at)s, %(decay)s) + given.mark * %(step)s)) AS energy
    FROM memories m JOIN unnest(%(ids)s::uuid[], %(marks)s::double precision[]) AS given (id, mark) USING (id)
    WHERE m.ns = ANY (%(scopes)s) AND m.status <> 'archived'
    ORDER BY m.id FOR NO KEY UPDATE OF m
)
UPDATE memories m
SET energy_anchor = energy, anchor_at = greatest(anchor_at, %(at)s), useful_count = useful,
    tier = CASE WHEN status = 'active' AND trust > 0 AND energy >= %(promote)s THEN 'L1' ELSE m.tier END,
    layer = CASE WHEN layer = 'short_term' AND useful >= %(useful)s THEN 'long_term' ELSE layer END,
    useful_at = CASE WHEN mark > 0 THEN %(at)s WHEN mark < 0 THEN NULL ELSE useful_at END
FROM before WHERE m.id = before.id
RETURNING m.id::text, m.ns, m.energy_anchor, m.anchor_at, greatest(m.anchor_at, m.accessed_at) AS touched_at, m.tier,
    before.tier AS tier_before

-- hot: memories of tier L1 that have a vector, hottest first; their vectors are looked up one by one, because a join
-- might read all vectors of the model
WITH hot AS MATERIALIZED (
    SELECT m.id, m.energy_anchor, m.anchor_at, greatest(m.anchor_at, m.accessed_at) AS touched_at, m.conversation,
        (SELECT e.vector FROM embeddings e WHERE e.model = %(model)s AND e.sha256 = m.embed_sha) AS vector
    FROM memories m
    WHERE m.ns = %(ns)s AND m.tier = 'L1' AND (%(ids)s::uuid[] IS NULL OR m.id = ANY (%(ids)s::uuid[]))
)
SELECT id::text, energy_anchor, anchor_at, touched_at, conversation, vector FROM hot WHERE vector IS NOT NULL
ORDER BY energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) DESC, id
LIMIT %(limit)s

-- hot_ids: memories of tier L1
SELECT id::text FROM memories WHERE ns = %s AND tier = 'L1'

-- hot_scopes: scopes that have any
SELECT DISTINCT ns FROM memories WHERE tier = 'L1' AND ns > %s ORDER BY ns LIMIT %s

-- cool: these left the canvas
UPDATE memories SET tier = 'L2' WHERE ns = %s AND id = ANY (%s::uuid[]) AND tier = 'L1'

-- cool_all_but: more than a canvas holds
UPDATE memories SET tier = 'L2'
WHERE id IN (
    SELECT id FROM memories WHERE ns = %(ns)s AND tier = 'L1' AND id <> ALL (%(ids)s::uuid[])
    ORDER BY id LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED)

-- fade: too weak or idle for L1
UPDATE memories SET tier = 'L2'
WHERE id IN (
    SELECT id FROM memories
    WHERE tier = 'L1' AND (energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) < %(weakest)s
        OR greatest(anchor_at, accessed_at) < %(idle_since)s)
    LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED)
RETURNING ns, id::text

-- due: memories whose retention is due for review, of a scope or of all, locked against accesses; a correction is read
-- with the text it corrects: "no, in June" is as lasting as the birthday that it corrects
SELECT id::text, ns, energy_anchor, anchor_at, greatest(anchor_at, accessed_at) AS touched_at,
    concat_ws(E'\n', text, (
        WITH RECURSIVE renewed AS (
            SELECT o.id, o.text, 1 AS step FROM memories o WHERE o.superseded_by = memories.id
            UNION ALL
            SELECT o.id, o.text, step + 1 FROM renewed r JOIN memories o ON o.superseded_by = r.id WHERE step < 8
        ) SELECT string_agg(renewed.text, E'\n') FROM renewed)) AS text, source, kind, layer, importance, reason, access_count, useful_count, trust
FROM memories
WHERE id IN (
        SELECT m.id
        FROM scopes s CROSS JOIN LATERAL (
            SELECT id FROM memories WHERE ns = s.ns AND status = 'active' AND due_at <= %(at)s
            ORDER BY due_at LIMIT %(limit)s) m
        WHERE %(ns)s::text IS NULL OR s.ns = %(ns)s
        LIMIT %(limit)s)
    AND status = 'active' AND due_at <= %(at)s
ORDER BY id FOR NO KEY UPDATE SKIP LOCKED

-- keep: judged memories that stay
UPDATE memories m SET layer = kept.layer, due_at = kept.due_at
FROM unnest(%(ids)s::uuid[], %(layers)s::text[], %(due)s::timestamptz[]) AS kept (id, layer, due_at)
WHERE m.id = kept.id

-- archive: archive memories, with jobs that remove them from the other stores; waits for a worker that is encoding one
WITH leaving AS MATERIALIZED (
    SELECT m.id, m.status = 'pending' AS pending, given.reason
    FROM memories m JOIN unnest(%(ids)s::uuid[], %(reasons)s::text[]) AS given (id, reason) USING (id)
    WHERE m.status <> 'archived' AND (%(ns)s::text IS NULL OR m.ns = %(ns)s)
    ORDER BY m.id FOR NO KEY UPDATE OF m
), dropped AS (
    DELETE FROM outbox o USING leaving WHERE o.memory_id = leaving.id AND o.task = 'encode'
), gone AS (
    UPDATE memories m
    SET status = 'archived', tier = 'L3', archived_at = %(at)s, archive_reason = leaving.reason, due_at = NULL,
        superseded_by = coalesce(%(superseded_by)s::uuid, superseded_by)
    FROM leaving WHERE m.id = leaving.id
    RETURNING m.id, m.ns, leaving.pending
)
INSERT INTO outbox (task, memory_id, ns, due_at)
SELECT 'archive', id, ns,
    clock_timestamp() + CASE WHEN pending THEN make_interval(secs => %(after_s)s) ELSE interval '0' END
FROM gone
RETURNING memory_id::text AS id

-- expiring: memories that are to be archived because they have expired, locked
SELECT id::text FROM memories
WHERE expires_at <= %(at)s AND status <> 'archived' AND on_expiry = 'archive' AND (%(ns)s::text IS NULL OR ns = %(ns)s)
ORDER BY expires_at LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED

-- expired: memories that are to be erased because they have expired
SELECT m.id::text, s.tenant, s.usr, s.project
FROM memories m JOIN scopes s USING (ns)
WHERE m.expires_at <= %(at)s AND m.on_expiry = 'erase' AND (m.status <> 'archived' OR m.on_expiry = 'erase')
    AND (%(ns)s::text IS NULL OR ns = %(ns)s)
ORDER BY m.expires_at LIMIT %(limit)s

-- archived: one archived memory, or one that has expired and is to be archived, locked
SELECT text, source, kind, layer, importance, reason, access_count, useful_count, trust, archive_reason FROM memories
WHERE ns = %(ns)s AND id = %(id)s AND (status = 'archived' OR expires_at <= %(at)s)
    AND (expires_at <= %(at)s AND on_expiry = 'erase') IS NOT TRUE
FOR NO KEY UPDATE

-- restore: restore an archived or expired memory as if just written, without an expiry that has passed; its row in the vector index may or may not be gone, so its
-- job counts as claimed before, which makes the encoder replace the row instead of adding a second one
WITH dropped AS (
    DELETE FROM outbox WHERE task = 'archive' AND memory_id = %(id)s
), own AS ( -- its links return to it, also where they were not taken over yet
    UPDATE derivations SET linked = true WHERE ns = %(ns)s AND source_id = %(id)s AND NOT linked
), back AS (
    UPDATE memories m
    SET status = 'pending', tier = 'L2', archived_at = NULL, archive_reason = '', superseded_by = NULL,
        valid_to = CASE WHEN superseded_by IS NULL THEN valid_to END,
        fact_key = CASE WHEN superseded_by IS NULL THEN fact_key END, -- it may have been repeated meanwhile
        accessed_at = greatest(accessed_at, %(at)s), due_at = %(due_at)s,
        on_expiry = CASE WHEN expires_at <= %(at)s THEN 'archive' ELSE on_expiry END,
        expires_at = CASE WHEN expires_at <= %(at)s THEN NULL ELSE expires_at END
    WHERE ns = %(ns)s AND id = %(id)s AND (status = 'archived' OR expires_at <= %(at)s)
    RETURNING id, ns
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back
RETURNING memory_id::text

-- cleared: archived memories were removed from the other stores; those restored meanwhile are encoded again
WITH finished AS (
    DELETE FROM outbox WHERE id = ANY (%(keys)s)
), back AS (
    UPDATE memories SET status = 'pending' WHERE id = ANY (%(ids)s::uuid[]) AND status <> 'archived'
    RETURNING id, ns
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back

-- crowded: scopes that may hold more than allowed
SELECT tenant, usr, project FROM scopes WHERE write_seq > greatest(%(most)s, room_until) ORDER BY ns

-- held: how many active memories a scope has, and how many of them are untrusted
SELECT count(*) AS memories, count(*) FILTER (WHERE trust = 0) AS untrusted FROM memories
WHERE ns = %s AND status = 'active'

-- room: no count is needed before this many writes
UPDATE scopes SET room_until = write_seq + %(room)s WHERE ns = %(ns)s

-- least_valuable: archived when a scope is too full: untrusted ones of any energy, then least importance and use first,
-- then longest untouched
SELECT id::text, xmin::text AS version FROM memories
WHERE ns = %(ns)s AND status = 'active' AND layer <> 'core'
    AND (trust = 0 OR energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) < %(minimum)s)
ORDER BY trust > 0, importance + least(useful_count, 4) + ln(1 + access_count) / 4 + (layer = 'long_term')::integer,
    greatest(anchor_at, accessed_at), id
LIMIT %(limit)s

-- room_lock: lock the rows; those locked by another transaction are skipped
SELECT id::text FROM memories WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED

-- room_unchanged: of the locked rows, those unchanged since they were picked
SELECT m.id::text FROM memories m JOIN unnest(%(ids)s::uuid[], %(versions)s::text[]) AS picked (id, version) USING (id)
WHERE m.ns = %(ns)s AND m.id = ANY (%(held)s::uuid[]) AND m.xmin::text = picked.version

-- tombstones_due: erased memories due for another check, longest due first
SELECT memory_id::text AS id, ns FROM tombstones WHERE look_at <= clock_timestamp() ORDER BY look_at LIMIT %(limit)s

-- tombstones_void: delete tombstones of ids that exist again, as after a restored backup
DELETE FROM tombstones t WHERE look_at <= clock_timestamp() AND EXISTS (SELECT FROM memories m WHERE m.id = t.memory_id)

-- tombstones_looked: check again after twice the time, which bounds the life of a suspended writer's row
UPDATE tombstones SET look_at = clock_timestamp() + (clock_timestamp() - erased_at) WHERE memory_id = ANY (%(ids)s::uuid[])

-- tombstones_forget: delete tombstones older than any suspension
DELETE FROM tombstones WHERE memory_id IN (
    SELECT memory_id FROM tombstones WHERE memory_id = ANY (%(ids)s::uuid[])
        AND erased_at < clock_timestamp() - make_interval(secs => %(kept_s)s))
