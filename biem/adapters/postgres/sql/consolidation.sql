-- Consolidation. A replaced memory is archived and names its replacement; none is deleted.

-- consolidation_waiting: memories that a job has to process, oldest ids first
SELECT memory_id::text AS id, marks FROM consolidation_queue WHERE ns = %s AND job = %s ORDER BY memory_id LIMIT %s

-- consolidation_looked: mark them as processed, unless they were touched meanwhile
DELETE FROM consolidation_queue q USING unnest(%(ids)s::uuid[], %(marks)s::integer[]) AS seen (id, marks)
WHERE q.ns = %(ns)s AND q.job = %(job)s AND q.memory_id = seen.id AND q.marks = seen.marks

-- consolidate_lock: lock the memories to be replaced and their successor
SELECT id::text, status, superseded_by::text, metadata ? 'fact' AS is_fact, tags, revised_at, trust FROM memories
WHERE ns = %s AND id = ANY (%s::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- inherit: properties that a memory takes over from those it replaces; of energies the greatest at all times
UPDATE memories k
SET tags = coalesce(r.tags, '{}'), importance = greatest(k.importance, r.importance), layer = r.layer,
    energy_anchor = r.energy_anchor, anchor_at = r.anchor_at,
    access_count = k.access_count + r.access_count, useful_count = k.useful_count + r.useful_count,
    useful_at = greatest(k.useful_at, r.useful_at), accessed_at = greatest(k.accessed_at, r.accessed_at),
    boosted_at = greatest(k.boosted_at, r.boosted_at),
    valid_from = least(k.valid_from, r.valid_from),
    due_at = CASE WHEN k.due_at IS NULL OR r.immortal THEN NULL ELSE greatest(k.due_at, r.due_at) END,
    metadata = k.metadata || jsonb_build_object('merged_from', r.merged_from)
FROM (
    SELECT max(m.importance) AS importance, sum(m.access_count) AS access_count, sum(m.useful_count) AS useful_count,
        max(m.useful_at) AS useful_at, max(m.accessed_at) AS accessed_at, max(m.boosted_at) AS boosted_at, min(m.valid_from) AS valid_from,
        max(m.due_at) AS due_at, bool_or(m.due_at IS NULL) AS immortal,
        (SELECT array_agg(tag ORDER BY place, tag) FROM (
            SELECT tag, min(place) AS place
            FROM memories t, unnest(t.tags) WITH ORDINALITY AS u (tag, place)
            WHERE t.id = ANY (%(ids)s::uuid[] || %(kept)s::uuid) GROUP BY tag ORDER BY 2, 1 LIMIT %(max_tags)s) AS tags)
            AS tags,
        (SELECT layer FROM memories t WHERE t.id = ANY (%(ids)s::uuid[] || %(kept)s::uuid)
            ORDER BY array_position(ARRAY['core', 'long_term', 'short_term', 'session'], layer) LIMIT 1) AS layer,
        (SELECT array_agg(DISTINCT d.source_id::text) FROM (
            SELECT source_id FROM derivations WHERE memory_id = %(kept)s AND origin IN ('dedupe', 'merge')
            UNION SELECT unnest(%(ids)s::uuid[]) LIMIT %(max_sources)s) d) AS merged_from,
        best.energy_anchor, best.anchor_at
    FROM memories m, (
        SELECT energy_anchor, anchor_at FROM memories
        WHERE ns = %(ns)s AND id = ANY (%(energies)s::uuid[])
        ORDER BY energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) DESC, id LIMIT 1) best
    WHERE m.ns = %(ns)s AND m.id = ANY (%(ids)s::uuid[])
    GROUP BY best.energy_anchor, best.anchor_at
) r
WHERE k.ns = %(ns)s AND k.id = %(kept)s
RETURNING k.tags

-- derive: record the sources of a memory
INSERT INTO derivations (ns, memory_id, source_id, origin, linked)
SELECT %(ns)s, %(kept)s, source, %(origin)s, %(linked)s FROM unnest(%(ids)s::uuid[]) AS source
ON CONFLICT (memory_id, source_id, origin) DO UPDATE SET linked = excluded.linked

