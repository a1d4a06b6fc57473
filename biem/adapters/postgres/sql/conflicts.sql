-- Conflicts: pairs of memories that disagree, and who superseded whom.

-- conflict_peers: memories to compare new ones with, and their vectors; each looked up by its key, because a plan
-- made while there are no vectors yet would later scan all of them for each memory
SELECT m.id::text, CASE WHEN char_length(m.text) <= %(max_chars)s THEN m.text ELSE '' END AS text, m.kind, m.layer, m.importance,
    m.source, m.speaker, m.at, m.write_seq, m.valid_from, m.valid_to, m.conversation, e.vector, char_length(m.text) > %(max_chars)s AS long,
    m.revision
FROM (
    SELECT unnest(%(ids)s::uuid[]) AS id
    UNION
    SELECT id FROM memories WHERE ns = %(ns)s AND write_seq = ANY (%(seqs)s::bigint[])
) AS near
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = near.id OFFSET 0) m
CROSS JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e
WHERE m.ns = %(ns)s AND m.status <> 'archived' AND m.trust > 0 AND (m.expires_at IS NULL OR m.expires_at > %(now)s)

-- conflict_texts: whole texts of memories
SELECT id::text, text FROM memories WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[])

-- conflict_lock_memories: lock their validity; in a fixed order, so that two transactions do not deadlock
SELECT id::text, valid_from, valid_to FROM memories
WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- conflict_record: insert new findings about memories that were not revised since they were compared, and the supersessions of those that act
WITH finding AS (
    SELECT f.*, greatest(n.valid_from, o.valid_from) AS ended_at
    FROM jsonb_to_recordset(%(findings)s) AS f (id uuid, kind text, older_id uuid, newer_id uuid, confidence real,
        rule text, attribute text, acts boolean, judged_later boolean, suspected boolean, claim text, subject text,
        older_revision integer, newer_revision integer)
    JOIN memories o ON o.id = f.older_id AND o.ns = %(ns)s AND o.status <> 'archived'
        AND o.revision = coalesce(f.older_revision, o.revision)
    JOIN memories n ON n.id = f.newer_id AND n.ns = %(ns)s AND n.status <> 'archived'
        AND n.revision = coalesce(f.newer_revision, n.revision)
), added AS (
    INSERT INTO conflicts (id, ns, kind, older_id, newer_id, confidence, rule, attribute, suspected, claim, subject, status,
        resolution, decided_by, due_at, created_at, resolved_at)
    SELECT id, %(ns)s, kind, older_id, newer_id, confidence, rule, attribute, suspected, claim, subject,
        CASE WHEN acts THEN 'resolved' ELSE 'pending' END,
        CASE WHEN acts THEN 'keep_new' END,
        CASE WHEN acts THEN 'rule' END,
        CASE WHEN judged_later AND NOT acts THEN clock_timestamp() END,
        %(at)s,
        CASE WHEN acts THEN %(at)s::timestamptz END
    FROM finding ORDER BY older_id, newer_id
    ON CONFLICT (ns, older_id, newer_id) DO NOTHING
    RETURNING id, older_id, newer_id, resolution
)
INSERT INTO supersessions (conflict_id, ns, loser_id, winner_id, ended_at)
SELECT a.id, %(ns)s, a.older_id, a.newer_id, f.ended_at
FROM added a JOIN finding f USING (older_id, newer_id)
WHERE a.resolution = 'keep_new'

-- conflict_settle: derive validity from the supersessions, the earliest end first; other supersessions are left alone
UPDATE memories m
SET valid_to = s.ended_at, superseded_by = s.winner_id, fact_key = CASE
    WHEN s.winner_id IS NULL AND EXISTS ( -- the fact was repeated meanwhile, and only one row may have its key
        SELECT FROM memories x WHERE x.ns = m.ns AND x.fact_key = m.fact_key AND x.id <> m.id
            AND (x.superseded_by IS NULL OR x.id = ANY (%(losers)s::uuid[]) AND x.id < m.id))
    THEN NULL ELSE fact_key END
FROM (
    SELECT DISTINCT ON (loser.id) loser.id, s.ended_at, s.winner_id
    FROM unnest(%(losers)s::uuid[]) AS loser (id) LEFT JOIN supersessions s ON s.loser_id = loser.id
    ORDER BY loser.id, s.ended_at, s.winner_id
) AS s
WHERE m.id = s.id AND m.ns = %(ns)s AND (m.valid_to, m.superseded_by) IS DISTINCT FROM (s.ended_at, s.winner_id)
    AND (m.superseded_by IS NULL AND m.valid_to IS NULL
        OR m.superseded_by = ANY (%(former)s::uuid[])
        OR EXISTS (SELECT FROM supersessions o WHERE o.loser_id = m.id AND o.winner_id = m.superseded_by))

