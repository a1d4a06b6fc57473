-- What a scope holds, for a file: one block a type of line, in a fixed order. The names of the columns are those of the
-- file. A line that refers to memories is written only if all of them are chosen.

-- export_memory: memories in the order in which they were written
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT m.id::text, m.ref, m.fact_key IS NOT NULL AS fact, m.text, m.kind, m.layer, m.tags, m.reason, m.importance, m.source,
    m.speaker, m.conversation, m.at, m.created_at, m.metadata, m.origin,
    (ARRAY['untrusted', 'normal', 'trusted'])[m.trust + 1] AS trust,
    CASE WHEN m.status = 'archived' THEN 'archived'
        WHEN m.status = 'pending' AND m.model = '' AND EXISTS (
            SELECT FROM outbox o WHERE o.memory_id = m.id AND o.task = 'encode' AND NOT o.known) THEN 'pending'
        ELSE 'active' END AS status,
    m.archived_at, m.archive_reason, m.valid_from, m.valid_to, s.id::text AS superseded_by, m.initial_energy,
    m.energy_anchor, m.anchor_at, m.boosted_at, m.access_count, m.useful_count, m.accessed_at, m.useful_at, m.formed,
    m.due_at, m.expires_at, m.on_expiry, m.revision, m.revised_at
FROM memories m JOIN chosen USING (id) LEFT JOIN chosen s ON s.id = m.superseded_by
WHERE m.ns = %(ns)s ORDER BY m.write_seq

-- export_revision: former values of memories
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT r.memory_id::text AS memory, r.revision, r.stood_until, r.revised_by, r.text, r.before
FROM memory_revisions r JOIN chosen ON chosen.id = r.memory_id
WHERE r.ns = %(ns)s ORDER BY r.memory_id, r.revision

-- export_link: links between memories; those of concepts are made anew with these
WITH chosen AS MATERIALIZED (
    SELECT m.id::text FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT l.source_id AS source, l.target_id AS target, l.link_type AS link, l.weight, l.strength, l.created_at, l.touched_at,
    l.parked
FROM crystal_links l JOIN chosen a ON a.id = l.source_id JOIN chosen b ON b.id = l.target_id
WHERE l.ns = %(ns)s AND (NOT l.deleted OR l.parked)
ORDER BY l.source_id COLLATE "C", l.target_id COLLATE "C", l.link_type COLLATE "C"

-- export_derivation: which memories were made of which
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT d.memory_id::text AS memory, d.source_id::text AS source, d.origin, d.linked
FROM derivations d JOIN chosen a ON a.id = d.memory_id JOIN chosen b ON b.id = d.source_id
WHERE d.ns = %(ns)s ORDER BY d.memory_id, d.source_id, d.origin COLLATE "C"

-- export_conflict: conflicts with their decisions and what these superseded
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT c.id::text, c.kind, c.older_id::text AS older, c.newer_id::text AS newer, c.confidence, c.rule, c.attribute, c.claim,
    c.subject, c.suspected, c.status, c.resolution, c.decided_by, c.merged_id::text AS merged, c.due_at IS NOT NULL AS unjudged,
    c.created_at, c.resolved_at,
    coalesce((SELECT jsonb_agg(jsonb_build_object('loser', s.loser_id, 'winner', s.winner_id, 'ended_at', s.ended_at)
            ORDER BY s.loser_id)
        FROM supersessions s JOIN chosen l ON l.id = s.loser_id JOIN chosen w ON w.id = s.winner_id
        WHERE s.conflict_id = c.id), '[]') AS supersessions
FROM conflicts c JOIN chosen a ON a.id = c.older_id JOIN chosen b ON b.id = c.newer_id LEFT JOIN chosen m ON m.id = c.merged_id
WHERE c.ns = %(ns)s AND (c.merged_id IS NULL OR m.id IS NOT NULL)
ORDER BY c.id

-- export_fact: facts distilled from memories; each is a memory, too
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT f.id::text, f.content, f.source_node_ids AS sources, f.confidence, f.created_at, f.updated_at,
    f.metadata ->> 'superseded_by' AS superseded_by
FROM crystal_facts f JOIN chosen USING (id)
WHERE f.ns = %(ns)s AND NOT EXISTS (
    SELECT FROM unnest(f.source_node_ids) AS s (id) WHERE s.id::uuid NOT IN (SELECT chosen.id FROM chosen))
ORDER BY f.id

-- export_refusal: what the write gate decided about messages
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT d.memory_id::text AS memory, d.formed, d.value, d.threshold, d.form, d.relevance, d.surprise, d.conflict, d.decided_at
FROM gate_decisions d JOIN chosen ON chosen.id = d.memory_id
WHERE d.ns = %(ns)s ORDER BY d.memory_id

-- export_note: notes taken of messages
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT i.id::text, i.memory_id::text AS memory, i.conversation, i.text, i.keywords, i.created_at, i.viewed_at, i.built_at
FROM instant_memories i JOIN chosen ON chosen.id = i.memory_id
WHERE i.ns = %(ns)s ORDER BY i.id

-- export_feedback: turns whose feedback was counted; none where memories were chosen by conditions
SELECT turn, at FROM feedbacks WHERE ns = %(ns)s AND NOT %(filtered)s ORDER BY turn COLLATE "C"

-- export_session: sessions, whose counts follow from their messages; none where memories were chosen by conditions
SELECT id::text, name, status, opened_at, closed_at, archived_at, next_seq, head_seq, round, metadata
FROM sessions WHERE ns = %(ns)s AND NOT %(filtered)s ORDER BY id

-- export_message: messages of sessions; a memory that was moved to another scope is not named
SELECT m.session_id::text AS session, m.seq, m.role, m.content, m.tokens, m.round, m.at, m.ref, k.id::text AS memory, m.data
FROM session_messages m LEFT JOIN memories k ON k.id = m.memory_id AND k.ns = m.ns
WHERE m.ns = %(ns)s AND NOT %(filtered)s ORDER BY m.session_id, m.seq

-- export_item: items in the order in which they were written; where memories were chosen by conditions, those of these
WITH chosen AS MATERIALIZED (
    SELECT m.id FROM memories m WHERE m.ns = %(ns)s AND (NOT %(filtered)s OR ({where}))
)
SELECT string_to_array(left(i.path, -1), '.') AS namespace, i.key, i.value::text, c.id::text AS memory, i.created_at, i.updated_at,
    i.ttl_s, i.expires_at
FROM items i LEFT JOIN chosen c ON c.id = i.memory_id
WHERE i.ns = %(ns)s AND (i.expires_at IS NULL OR i.expires_at > %(now)s) AND (NOT %(filtered)s OR c.id IS NOT NULL)
ORDER BY i.seq
