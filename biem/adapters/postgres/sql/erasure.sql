-- Erasing: the only statements that delete memories.

-- erase_supersessions: memories superseded by the erased ones are valid again, unless superseded otherwise
WITH gone AS (
    DELETE FROM supersessions s USING conflicts c
    WHERE c.id = s.conflict_id AND s.ns = %(ns)s AND (c.older_id = ANY (%(ids)s::uuid[])
        OR c.newer_id = ANY (%(ids)s::uuid[]) OR c.merged_id = ANY (%(ids)s::uuid[]))
    RETURNING s.conflict_id, s.loser_id, s.winner_id
), reopened AS (
    UPDATE conflicts SET status = 'pending', resolution = NULL, decided_by = NULL, resolved_at = NULL, merged_id = NULL,
        plan = NULL
    WHERE ns = %(ns)s AND merged_id = ANY (%(ids)s::uuid[])
)
UPDATE memories m
SET valid_to = rest.ended_at, superseded_by = rest.winner_id, fact_key = CASE
    WHEN rest.winner_id IS NULL AND EXISTS (
        SELECT FROM memories x WHERE x.ns = m.ns AND x.fact_key = m.fact_key AND x.id <> m.id
            AND x.id <> ALL (%(ids)s::uuid[])
            AND (x.superseded_by IS NULL OR x.id IN (SELECT loser_id FROM gone) AND x.id < m.id))
    THEN NULL ELSE fact_key END
FROM (
    SELECT DISTINCT ON (g.loser_id) g.loser_id, s.ended_at, s.winner_id
    FROM gone g LEFT JOIN supersessions s ON s.loser_id = g.loser_id
        AND NOT EXISTS (SELECT FROM gone x WHERE x.conflict_id = s.conflict_id AND x.loser_id = s.loser_id)
    ORDER BY g.loser_id, s.ended_at, s.winner_id
) AS rest
WHERE m.id = rest.loser_id AND m.id <> ALL (%(ids)s::uuid[]) AND m.superseded_by IN (SELECT winner_id FROM gone)

-- erase_conflicts: conflicts about the erased
DELETE FROM conflicts
WHERE ns = %(ns)s AND (%(all)s OR older_id = ANY (%(ids)s::uuid[]) OR newer_id = ANY (%(ids)s::uuid[]))

-- erase_merged: memories merged from these, also where the merge was not decided yet; repeated for further merges
WITH RECURSIVE derived AS (
    SELECT coalesce(c.merged_id, m.id) AS merged_id
    FROM conflicts c LEFT JOIN memories m ON m.ns = c.ns AND m.ref = c.plan ->> 'ref' AND c.plan ->> 'step' = 'merge'
    WHERE c.ns = %(ns)s AND (c.older_id = ANY (%(ids)s::uuid[]) OR c.newer_id = ANY (%(ids)s::uuid[]))
        AND coalesce(c.merged_id, m.id) IS NOT NULL
    UNION
    SELECT c.merged_id FROM conflicts c JOIN derived d ON c.older_id = d.merged_id OR c.newer_id = d.merged_id
    WHERE c.ns = %(ns)s AND c.merged_id IS NOT NULL
)
SELECT merged_id::text AS id FROM derived

-- erase_closure: erased with a memory: those it replaced, and every text derived from any of these
WITH RECURSIVE doomed (id, absorbed) AS (
    SELECT id, true FROM memories WHERE ns = %(ns)s AND id = %(id)s
    UNION
    SELECT CASE WHEN d.source_id = doomed.id THEN d.memory_id ELSE d.source_id END, d.memory_id = doomed.id
    FROM doomed JOIN derivations d ON d.ns = %(ns)s AND (
        d.source_id = doomed.id AND d.origin IN ('merge', 'crystal', 'summary')
        OR d.memory_id = doomed.id AND d.origin IN ('dedupe', 'merge') AND doomed.absorbed)
)
SELECT DISTINCT id::text FROM doomed