-- conflict_of_pairs: the conflicts of these pairs
SELECT c.* FROM unnest(%(older)s::uuid[], %(newer)s::uuid[]) AS p (older_id, newer_id)
JOIN conflict_records c ON c.ns = %(ns)s AND c.older_id = p.older_id AND c.newer_id = p.newer_id

-- conflict_get: one conflict
SELECT * FROM conflict_records WHERE ns = %(ns)s AND id = %(id)s

-- conflict_lock: decide one conflict at a time
SELECT id FROM conflicts WHERE ns = %(ns)s AND id = %(id)s FOR UPDATE

-- conflict_find: conflicts of a scope, newest first
SELECT * FROM conflict_records c
WHERE ns = %(ns)s AND (%(status)s::text IS NULL OR status = %(status)s)
    AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s))
    AND (%(memory_id)s::uuid IS NULL OR older_id = %(memory_id)s OR newer_id = %(memory_id)s)
    AND NOT EXISTS (SELECT FROM memories m WHERE m.id IN (c.older_id, c.newer_id) AND m.expires_at <= %(now)s)
    AND created_at <= (SELECT CASE WHEN %(after)s::uuid IS NULL THEN 'infinity' ELSE max(a.created_at) END
        FROM conflicts a WHERE a.id = %(after)s AND a.ns = %(ns)s)
    AND (%(after)s::uuid IS NULL OR id > %(after)s
        OR created_at < (SELECT a.created_at FROM conflicts a WHERE a.id = %(after)s AND a.ns = %(ns)s))
ORDER BY created_at DESC, id LIMIT %(limit)s

-- conflict_find_pending: conflicts of a scope that need a decision, newest first
SELECT * FROM conflict_records c
WHERE ns = %(ns)s AND status = 'pending' AND NOT suspected AND NOT moot
    AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s))
    AND (%(memory_id)s::uuid IS NULL OR older_id = %(memory_id)s OR newer_id = %(memory_id)s)
    AND NOT EXISTS (SELECT FROM memories m WHERE m.id IN (c.older_id, c.newer_id) AND m.expires_at <= %(now)s)
    AND created_at <= (SELECT CASE WHEN %(after)s::uuid IS NULL THEN 'infinity' ELSE max(a.created_at) END
        FROM conflicts a WHERE a.id = %(after)s AND a.ns = %(ns)s)
    AND (%(after)s::uuid IS NULL OR id > %(after)s
        OR created_at < (SELECT a.created_at FROM conflicts a WHERE a.id = %(after)s AND a.ns = %(ns)s))
ORDER BY created_at DESC, id LIMIT %(limit)s

-- conflict_count: their number
SELECT count(*) AS conflicts FROM conflicts
WHERE ns = %(ns)s AND (%(status)s::text IS NULL OR status = %(status)s)
    AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s))

-- conflict_count_pending: the number that need a decision
SELECT count(*) AS conflicts FROM conflicts c
WHERE ns = %(ns)s AND status = 'pending' AND NOT suspected AND (%(kinds)s::text[] IS NULL OR kind = ANY (%(kinds)s))
    AND NOT EXISTS (SELECT FROM memories m WHERE m.id = ANY (ARRAY[c.older_id, c.newer_id])
        AND (m.status = 'archived' OR m.superseded_by IS NOT NULL OR m.expires_at <= %(now)s))

-- conflict_open_of: pending disputes of these memories: confidence, the contradicting memory, and since when
SELECT id::text, confidence, coalesce(newer_id::text, '') AS newer_id, since, claim FROM (
    SELECT p.older_id AS id, p.confidence, p.newer_id, n.valid_from AS since, c.claim
    FROM conflict_records p JOIN conflicts c ON c.id = p.id JOIN memories n ON n.id = p.newer_id
    WHERE p.older_id = ANY (%(ids)s::uuid[]) AND p.ns = ANY (%(scopes)s) AND p.status = 'pending' AND NOT p.moot
        AND NOT p.suspected AND p.kind <> 'duplicate' AND (n.expires_at IS NULL OR n.expires_at > %(now)s)
    UNION ALL
    SELECT newer_id, confidence, NULL, NULL, '' FROM conflict_records
    WHERE newer_id = ANY (%(ids)s::uuid[]) AND ns = ANY (%(scopes)s) AND status = 'pending' AND NOT moot
        AND NOT suspected AND kind <> 'duplicate'
        AND NOT EXISTS (SELECT FROM memories o WHERE o.id = older_id AND o.expires_at <= %(now)s)
) AS sides ORDER BY id, confidence DESC, newer_id DESC NULLS LAST

