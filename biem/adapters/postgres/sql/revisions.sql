-- Revising a memory: its former values stay, what was derived from a former text goes. Run after `lock_scope`.

-- revise_lock: a memory of a scope, locked
SELECT {node} FROM memories m WHERE m.ns = %(ns)s AND m.id = %(id)s FOR UPDATE

-- revise_twin: another memory that states the same fact
SELECT id::text, status FROM memories
WHERE ns = %(ns)s AND fact_key = %(fact_key)s AND superseded_by IS NULL AND id <> %(id)s

-- revise_free: an archived memory gives up its fact, as if the fact had been repeated
UPDATE memories SET fact_key = NULL WHERE id = %(twin)s

-- revise_keep: store the present values as a revision, with the number of the scope's last write
INSERT INTO memory_revisions (ns, memory_id, revision, stood_until, revised_by, write_seq, text, lexemes, evidence_sha,
    embed_sha, before)
SELECT ns, m.id, m.revision, %(at)s, %(by)s, s.write_seq, m.text, m.lexemes, m.evidence_sha, m.embed_sha,
    jsonb_build_object('kind', m.kind, 'layer', m.layer, 'tags', m.tags, 'reason', m.reason, 'importance', m.importance,
        'speaker', m.speaker, 'at', m.at, 'valid_from', m.valid_from, 'metadata', m.metadata, 'expires_at', m.expires_at,
        'on_expiry', m.on_expiry, 'trust', m.trust, 'revised_at', m.revised_at, 'language', m.language,
        'fields', m.fields, 'entities', m.entities, 'sentiment', m.sentiment)
FROM memories m JOIN scopes s USING (ns) WHERE m.id = %(id)s

-- revise_write: the new values, and jobs. A job that a worker holds is replaced, so that it cannot complete; it may yet
-- write to the index until its lease ends, so the memory is indexed once more then
WITH dropped AS (
    DELETE FROM outbox WHERE memory_id = %(id)s AND task = 'encode' RETURNING attempts > 0 AS claimed
), written AS (
    UPDATE memories m
    SET revision = revision + 1, revised_at = %(at)s, text = %(text)s, lexemes = %(lexemes)s, fact_key = CASE WHEN %(restated)s THEN %(fact_key)s ELSE fact_key END,
        evidence_sha = %(evidence_sha)s, embed_sha = %(embed_sha)s, kind = %(kind)s, layer = %(layer)s, tags = %(tags)s,
        reason = %(reason)s, importance = %(importance)s, speaker = %(speaker)s, at = %(said_at)s,
        metadata = %(metadata)s, trust = %(trust)s, expires_at = %(expires_at)s, on_expiry = %(on_expiry)s,
        valid_from = CASE WHEN valid_from = at THEN %(said_at)s ELSE valid_from END,
        due_at = least(CASE WHEN %(relived)s THEN %(kept_until)s::timestamptz ELSE due_at END, %(expires_at)s::timestamptz),
        status = CASE WHEN %(indexed)s THEN 'pending' ELSE status END,
        tier = CASE WHEN %(said)s THEN 'L2' ELSE tier END,
        formed = (formed OR %(said)s) AND %(trust)s > 0,
        mirror_seq = CASE WHEN %(trust)s > 0 THEN mirror_seq END,
        energy_anchor = CASE WHEN formed OR NOT %(said)s THEN energy_anchor ELSE initial_energy END,
        anchor_at = CASE WHEN formed OR NOT %(said)s THEN anchor_at ELSE %(at)s END
    WHERE id = %(id)s
    RETURNING id, ns
), original AS (
    INSERT INTO evidence (ns, sha256, text) SELECT ns, %(evidence_sha)s, %(text)s FROM written ON CONFLICT DO NOTHING
), fact AS (
    UPDATE crystal_facts SET content = %(text)s, updated_at = %(at)s WHERE id = %(id)s AND content <> %(text)s
), judged AS (
    DELETE FROM gate_decisions WHERE memory_id = %(id)s AND NOT formed AND %(said)s
), job AS (
    INSERT INTO outbox (task, memory_id, ns, claims)
    SELECT 'encode', id, ns, 1 FROM written WHERE %(indexed)s OR EXISTS (SELECT FROM dropped)
)
INSERT INTO outbox (task, memory_id, ns, due_at)
SELECT CASE WHEN claimed THEN 'reindex' ELSE 'revised' END, id, ns,
    clock_timestamp() + CASE WHEN claimed THEN make_interval(secs => %(after_s)s) ELSE interval '0' END