-- erase_revive: restore memories replaced by an erased one only, unless a decision against them is in force; their rows
-- in the index may be gone or not
WITH lost AS (
    SELECT m.id, s.winner_id, s.ended_at
    FROM memories m LEFT JOIN LATERAL (
        SELECT winner_id, ended_at FROM supersessions
        WHERE loser_id = m.id AND winner_id <> ALL (%(ids)s::uuid[]) ORDER BY ended_at, winner_id LIMIT 1) s ON true
    WHERE m.ns = %(ns)s AND m.superseded_by = ANY (%(ids)s::uuid[]) AND m.id <> ALL (%(ids)s::uuid[])
        AND m.status = 'archived' AND m.archive_reason IN ('dedupe', 'merge')
), back AS (
    UPDATE memories m
    SET status = 'pending', tier = 'L2', archived_at = NULL, archive_reason = '', fact_key = NULL,
        superseded_by = lost.winner_id, valid_to = coalesce(lost.ended_at, m.valid_to),
        due_at = clock_timestamp() -- its retention is due for review
    FROM lost WHERE m.id = lost.id
    RETURNING m.id, m.ns
), own AS ( -- their links return to them, also where they were not taken over yet
    UPDATE derivations SET linked = true WHERE ns = %(ns)s AND source_id IN (SELECT id FROM back) AND NOT linked
), dropped AS (
    DELETE FROM outbox WHERE task = 'archive' AND memory_id IN (SELECT id FROM back)
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back

-- erase_expired: whether a memory is to be erased because it has expired; locked, so that it is not written again
SELECT id FROM memories
WHERE ns = %(ns)s AND id = %(id)s AND expires_at <= %(at)s AND on_expiry = 'erase' FOR UPDATE

-- erase_targets: the memories to be erased, locked against workers
SELECT id::text, evidence_sha, embed_sha FROM memories
WHERE ns = %(ns)s AND (%(ids)s::uuid[] IS NULL OR id = ANY (%(ids)s::uuid[])) ORDER BY id FOR UPDATE

-- erase_former: originals and vectors of their former texts
SELECT evidence_sha, embed_sha FROM memory_revisions WHERE memory_id = ANY (%(ids)s::uuid[]) AND (ns = %(ns)s) IS TRUE

-- erase_originals: originals that no other memory of the scope has or had
DELETE FROM evidence e
WHERE e.ns = %(ns)s AND e.sha256 = ANY (%(originals)s)
    AND NOT EXISTS (SELECT FROM memories o WHERE o.ns = %(ns)s AND o.evidence_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))
    AND NOT EXISTS (SELECT FROM memory_revisions r
        WHERE r.ns = %(ns)s AND r.evidence_sha = e.sha256 AND r.memory_id <> ALL (%(ids)s::uuid[]))

-- erase_vectors: cached vectors that no other memory of any scope has or had
DELETE FROM embeddings e
WHERE e.sha256 = ANY (%(vectors)s)
    AND NOT EXISTS (SELECT FROM memories o WHERE o.embed_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))
    AND NOT EXISTS (SELECT FROM memory_revisions r WHERE r.embed_sha = e.sha256 AND r.memory_id <> ALL (%(ids)s::uuid[]))
    AND NOT EXISTS (SELECT FROM note_chunks c WHERE c.body_sha = e.sha256)
    AND NOT EXISTS (SELECT FROM tags t WHERE t.sha256 = e.sha256)

-- erase_links: links from and to the erased
DELETE FROM crystal_links
WHERE ns = %(ns)s AND (%(all)s OR source_id = ANY (%(ids)s::text[]) OR target_id = ANY (%(ids)s::text[]))

-- erase_facts: facts distilled from the erased
DELETE FROM crystal_facts WHERE ns = %(ns)s AND (%(all)s OR source_node_ids && %(ids)s::text[])