-- conflict_supersede: loser and winner of a decision; keep_old ends the newer where it began
INSERT INTO supersessions (conflict_id, ns, loser_id, winner_id, ended_at)
SELECT c.id, c.ns, l.id, %(winner)s::uuid, greatest(l.valid_from, n.valid_from)
FROM conflicts c JOIN memories n ON n.id = c.newer_id JOIN memories l ON l.id = ANY (%(losers)s::uuid[]) AND l.ns = c.ns
WHERE c.ns = %(ns)s AND c.id = %(id)s
ON CONFLICT DO NOTHING

-- conflict_behind: the loser that superseded the winner, directly or through others; includes decisions not in force,
-- because they return to force when an earlier-ending one is undone
WITH RECURSIVE heir (id) AS (
    SELECT %(winner)s::uuid
    UNION
    SELECT next.id FROM heir CROSS JOIN LATERAL (
        SELECT superseded_by AS id FROM memories WHERE id = heir.id AND ns = %(ns)s AND superseded_by IS NOT NULL
        UNION ALL
        SELECT winner_id FROM supersessions WHERE loser_id = heir.id AND ns = %(ns)s) AS next
)
SELECT id::text FROM heir WHERE id = ANY (%(losers)s::uuid[]) LIMIT 1

-- conflict_decide: resolve or ignore a conflict; the model does not judge it again
UPDATE conflicts
SET status = %(status)s, resolution = %(resolution)s, decided_by = %(by)s, resolved_at = %(at)s, merged_id = %(merged_id)s,
    plan = NULL, due_at = CASE WHEN %(by)s::text = 'judge' THEN NULL ELSE due_at END
WHERE ns = %(ns)s AND id = %(id)s

-- conflict_reopen: undo a decision
UPDATE conflicts
SET status = 'pending', resolution = NULL, decided_by = NULL, resolved_at = NULL, merged_id = NULL, plan = %(plan)s,
    due_at = CASE WHEN %(plan)s::jsonb IS NULL THEN due_at ELSE clock_timestamp() + make_interval(secs => %(lease_s)s) END
WHERE ns = %(ns)s AND id = %(id)s

-- conflict_take_back: undo a decision's effect on validity
DELETE FROM supersessions WHERE ns = %(ns)s AND conflict_id = %(id)s

-- conflict_onward: a further merge of this merge's result
SELECT further.id::text FROM conflicts c JOIN conflicts further ON c.merged_id IN (further.older_id, further.newer_id)
WHERE c.ns = %(ns)s AND c.id = %(id)s AND further.ns = c.ns AND further.resolution = 'merge' LIMIT 1

-- conflict_begin: store the plan of a merge, unless there is one
UPDATE conflicts SET plan = %(plan)s, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE ns = %(ns)s AND id = %(id)s AND plan IS NULL

-- conflict_carried_out: delete the plan of an undone merge
UPDATE conflicts SET plan = NULL, due_at = NULL WHERE ns = %(ns)s AND id = %(id)s AND plan->>'step' = 'restore'

-- conflict_claim_planned: lease a conflict with an unfinished plan
WITH due AS (
    SELECT id FROM conflicts WHERE plan IS NOT NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
), leased AS (
    UPDATE conflicts c SET due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
    FROM due WHERE c.id = due.id
    RETURNING c.id
)
SELECT c.*, s.tenant, s.usr, s.project FROM leased JOIN conflict_records c USING (id) JOIN scopes s USING (ns)

-- conflict_claim_unjudged: lease a conflict that needs a model; each time four times as long, the last time for ever
WITH due AS (
    SELECT id FROM conflicts
    WHERE plan IS NULL AND status = 'pending' AND due_at IS NOT NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
), leased AS (
    UPDATE conflicts c
    SET attempts = attempts + 1,
        due_at = CASE WHEN attempts + 1 < %(max_attempts)s
            THEN clock_timestamp() + make_interval(secs => %(lease_s)s * 4 ^ attempts) END
    FROM due WHERE c.id = due.id
    RETURNING c.id
)
SELECT c.*, s.tenant, s.usr, s.project FROM leased JOIN conflict_records c USING (id) JOIN scopes s USING (ns)

-- conflict_release: return a leased conflict for later, without counting the attempt
UPDATE conflicts
SET due_at = clock_timestamp() + make_interval(secs => %(delay_s)s), attempts = greatest(0, attempts - 1)
WHERE ns = %(ns)s AND id = %(id)s AND status = 'pending' AND plan IS NULL

-- conflict_judged: the model left the decision to a person
UPDATE conflicts SET due_at = NULL, kind = coalesce(%(kind)s, kind)
WHERE ns = %(ns)s AND id = %(id)s AND status = 'pending' AND plan IS NULL
