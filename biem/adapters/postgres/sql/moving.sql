-- Memories from one scope to another, in transactions that have locked both. `move_members` are those of one transaction,
-- `move_planned` those of later ones of the same move.

-- move_many: whether there are more than one transaction takes
SELECT count(*) > %(most)s::bigint AS many FROM (
    SELECT FROM memories m
    WHERE m.ns = %(ns)s AND (%(ids)s::uuid[] IS NULL OR m.id = ANY (%(ids)s::uuid[])) AND (NOT %(filtered)s OR ({where}))
    LIMIT %(most)s::bigint + 1) AS first

-- move_plan: what is to be moved in slices
WITH plan AS (
    INSERT INTO move_plans (id, ns, ns_to, begun_at, report) VALUES (%(id)s, %(ns)s, %(target)s, %(at)s, %(report)s)
)
INSERT INTO move_planned (move_id, ns, memory_id, write_seq)
SELECT %(id)s, %(ns)s, m.id, m.write_seq FROM move_members g JOIN memories m ON m.id = g.memory_id WHERE g.move_id = %(id)s

-- move_unfinished: the oldest plan between two scopes; locked, so that of two processes that go on one waits
SELECT id::text, report FROM move_plans WHERE ns = %(ns)s AND ns_to = %(target)s ORDER BY begun_at, id LIMIT 1 FOR UPDATE

-- move_slice: the next ones, in the order they were written
INSERT INTO move_members (move_id, ns, memory_id)
SELECT %(id)s, %(ns)s, memory_id FROM move_planned WHERE move_id = %(id)s ORDER BY write_seq LIMIT %(most)s::bigint

-- move_joined: with these, planned ones that a conflict, a derivation, a fact or a succession joins with them
WITH RECURSIVE joined (id) AS (
    SELECT memory_id FROM move_members WHERE move_id = %(id)s
    UNION
    SELECT near.id FROM joined CROSS JOIN LATERAL (
        SELECT d.memory_id AS id FROM derivations d WHERE d.source_id = joined.id AND d.ns = %(ns)s
        UNION ALL
        SELECT d.source_id FROM derivations d WHERE d.memory_id = joined.id AND d.ns = %(ns)s
        UNION ALL
        SELECT e.id FROM conflicts c CROSS JOIN LATERAL (VALUES (c.older_id), (c.newer_id), (c.merged_id)) AS e (id)
        WHERE (c.older_id = joined.id OR c.newer_id = joined.id OR c.merged_id = joined.id) AND c.ns = %(ns)s
        UNION ALL
        SELECT m.superseded_by FROM memories m WHERE m.id = joined.id
        UNION ALL
        SELECT m.id FROM memories m WHERE m.superseded_by = joined.id
        UNION ALL
        SELECT s.id::uuid FROM crystal_facts f CROSS JOIN LATERAL unnest(f.source_node_ids) AS s (id) WHERE f.id = joined.id
    ) near
    JOIN move_planned p ON p.move_id = %(id)s AND p.memory_id = near.id
)
INSERT INTO move_members (move_id, ns, memory_id) SELECT %(id)s, %(ns)s, id FROM joined ON CONFLICT DO NOTHING

-- move_advance: these are no longer planned
DELETE FROM move_planned p USING move_members g
WHERE p.move_id = %(id)s AND g.move_id = %(id)s AND p.memory_id = g.memory_id

-- move_absent: planned memories that were erased or moved elsewhere meanwhile
DELETE FROM move_members g
WHERE g.move_id = %(id)s AND NOT EXISTS (SELECT FROM memories m WHERE m.id = g.memory_id AND m.ns = %(ns)s)