-- erase_jobs: jobs of the erased, but for those that clear the projections of a scope that it was moved from
DELETE FROM outbox WHERE memory_id = ANY (%(ids)s::uuid[]) AND (task <> 'leave' OR ns = %(ns)s)

-- erase_successors: remove pointers to the erased; a fact may have been repeated meanwhile
UPDATE memories SET superseded_by = NULL, valid_to = NULL, fact_key = NULL
WHERE ns = %(ns)s AND superseded_by = ANY (%(ids)s::uuid[]) AND id <> ALL (%(ids)s::uuid[])

-- erase_messages: what was said in sessions and became the erased, also in a scope that they were moved from
WITH gone AS (
    DELETE FROM session_messages m
    USING (SELECT session_id, seq FROM session_messages WHERE memory_id = ANY (%(ids)s::uuid[])
        UNION SELECT session_id, seq FROM session_messages WHERE %(all)s AND ns = %(ns)s) doomed
    WHERE m.session_id = doomed.session_id AND m.seq = doomed.seq
    RETURNING m.session_id, m.seq, m.role, m.tokens
)
UPDATE sessions s
SET messages = s.messages - less.messages, all_tokens = s.all_tokens - less.all_tokens, tokens = s.tokens - less.tokens
FROM (
    SELECT x.id, count(*) AS messages, sum(g.tokens) AS all_tokens,
        coalesce(sum(g.tokens) FILTER (WHERE g.seq >= x.head_seq OR g.role = 'system'), 0) AS tokens
    FROM gone g JOIN sessions x ON x.id = g.session_id GROUP BY x.id) less
WHERE s.id = less.id

-- erase_sessions: the sessions of a whole scope
DELETE FROM sessions WHERE %(all)s AND ns = %(ns)s

-- erase_mirror: ids whose files are to be deleted, and refused where a copy comes back
INSERT INTO mirror_erased (memory_id, ns)
SELECT DISTINCT memory_id, %(ns)s FROM mirror_files WHERE memory_id = ANY (%(ids)s::uuid[]) ON CONFLICT DO NOTHING

-- erase_roots: the folders of a whole scope; their files are deleted by then
DELETE FROM mirror_roots WHERE %(all)s AND ns = %(ns)s

-- erase_projects: the project that a whole scope is
DELETE FROM projects WHERE %(all)s AND ns = %(own)s AND key = %(project)s

-- erase_items: items that the erased were made of, also in a scope that they were moved from
DELETE FROM items WHERE memory_id = ANY (%(ids)s::uuid[]) OR %(all)s AND ns = %(ns)s

-- erase_memories: the memories themselves
DELETE FROM memories WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[])

-- erase_scope: delete the names of an empty scope
DELETE FROM scopes
WHERE ns = %(ns)s AND NOT EXISTS (SELECT FROM memories WHERE ns = %(ns)s)
    AND NOT EXISTS (SELECT FROM note_libraries WHERE ns = %(ns)s)
    AND NOT EXISTS (SELECT FROM sessions WHERE ns = %(ns)s)
    AND NOT EXISTS (SELECT FROM mirror_roots WHERE ns = %(ns)s)
    AND NOT EXISTS (SELECT FROM items WHERE ns = %(ns)s)

-- erase_purge: queue a later removal of vectors that a worker may be writing concurrently, and leave a tombstone
WITH marked AS (
    INSERT INTO tombstones (memory_id, ns, erased_at, look_at)
    SELECT id, ns, clock_timestamp(), clock_timestamp() + interval '5 minutes'
    FROM memories WHERE id = ANY (%(ids)s::uuid[])
    ON CONFLICT DO NOTHING
)
INSERT INTO outbox (task, memory_id, ns, due_at)
SELECT 'purge', id, ns, clock_timestamp() + make_interval(secs => %(after_s)s)
FROM memories WHERE id = ANY (%(ids)s::uuid[])

