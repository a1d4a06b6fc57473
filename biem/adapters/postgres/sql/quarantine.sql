-- Quarantine: a memory is archived with everything that was made of it, and its effect on others ends.

-- quarantine_targets: the memories, locked
SELECT id::text, archive_reason FROM memories
WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- quarantine_mark: why they are archived; the same fact said again is a new memory
UPDATE memories m SET archive_reason = given.reason, fact_key = NULL
FROM unnest(%(ids)s::uuid[], %(reasons)s::text[]) AS given (id, reason)
WHERE m.ns = %(ns)s AND m.id = given.id AND m.archive_reason NOT LIKE 'quarantine:%%'

-- quarantine_facts: facts made of them are no longer current; their other sources may form new ones
WITH gone AS (
    UPDATE crystal_facts SET metadata = metadata || '{"quarantined": true}'
    WHERE ns = %(ns)s AND (id = ANY (%(ids)s::uuid[]) OR source_node_ids && %(ids)s::text[])
    RETURNING source_node_ids
)
INSERT INTO consolidation_queue (ns, job, memory_id)
SELECT DISTINCT m.ns, 'crystal', m.id FROM gone JOIN memories m ON m.id = ANY (gone.source_node_ids::uuid[])
WHERE m.ns = %(ns)s AND m.status = 'active' AND m.id <> ALL (%(ids)s::uuid[])
ON CONFLICT DO NOTHING

-- quarantine_concepts: the concepts that have items made of them
SELECT DISTINCT i.concept_id::text AS id FROM concept_sources s JOIN concept_items i ON i.id = s.item_id
WHERE s.ns = %(ns)s AND s.memory_id = ANY (%(ids)s::uuid[])

-- quarantine_items: items of concepts made of them
DELETE FROM concept_items i USING concept_sources s
WHERE s.ns = %(ns)s AND s.memory_id = ANY (%(ids)s::uuid[]) AND i.id = s.item_id

-- quarantine_notes: notes made of them
DELETE FROM instant_memories WHERE ns = %(ns)s AND memory_id = ANY (%(ids)s::uuid[])

-- release_layer: what is untrusted is not core; a statement of its own, because the layer of what is not formed stays
UPDATE memories SET layer = 'long_term' WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND layer = 'core'

-- release_trust: the trust of a released memory; what is untrusted is not formed
UPDATE memories
SET trust = %(trust)s, formed = %(trust)s > 0, mirror_seq = CASE WHEN %(trust)s > 0 THEN mirror_seq END
WHERE ns = %(ns)s AND id = %(id)s

-- release_fact: a released fact is current again
UPDATE crystal_facts SET metadata = metadata - 'quarantined' WHERE ns = %(ns)s AND id = %(id)s