-- move_arrived: links between slices, of which the other end was there and this one is now. OFFSET 0 looks each end up: a
-- planner without statistics would read the whole plan for each link
WITH hit AS MATERIALIZED (
    SELECT l.place FROM move_members g CROSS JOIN LATERAL (
        SELECT ctid AS place FROM move_links WHERE move_id = %(id)s AND source_id = g.memory_id::text OFFSET 0
    ) l WHERE g.move_id = %(id)s
    UNION ALL
    SELECT l.place FROM move_members g CROSS JOIN LATERAL (
        SELECT ctid AS place FROM move_links WHERE move_id = %(id)s AND target_id = g.memory_id::text OFFSET 0
    ) l WHERE g.move_id = %(id)s
), ready AS (
    DELETE FROM move_links l
    WHERE l.ctid = ANY (ARRAY(SELECT place FROM hit))
        AND NOT EXISTS (SELECT FROM move_planned p WHERE p.move_id = %(id)s AND p.memory_id = l.source_id::uuid OFFSET 0)
        AND NOT EXISTS (SELECT FROM move_planned p WHERE p.move_id = %(id)s AND p.memory_id = l.target_id::uuid OFFSET 0)
    RETURNING l.*
), there AS MATERIALIZED (
    SELECT r.* FROM ready r
    WHERE EXISTS (SELECT FROM memories m WHERE m.id = r.source_id::uuid AND (m.ns = %(target)s) IS TRUE OFFSET 0)
        AND EXISTS (SELECT FROM memories m WHERE m.id = r.target_id::uuid AND (m.ns = %(target)s) IS TRUE OFFSET 0)
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %(target)s AND EXISTS (SELECT FROM there)
    RETURNING graph_version
), added AS (
    INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version, deleted,
        parked)
    SELECT %(target)s, source_id, target_id, link_type, weight, strength, created_at, touched_at, graph_version, parked, parked
    FROM there, bumped
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT (SELECT count(*) FROM added) AS moved, (SELECT count(*) FROM ready) - (SELECT count(*) FROM there) AS cut

-- move_left: how many remain to be moved
SELECT count(*) AS memories FROM move_planned WHERE move_id = %(id)s

-- move_report: counts of the slices that are done
UPDATE move_plans SET report = %(report)s WHERE id = %(id)s

-- move_ended: a plan of which nothing remains
DELETE FROM move_plans WHERE id = %(id)s

-- move_chosen: note the memories to move, by id or by conditions; by id none that is to be erased, as it is there no more
INSERT INTO move_members (move_id, ns, memory_id)
SELECT %(id)s, %(ns)s, m.id FROM memories m
WHERE m.ns = %(ns)s AND (%(ids)s::uuid[] IS NULL OR m.id = ANY (%(ids)s::uuid[]))
    AND (NOT %(filtered)s OR ({where}))
    AND (%(ids)s::uuid[] IS NULL OR (m.expires_at <= %(now)s AND m.on_expiry = 'erase') IS NOT TRUE)

-- move_family: with these, what stands for them or what they stand for: merged and kept ones, and their sources
WITH RECURSIVE family (id) AS (
    SELECT memory_id FROM move_members WHERE move_id = %(id)s
    UNION
    SELECT near.id FROM family CROSS JOIN LATERAL (
        SELECT d.memory_id AS id FROM derivations d
        WHERE d.source_id = family.id AND d.ns = %(ns)s AND d.origin IN ('dedupe', 'merge')
        UNION ALL
        SELECT d.source_id FROM derivations d
        WHERE d.memory_id = family.id AND d.ns = %(ns)s AND d.origin IN ('dedupe', 'merge')
        UNION ALL
        SELECT c.merged_id FROM conflicts c
        WHERE (c.older_id = family.id OR c.newer_id = family.id) AND c.ns = %(ns)s AND c.merged_id IS NOT NULL
        UNION ALL
        SELECT e.id FROM conflicts c CROSS JOIN LATERAL (VALUES (c.older_id), (c.newer_id)) AS e (id)
        WHERE c.merged_id = family.id AND c.ns = %(ns)s
    ) near
)
INSERT INTO move_members (move_id, ns, memory_id) SELECT %(id)s, %(ns)s, id FROM family ON CONFLICT DO NOTHING

-- move_facts: facts distilled from these only move, too
INSERT INTO move_members (move_id, ns, memory_id)
SELECT %(id)s, %(ns)s, f.id FROM crystal_facts f
WHERE f.ns = %(ns)s AND f.source_node_ids <> '{}' AND NOT EXISTS (
    SELECT FROM unnest(f.source_node_ids) AS s (id)
    WHERE s.id::uuid NOT IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))
ON CONFLICT DO NOTHING