FROM written, (SELECT coalesce(bool_or(claimed), false) AS claimed FROM dropped) held
WHERE claimed OR %(said)s

-- revise_unlink: semantic links of former texts, and mentions of them in concepts; all links of what is no longer trusted
WITH hit AS MATERIALIZED (
    SELECT l.id, l.ns FROM crystal_links l
    WHERE l.source_id = ANY (%(ids)s::text[]) AND (%(every)s OR l.link_type IN ('semantic', 'mention')) AND (NOT l.deleted OR l.parked)
    UNION
    SELECT l.id, l.ns FROM crystal_links l
    WHERE l.target_id = ANY (%(ids)s::text[]) AND (%(every)s OR l.link_type IN ('semantic', 'mention')) AND (NOT l.deleted OR l.parked)
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions')
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM hit h WHERE h.ns = %(ns)s)
    RETURNING graph_version
)
UPDATE crystal_links l SET deleted = true, parked = false, touched_at = %(at)s, version = b.graph_version
FROM hit h, bumped b WHERE l.id = h.id AND h.ns = %(ns)s

-- revise_reopen: undecided conflicts of former texts; a merge that is under way stays
DELETE FROM conflicts
WHERE ns = %(ns)s AND (older_id = ANY (%(ids)s::uuid[]) OR newer_id = ANY (%(ids)s::uuid[]))
    AND status = 'pending' AND plan IS NULL

-- revise_unnote: notes of former texts
DELETE FROM instant_memories WHERE memory_id = ANY (%(ids)s::uuid[]) AND (ns = %(ns)s) IS TRUE

-- revise_concepts: concepts with statements that former texts are a source of
SELECT DISTINCT i.concept_id::text AS id FROM concept_sources s JOIN concept_items i ON i.id = s.item_id
WHERE s.memory_id = ANY (%(ids)s::uuid[]) AND (i.ns = %(ns)s) IS TRUE

-- revise_unsay: these statements go, and all their sources are built from once more, each as a snippet of its own that
-- does not grow
WITH given AS MATERIALIZED (
    SELECT s.item_id FROM concept_sources s WHERE s.memory_id = ANY (%(ids)s::uuid[]) AND (s.ns = %(ns)s) IS TRUE
), again AS MATERIALIZED (
    SELECT s.memory_id AS id FROM given g JOIN concept_sources s ON s.item_id = g.item_id
    UNION
    SELECT unnest(%(ids)s::uuid[])
), gone AS (
    DELETE FROM concept_items i USING given g WHERE i.id = g.item_id
), sayings AS MATERIALIZED (
    SELECT m.id, m.write_seq, m.conversation, m.at, m.created_at, m.kind = 'event' AND m.conversation <> '' AS spoken
    FROM again a CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = a.id OFFSET 0) m
    JOIN concept_progress p ON p.ns = m.ns
    WHERE (m.ns = %(ns)s) IS TRUE AND m.write_seq <= p.seq
), names AS (
    DELETE FROM link_work WHERE ns = %(ns)s AND name IN (
        SELECT format('build:%%s-%%s:0', write_seq, write_seq) FROM sayings
        UNION ALL SELECT format('build:%%s-%%s:0/%%s', write_seq, write_seq, id) FROM sayings)
)
INSERT INTO concept_snippets AS s (ns, first_seq, last_seq, messages, conversation, spoken, started_at, ended_at,
    received_at)
SELECT %(ns)s, write_seq, write_seq, %(length)s, CASE WHEN spoken THEN conversation ELSE '' END, spoken, at, at, created_at
FROM sayings
ON CONFLICT (ns, first_seq) DO UPDATE SET times = s.times - 1 -- a job that is building from it has read the former text