-- erase_remains: rows left of an erased target, by table, without rows shared with other memories
SELECT
    (SELECT count(*) FROM memories WHERE id = ANY (%(ids)s::uuid[])) AS memories,
    (SELECT count(*) FROM evidence e WHERE e.ns = %(ns)s AND e.sha256 = ANY (%(originals)s)
        AND NOT EXISTS (SELECT FROM memories o WHERE o.ns = %(ns)s AND o.evidence_sha = e.sha256
            AND o.id <> ALL (%(ids)s::uuid[]))
        AND NOT EXISTS (SELECT FROM memory_revisions r
            WHERE r.ns = %(ns)s AND r.evidence_sha = e.sha256 AND r.memory_id <> ALL (%(ids)s::uuid[]))) AS evidence,
    (SELECT count(*) FROM embeddings e WHERE e.sha256 = ANY (%(vectors)s)
        AND NOT EXISTS (SELECT FROM memories o WHERE o.embed_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))
        AND NOT EXISTS (SELECT FROM memory_revisions r
            WHERE r.embed_sha = e.sha256 AND r.memory_id <> ALL (%(ids)s::uuid[]))
        AND NOT EXISTS (SELECT FROM note_chunks c WHERE c.body_sha = e.sha256)
        AND NOT EXISTS (SELECT FROM tags t WHERE t.sha256 = e.sha256)) AS embeddings,
    (SELECT count(*) FROM memory_revisions WHERE memory_id = ANY (%(ids)s::uuid[])) AS memory_revisions,
    (SELECT count(*) FROM crystal_links
        WHERE ns = %(ns)s AND (%(all)s OR source_id = ANY (%(ids)s::text[]) OR target_id = ANY (%(ids)s::text[]))) AS crystal_links,
    (SELECT count(*) FROM crystal_facts WHERE ns = %(ns)s AND (%(all)s OR source_node_ids && %(ids)s::text[])) AS crystal_facts,
    (SELECT count(*) FROM outbox WHERE task = 'encode' AND memory_id = ANY (%(ids)s::uuid[])) AS outbox,
    (SELECT count(*) FROM conflicts
        WHERE ns = %(ns)s AND (%(all)s OR older_id = ANY (%(ids)s::uuid[]) OR newer_id = ANY (%(ids)s::uuid[]))) AS conflicts,
    (SELECT count(*) FROM concept_items i WHERE i.ns = %(ns)s AND (%(all)s OR EXISTS (
        SELECT FROM concept_sources s WHERE s.item_id = i.id AND s.memory_id = ANY (%(ids)s::uuid[])))) AS concept_items,
    (SELECT count(*) FROM instant_memories WHERE ns = %(ns)s AND (%(all)s OR memory_id = ANY (%(ids)s::uuid[]))) AS instant_memories,
    CASE WHEN %(all)s THEN (SELECT count(*) FROM session_messages WHERE ns = %(ns)s)
        ELSE (SELECT count(*) FROM session_messages WHERE memory_id = ANY (%(ids)s::uuid[])) END AS session_messages,
    CASE WHEN %(all)s THEN (SELECT count(*) FROM sessions WHERE ns = %(ns)s) ELSE 0 END AS sessions,
    CASE WHEN %(all)s THEN (SELECT count(*) FROM items WHERE ns = %(ns)s)
        ELSE (SELECT count(*) FROM items WHERE memory_id = ANY (%(ids)s::uuid[])) END AS items

-- save_receipt: the proof of an erasure; the whole one replaces the first one
INSERT INTO erasures (id, ns, erased_at, receipt) VALUES (%(id)s, %(ns)s, %(at)s, %(receipt)s)
ON CONFLICT (id) DO UPDATE SET erased_at = EXCLUDED.erased_at, receipt = EXCLUDED.receipt WHERE erasures.ns = EXCLUDED.ns