-- move_mixed: facts distilled from both sides, which do not move by themselves
SELECT f.id::text FROM crystal_facts f
WHERE f.ns = %(ns)s AND f.id NOT IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
    AND EXISTS (SELECT FROM unnest(f.source_node_ids) AS s (id) JOIN move_members g
        ON g.move_id = %(id)s AND g.memory_id = s.id::uuid)
ORDER BY f.id

-- move_lock: the memories, locked against workers; in a fixed order, so that two transactions do not deadlock
SELECT id::text, evidence_sha, embed_sha FROM memories
WHERE ns = %(ns)s AND id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) ORDER BY id FOR UPDATE

-- move_members: the same, not locked
SELECT memory_id::text AS id FROM move_members WHERE move_id = %(id)s

-- move_planned: a merge of one of these that is under way
SELECT id::text FROM conflicts
WHERE ns = %(ns)s AND plan IS NOT NULL AND (older_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) OR newer_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)) LIMIT 1

-- move_refs: refs that the target has, too
SELECT m.ref, m.id::text, t.id::text AS there FROM memories m JOIN memories t ON t.ns = %(target)s AND t.ref = m.ref
WHERE m.ns = %(ns)s AND m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) ORDER BY m.id LIMIT 1

-- move_equal: facts that the target knows, too: the moved one no longer stands for it
WITH equal AS (
    SELECT m.id, t.id AS there FROM memories m
    JOIN memories t ON t.ns = %(target)s AND t.fact_key = m.fact_key AND t.superseded_by IS NULL
    WHERE m.ns = %(ns)s AND m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) AND m.superseded_by IS NULL
), let_go AS (
    UPDATE memories m SET fact_key = NULL FROM equal WHERE m.id = equal.id
)
SELECT id::text, there::text FROM equal ORDER BY id

-- move_cut_supersessions: decisions that join both sides are taken back: who lost is valid again, unless by another one
WITH cut AS (
    SELECT c.id FROM conflicts c
    WHERE c.ns = %(ns)s AND (c.older_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)) <> (c.newer_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))
), gone AS (
    DELETE FROM supersessions s USING cut WHERE s.conflict_id = cut.id
    RETURNING s.conflict_id, s.loser_id, s.winner_id
)
UPDATE memories m
SET valid_to = rest.ended_at, superseded_by = rest.winner_id, fact_key = CASE
    WHEN rest.winner_id IS NULL AND EXISTS (
        SELECT FROM memories x WHERE x.ns = m.ns AND x.fact_key = m.fact_key AND x.id <> m.id AND x.superseded_by IS NULL)
    THEN NULL ELSE fact_key END
FROM (
    SELECT DISTINCT ON (g.loser_id) g.loser_id, s.ended_at, s.winner_id
    FROM gone g LEFT JOIN supersessions s ON s.loser_id = g.loser_id
        AND NOT EXISTS (SELECT FROM gone x WHERE x.conflict_id = s.conflict_id AND x.loser_id = s.loser_id)
    ORDER BY g.loser_id, s.ended_at, s.winner_id
) AS rest
WHERE m.id = rest.loser_id AND m.superseded_by IN (SELECT winner_id FROM gone)

-- move_cut_successors: pointers between both sides
UPDATE memories m SET superseded_by = NULL, valid_to = NULL, fact_key = NULL
WHERE m.ns = %(ns)s AND m.superseded_by IS NOT NULL
    AND (m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)) <> (m.superseded_by IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))
    AND (m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) OR m.superseded_by IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))

-- move_cut_conflicts: conflicts that join both sides
DELETE FROM conflicts
WHERE ns = %(ns)s AND (older_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)) <> (newer_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))

-- move_cut_derivations: derivations that join both sides
DELETE FROM derivations
WHERE ns = %(ns)s AND (memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)) <> (source_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))

-- move_cut_facts: distilled facts that move without all their sources are memories like others
DELETE FROM crystal_facts
WHERE ns = %(ns)s AND id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) AND EXISTS (
    SELECT FROM unnest(source_node_ids) AS s (id)
    WHERE s.id::uuid NOT IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))