-- revise_forget_concepts: concepts without statements, with their links
WITH orphans AS MATERIALIZED (
    SELECT c.id FROM concepts c
    WHERE c.id = ANY (%(concepts)s::uuid[]) AND (c.ns = %(ns)s) IS TRUE
        AND NOT EXISTS (SELECT FROM concept_items i WHERE i.concept_id = c.id)
), links AS (
    DELETE FROM crystal_links
    WHERE source_id IN (SELECT id::text FROM orphans) OR target_id IN (SELECT id::text FROM orphans)
)
DELETE FROM concepts c USING orphans o WHERE c.id = o.id

-- revise_facts: current facts distilled from former texts
SELECT d.memory_id::text AS id FROM derivations d
WHERE d.source_id = ANY (%(ids)s::uuid[]) AND (d.ns = %(ns)s) IS TRUE AND d.origin IN ('crystal', 'heir')
    AND EXISTS (SELECT FROM crystal_facts f WHERE f.id = d.memory_id AND NOT f.metadata ? 'superseded_by')
GROUP BY d.memory_id

-- revise_undistil: these facts stand for nothing, and their sources are looked at again
WITH gone AS (
    DELETE FROM crystal_facts WHERE id = ANY (%(facts)s::uuid[]) AND (ns = %(ns)s) IS TRUE
)
INSERT INTO consolidation_queue AS q (ns, job, memory_id)
SELECT DISTINCT d.ns, 'crystal', d.source_id FROM derivations d
WHERE d.memory_id = ANY (%(facts)s::uuid[]) AND (d.ns = %(ns)s) IS TRUE AND d.origin IN ('crystal', 'heir')
ORDER BY d.source_id
ON CONFLICT (ns, job, memory_id) DO UPDATE SET marks = q.marks + 1

-- revise_outdated: which of these memories are at another revision, with their scopes
SELECT m.id::text, m.ns FROM unnest(%(ids)s::uuid[], %(revisions)s::integer[]) AS seen (id, revision)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = seen.id OFFSET 0) m
WHERE m.revision <> seen.revision ORDER BY m.ns, m.id

-- revise_index: index these once more, in place of a row that may be there; those archived meanwhile are not
WITH back AS (
    UPDATE memories SET status = 'pending' WHERE id = ANY (%(ids)s::uuid[]) AND status <> 'archived'
    RETURNING id, ns
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back

-- former_page: former texts as they were embedded, in the order of memory and revision
SELECT r.memory_id::text, r.revision, CASE WHEN r.before ->> 'speaker' = '' THEN r.text
        ELSE concat(r.before ->> 'speaker', ': ', r.text) END AS text, r.lexemes,
    EXISTS (SELECT FROM embeddings e WHERE e.model = %(model)s AND e.sha256 = r.embed_sha) AS embedded
FROM memory_revisions r
WHERE (r.memory_id, r.revision) > (%(after)s::uuid, %(revision)s) AND (%(id)s::uuid IS NULL OR r.memory_id = %(id)s)
ORDER BY r.memory_id, r.revision LIMIT %(limit)s

-- former_describe: new index terms of former texts
UPDATE memory_revisions r SET lexemes = n.lexemes
FROM unnest(%(ids)s::uuid[], %(revisions)s::integer[], %(lexemes)s::text[]) AS n (id, revision, lexemes)
WHERE r.memory_id = n.id AND r.revision = n.revision

-- revisions_of: the former revisions of a memory, oldest first
SELECT r.revision, r.stood_until, r.revised_by, was.text, was.kind, was.tags, was.reason, was.importance, was.speaker,
    was.at, was.layer, was.metadata, was.expires_at, was.on_expiry, was.trust
FROM memory_revisions r
JOIN memories m ON m.id = r.memory_id
CROSS JOIN LATERAL jsonb_populate_record(m, r.before || jsonb_build_object('text', r.text)) was
WHERE r.memory_id = %(id)s AND (r.ns = %(ns)s) IS TRUE ORDER BY r.revision