-- derive_facts: move the facts of the replaced to their successor
INSERT INTO derivations (ns, memory_id, source_id, origin)
SELECT DISTINCT ns, memory_id, %(kept)s::uuid, 'heir' FROM derivations
WHERE ns = %(ns)s AND origin IN ('crystal', 'heir') AND source_id = ANY (%(ids)s::uuid[]) AND memory_id <> %(kept)s::uuid
ON CONFLICT DO NOTHING

-- derive_grown: a grown fact inherits the sources of its predecessor
INSERT INTO derivations (ns, memory_id, source_id, origin)
SELECT DISTINCT d.ns, %(kept)s::uuid, d.source_id, 'heir' FROM derivations d
WHERE d.ns = %(ns)s AND d.origin IN ('crystal', 'heir') AND d.memory_id = %(old)s::uuid AND d.source_id <> %(kept)s::uuid
    AND NOT EXISTS (SELECT FROM derivations k WHERE k.memory_id = %(kept)s::uuid AND k.source_id = d.source_id)
ON CONFLICT DO NOTHING

-- encode_again: index a changed memory again; marked as claimed before, so that the encoder replaces the row
INSERT INTO outbox (task, memory_id, ns, claims)
SELECT 'encode', id, ns, 1 FROM memories
WHERE ns = %(ns)s AND id = %(kept)s AND NOT EXISTS (
    SELECT FROM outbox o WHERE o.memory_id = %(kept)s AND o.task = 'encode' AND o.attempts = 0)

-- add_fact: a fact, once
INSERT INTO crystal_facts (id, ns, content, source_node_ids, confidence, created_at, updated_at, metadata)
VALUES (%(id)s, %(ns)s, %(content)s, %(sources)s, %(confidence)s, %(at)s, %(at)s, %(metadata)s)
ON CONFLICT DO NOTHING

-- supersede_fact: a fact has grown into another
UPDATE crystal_facts SET updated_at = %(at)s, metadata = metadata || jsonb_build_object('superseded_by', %(by)s::text)
WHERE ns = %(ns)s AND id = %(id)s AND NOT metadata ? 'superseded_by'

-- list_facts: current facts by id, without those made of what has expired
SELECT id::text, content, source_node_ids, confidence, created_at, updated_at, metadata FROM crystal_facts
WHERE ns = %(ns)s AND NOT metadata ? 'superseded_by' AND NOT metadata ? 'quarantined'
    AND id > %(after)s::uuid AND NOT EXISTS (
    SELECT FROM derivations d CROSS JOIN LATERAL (SELECT expires_at FROM memories m WHERE m.id = d.source_id OFFSET 0) m
    WHERE d.memory_id = crystal_facts.id AND m.expires_at <= %(now)s)
ORDER BY id LIMIT %(limit)s

-- get_fact: one fact
SELECT id::text, content, source_node_ids, confidence, created_at, updated_at, metadata FROM crystal_facts
WHERE ns = %s AND id = %s

-- facts_of: the current facts that memories belong to
SELECT DISTINCT ON (d.source_id) d.source_id::text, d.memory_id::text
FROM derivations d JOIN crystal_facts f ON f.id = d.memory_id AND NOT f.metadata ? 'superseded_by'
    AND NOT f.metadata ? 'quarantined'
WHERE d.ns = %s AND d.origin IN ('crystal', 'heir') AND d.source_id = ANY (%s::uuid[])
ORDER BY d.source_id, d.memory_id

-- sources_of: the sources of memories
SELECT memory_id::text, source_id::text, origin FROM derivations
WHERE ns = %s AND memory_id = ANY (%s::uuid[]) ORDER BY memory_id, source_id, origin

-- unlinked: replacements whose links were not taken over yet
SELECT memory_id::text AS kept, array_agg(source_id::text ORDER BY source_id) AS replaced FROM derivations
WHERE ns = %s AND NOT linked GROUP BY memory_id ORDER BY memory_id LIMIT %s

-- linked: mark the links of replaced memories as taken over
UPDATE derivations SET linked = true
WHERE ns = %(ns)s AND memory_id = %(kept)s AND source_id = ANY (%(ids)s::uuid[]) AND NOT linked

-- scope_page: scopes that have memories
SELECT tenant, usr, project FROM scopes WHERE ns > %s AND write_seq > 0 ORDER BY ns LIMIT %s