-- move_cut_items: concepts keep nothing that was said by a moved memory
WITH items AS (
    DELETE FROM concept_items i USING concept_sources s
    WHERE s.memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) AND s.ns = %(ns)s AND i.id = s.item_id
    RETURNING i.id, i.concept_id
), orphans AS (
    SELECT c.id FROM concepts c
    WHERE c.id IN (SELECT concept_id FROM items)
        AND NOT EXISTS (SELECT FROM concept_items i WHERE i.concept_id = c.id AND i.id NOT IN (SELECT id FROM items))
), links AS (
    DELETE FROM crystal_links
    WHERE source_id IN (SELECT id::text FROM orphans) OR target_id IN (SELECT id::text FROM orphans)
)
DELETE FROM concepts WHERE id IN (SELECT id FROM orphans)

-- move_links: links between moved memories are made anew in the target, those with planned ones are kept until these are
-- there, and the old scope hears that all are gone
WITH hit AS MATERIALIZED (
    SELECT l.id FROM move_members g CROSS JOIN LATERAL (
        SELECT id FROM crystal_links WHERE source_id = g.memory_id::text OFFSET 0
    ) l WHERE g.move_id = %(id)s
    UNION ALL
    SELECT l.id FROM move_members g CROSS JOIN LATERAL (
        SELECT id FROM crystal_links WHERE target_id = g.memory_id::text OFFSET 0
    ) l WHERE g.move_id = %(id)s
), gone AS (
    DELETE FROM crystal_links l
    WHERE l.id = ANY (ARRAY(SELECT id FROM hit)) AND (l.ns = %(ns)s) IS TRUE
    RETURNING *, source_id IN (SELECT memory_id::text FROM move_members WHERE move_id = %(id)s)
        AND target_id IN (SELECT memory_id::text FROM move_members WHERE move_id = %(id)s) AS inside,
        EXISTS (SELECT FROM move_planned p WHERE p.move_id = %(id)s AND p.memory_id IN (l.source_id::uuid, l.target_id::uuid))
        AS waits
), waiting AS (
    INSERT INTO move_links (move_id, ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, parked)
    SELECT %(id)s, %(ns)s, source_id, target_id, link_type, weight, strength, created_at, touched_at, parked
    FROM gone WHERE waits AND NOT inside AND (parked OR NOT deleted)
    ON CONFLICT DO NOTHING
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %(target)s AND EXISTS (SELECT FROM gone)
    RETURNING graph_version
), added AS (
    INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version, deleted,
        parked)
    SELECT %(target)s, source_id, target_id, link_type, weight, strength, created_at, touched_at, graph_version, parked, parked
    FROM gone, bumped WHERE inside AND (parked OR NOT deleted)
    RETURNING 1
)
SELECT count(*) FILTER (WHERE NOT inside AND NOT waits AND NOT deleted) AS cut, (SELECT count(*) FROM added) AS moved FROM gone

-- move_marks: what jobs of the old scope were to look at
DELETE FROM consolidation_queue WHERE ns = %(ns)s AND memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)

-- move_originals: originals of moved memories and of what they said before, in both places; left where others have them
WITH said AS MATERIALIZED (
    SELECT evidence_sha AS sha FROM memories WHERE id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
    UNION
    SELECT evidence_sha FROM memory_revisions WHERE memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
), copied AS (
    INSERT INTO evidence (ns, sha256, text)
    SELECT %(target)s, e.sha256, e.text FROM said JOIN evidence e ON e.ns = %(ns)s AND e.sha256 = said.sha
    ON CONFLICT DO NOTHING
)
DELETE FROM evidence e USING said
WHERE e.ns = %(ns)s AND e.sha256 = said.sha
    AND NOT EXISTS (SELECT FROM memories m
        WHERE m.ns = %(ns)s AND m.evidence_sha = e.sha256 AND m.id NOT IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))
    AND NOT EXISTS (SELECT FROM memory_revisions r
        WHERE r.ns = %(ns)s AND r.evidence_sha = e.sha256 AND r.memory_id NOT IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s))

-- move_jobs: they are indexed again for their new scope, later where a worker may have one in hand, unless that worker
-- says sooner that it has not; and the projections of the old scope are cleared, again when no worker can have one in hand
-- any more
WITH dropped AS (
    DELETE FROM outbox WHERE task IN ('encode', 'archive') AND memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
    RETURNING memory_id, task, claims, known
), index AS (
    INSERT INTO outbox (task, memory_id, ns, known, claims, due_at)
    SELECT 'encode', m.id, %(target)s, m.status = 'active' OR m.model <> '' OR bool_or(d.known),
        greatest(1, max(d.claims)),
        clock_timestamp() + CASE WHEN max(d.claims) > 0 THEN make_interval(secs => %(after_s)s) ELSE interval '0' END
    FROM memories m LEFT JOIN dropped d ON d.memory_id = m.id AND d.task = 'encode'
    WHERE m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) AND m.status <> 'archived'
    GROUP BY m.id, m.status, m.model, m.write_seq ORDER BY m.write_seq
), archived AS (
    INSERT INTO outbox (task, memory_id, ns) SELECT 'archive', memory_id, %(target)s FROM dropped WHERE task = 'archive'
)
INSERT INTO outbox (task, memory_id, ns, due_at)
SELECT 'leave', id, %(ns)s, clock_timestamp() + make_interval(secs => wait)
FROM memories m, unnest(ARRAY[0.0, %(after_s)s]) AS w (wait)
WHERE m.id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)

-- move_memories: to the end of the other scope, in the same order
WITH given AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY write_seq) AS n,
        CASE WHEN mirror_seq IS NOT NULL THEN count(mirror_seq) OVER (ORDER BY write_seq) END AS number
    FROM memories WHERE ns = %(ns)s AND id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
), seq AS (
    UPDATE scopes SET write_seq = write_seq + (SELECT count(*) FROM given) WHERE ns = %(target)s
    RETURNING write_seq - (SELECT count(*) FROM given) AS before
), mirror AS (
    UPDATE mirrors SET seq = seq + (SELECT count(number) FROM given) WHERE ns = %(target)s
    RETURNING seq - (SELECT count(number) FROM given) AS before
)
UPDATE memories m
SET ns = %(target)s, write_seq = seq.before + g.n, mirror_seq = mirror.before + g.number,
    status = CASE WHEN status = 'archived' THEN status ELSE 'pending' END,
    tier = CASE WHEN status = 'archived' THEN tier ELSE 'L2' END
FROM given g, seq, mirror WHERE m.id = g.id

-- move_rows: what belongs to the moved ones only
WITH revisions AS (
    UPDATE memory_revisions r SET ns = %(target)s, write_seq = m.write_seq
    FROM memories m
    WHERE m.id = r.memory_id AND r.memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
    RETURNING 1
), conflicts AS (
    UPDATE conflicts SET ns = %(target)s WHERE ns = %(ns)s AND older_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) RETURNING 1
), ended AS (
    UPDATE supersessions SET ns = %(target)s WHERE ns = %(ns)s AND loser_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
), derived AS (
    UPDATE derivations SET ns = %(target)s WHERE ns = %(ns)s AND memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) RETURNING 1
), facts AS (
    UPDATE crystal_facts SET ns = %(target)s WHERE ns = %(ns)s AND id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) RETURNING 1
), notes AS (
    UPDATE instant_memories SET ns = %(target)s WHERE ns = %(ns)s AND memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s) RETURNING 1
), decisions AS (
    UPDATE gate_decisions d SET ns = %(target)s, mirror_seq = NULL
    WHERE d.ns = %(ns)s AND d.memory_id IN (SELECT memory_id FROM move_members WHERE move_id = %(id)s)
)
SELECT (SELECT count(*) FROM revisions) AS revisions, (SELECT count(*) FROM conflicts) AS conflicts,
    (SELECT count(*) FROM derived) AS derivations, (SELECT count(*) FROM facts) AS facts,
    (SELECT count(*) FROM notes) AS notes

-- move_keep: the journal
INSERT INTO moves (id, ns, ns_to, moved_at, report) VALUES (%(id)s, %(ns)s, %(target)s, %(at)s, %(report)s)

-- move_done: nothing remains to be moved
DELETE FROM move_members WHERE move_id = %(id)s

-- move_kept: whether a move is in the journal, or planned
SELECT 1 AS kept FROM moves WHERE id = %(id)s UNION ALL SELECT 1 FROM move_plans WHERE id = %(id)s

-- move_there: which of the ids given the target has
SELECT id::text FROM memories WHERE ns = %(target)s AND id = ANY (%(ids)s::uuid[])
