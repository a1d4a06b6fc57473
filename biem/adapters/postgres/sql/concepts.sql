-- Statements of the concept memory; parameters as in records.sql.
-- `(…) IS TRUE` keeps a condition from choosing the index: plans are made once, maybe of empty tables, and must look up
-- what they are given and not walk through a scope.

-- concept_progress_begin: start the progress of a new scope; nothing for an erased one
INSERT INTO concept_progress (ns) SELECT ns FROM scopes WHERE ns = %(ns)s ON CONFLICT DO NOTHING

-- concept_progress: the progress of sorting into snippets, locked against concurrent runs
SELECT seq FROM concept_progress WHERE ns = %(ns)s FOR UPDATE

-- concept_progress_save: memories up to here are in snippets
UPDATE concept_progress SET seq = %(seq)s WHERE ns = %(ns)s

-- concept_built: how many snippets were built from
SELECT built FROM concept_progress WHERE ns = %(ns)s

-- concept_unread: memories not in snippets yet, without their texts
SELECT id::text, write_seq AS seq, '' AS text, speaker, conversation, kind, at, created_at AS received_at, trust
FROM memories WHERE ns = %(ns)s AND write_seq > %(seq)s ORDER BY write_seq LIMIT %(limit)s

-- concept_running: the last snippet of each conversation, unless it was built from
SELECT s.first_seq, s.last_seq, s.messages, s.conversation, s.spoken, s.started_at, s.ended_at, s.received_at, s.times
FROM unnest(%(conversations)s::text[]) AS wanted (conversation), LATERAL (
    SELECT * FROM concept_snippets s WHERE s.ns = %(ns)s AND s.conversation = wanted.conversation
    ORDER BY s.first_seq DESC LIMIT 1
) s
WHERE s.times = 0

-- concept_snippet_save: a snippet that begins or grew
INSERT INTO concept_snippets (ns, first_seq, last_seq, messages, conversation, spoken, started_at, ended_at, received_at)
VALUES (%(ns)s, %(first_seq)s, %(last_seq)s, %(messages)s, %(conversation)s, %(spoken)s, %(started_at)s, %(ended_at)s,
    %(received_at)s)
ON CONFLICT (ns, first_seq) DO UPDATE SET last_seq = excluded.last_seq, messages = excluded.messages,
    started_at = excluded.started_at, ended_at = excluded.ended_at, received_at = excluded.received_at

-- concept_nearest: the ready snippet whose end is nearest to an instant
SELECT first_seq, last_seq, messages, conversation, spoken, started_at, ended_at, received_at, times FROM (
    (SELECT * FROM concept_snippets
     WHERE ns = %(ns)s AND ended_at <= %(at)s AND first_seq <> ALL (%(without)s::bigint[])
        AND (NOT spoken OR messages >= %(length)s OR least(ended_at, received_at) <= %(quiet_since)s)
     ORDER BY ended_at DESC, first_seq LIMIT 1)
    UNION ALL
    (SELECT * FROM concept_snippets
     WHERE ns = %(ns)s AND ended_at > %(at)s AND first_seq <> ALL (%(without)s::bigint[])
        AND (NOT spoken OR messages >= %(length)s OR least(ended_at, received_at) <= %(quiet_since)s)
     ORDER BY ended_at, first_seq LIMIT 1)
) near
ORDER BY abs(extract(epoch FROM ended_at - %(at)s)), first_seq LIMIT 1

-- concept_messages: the memories of a snippet that are neither archived nor untrusted, in the order they were written
SELECT id::text, write_seq AS seq, text, speaker, conversation, kind, at, created_at AS received_at
FROM memories
WHERE ns = %(ns)s AND write_seq BETWEEN %(first_seq)s AND %(last_seq)s AND status <> 'archived' AND trust > 0
    AND (expires_at IS NULL OR expires_at > %(now)s)
    AND (kind = 'event' AND conversation <> '') = %(spoken)s AND (NOT %(spoken)s OR conversation = %(conversation)s)
ORDER BY write_seq

-- concept_used: a snippet was built from once more; nothing if it grew or was built from meanwhile
WITH used AS (
    UPDATE concept_snippets SET times = times + 1
    WHERE ns = %(ns)s AND first_seq = %(first_seq)s AND last_seq = %(last_seq)s AND times = %(times)s
    RETURNING ns
)
UPDATE concept_progress p SET built = built + 1 FROM used WHERE p.ns = used.ns

-- concept_used_up: a snippet that may not be built from again
DELETE FROM concept_snippets WHERE ns = %(ns)s AND first_seq = %(first_seq)s AND times >= %(uses)s

-- concept_living: which memories exist, are not in quarantine and were not revised since an instant (null: ever), locked
-- until the end of the transaction
SELECT id::text FROM memories
WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND archive_reason NOT LIKE 'quarantine:%%'
    AND (%(read_at)s::timestamptz IS NULL OR revised_at IS NULL OR revised_at <= %(read_at)s) ORDER BY id FOR KEY SHARE

-- concept_add: insert concepts; an empty one is marked as non-empty again, others are only locked
INSERT INTO concepts (id, ns, name, created_at)
SELECT id, %(ns)s, name, %(at)s FROM unnest(%(ids)s::uuid[], %(names)s::text[]) AS c (id, name) ORDER BY id
ON CONFLICT (id) DO UPDATE SET empty = false WHERE concepts.empty

-- concept_terms_add: the terms of the names
INSERT INTO concept_terms (ns, term, concept_id)
SELECT %(ns)s, term, id FROM unnest(%(terms)s::text[], %(owners)s::uuid[]) AS t (term, id) ORDER BY id, term
ON CONFLICT DO NOTHING

-- concept_items_add: insert items; returns the ids of new ones
INSERT INTO concept_items (id, ns, concept_id, text, strength, touched_at, fades_at, model, vector, created_at)
SELECT i.id, %(ns)s, i.concept_id, i.text, %(strength)s, %(at)s,
    %(at)s::timestamptz + make_interval(secs => %(strength)s * %(idle_s)s),
    CASE WHEN i.vector IS NULL THEN '' ELSE %(model)s END, i.vector, %(at)s
FROM unnest(%(items)s::uuid[], %(concepts)s::uuid[], %(texts)s::text[], %(vectors)s::bytea[])
    AS i (id, concept_id, text, vector)
ORDER BY i.id
ON CONFLICT (id) DO NOTHING
RETURNING id::text

-- concept_sources_add: insert sources; returns the items with a new source
INSERT INTO concept_sources (item_id, memory_id, ns)
SELECT item, memory, %(ns)s FROM unnest(%(items)s::uuid[], %(memories)s::uuid[]) AS s (item, memory) ORDER BY item, memory
ON CONFLICT DO NOTHING
RETURNING item_id::text AS id

-- concept_items_repeat: strengthen repeated items and restart their idle period
UPDATE concept_items i
SET strength = n.strength, touched_at = %(at)s,
    fades_at = %(at)s::timestamptz + make_interval(secs => n.strength * %(idle_s)s)
FROM (
    SELECT id, least(%(most)s, greatest(strength, strength + %(add)s)) AS strength
    FROM concept_items WHERE id = ANY (%(ids)s::uuid[]) AND (ns = %(ns)s) IS TRUE ORDER BY id FOR UPDATE
) n
WHERE i.id = n.id

-- concept_find: which of these concepts exist, and their numbers of items; one by one, because without statistics an older
-- PostgreSQL would scan the whole scope
SELECT c.id::text, c.ns, c.name,
    (SELECT count(*) FROM concept_items i
     WHERE i.concept_id = c.id AND (i.fades_at > %(at)s) IS TRUE) AS items
FROM (SELECT DISTINCT unnest(%(ids)s::uuid[])) AS wanted (id), LATERAL (
    SELECT one.id, one.ns, one.name FROM concepts one WHERE one.id = wanted.id AND one.ns = ANY (%(scopes)s) LIMIT 1
) c

-- concept_similar: concepts that share most terms with a name; examines a limited number for each term
SELECT c.id::text, c.ns, c.name, 0 AS items FROM (
    SELECT p.concept_id, count(*) AS shared
    FROM unnest(%(terms)s::text[]) AS t (term), LATERAL (
        SELECT concept_id FROM concept_terms WHERE ns = %(ns)s AND term = t.term LIMIT %(postings)s
    ) p
    GROUP BY p.concept_id ORDER BY shared DESC, p.concept_id LIMIT %(limit)s
) best JOIN concepts c ON c.id = best.concept_id
ORDER BY best.shared DESC, c.id

-- concept_items_of: the strongest items of concepts that have not faded and of which one memory at least is not archived
SELECT i.id::text, i.concept_id::text AS concept, i.text,
    (SELECT array_agg(memory_id::text ORDER BY memory_id) FROM concept_sources s WHERE s.item_id = i.id) AS sources,
    i.strength - floor(greatest(0, extract(epoch FROM %(at)s - i.touched_at)) / %(idle_s)s)::integer AS strength,
    CASE WHEN i.model = %(model)s THEN i.vector END AS vector
FROM unnest(%(ids)s::uuid[]) AS wanted (id), LATERAL (
    SELECT * FROM concept_items i
    WHERE i.concept_id = wanted.id AND (i.ns = ANY (%(scopes)s)) IS TRUE AND (i.fades_at > %(at)s) IS TRUE AND EXISTS (
        SELECT FROM concept_sources s -- a separate subquery, or a plan made for empty tables would read all memories
        WHERE s.item_id = i.id AND (SELECT m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(at)s)
            FROM memories m WHERE m.id = s.memory_id))
    ORDER BY i.fades_at DESC, i.id LIMIT %(limit)s
) i
ORDER BY i.concept_id, i.fades_at DESC, i.id

-- concept_access: record accesses of concepts; their idle period restarts
UPDATE concepts SET accessed_at = %(at)s
WHERE ns = ANY (%(scopes)s) AND id = ANY (%(ids)s::uuid[])
    AND (accessed_at IS NULL OR accessed_at < %(at)s::timestamptz - make_interval(secs => %(cooldown_s)s))

-- concept_access_items: restore the full strength of accessed items
UPDATE concept_items i
SET accessed_at = %(at)s, touched_at = %(at)s,
    fades_at = %(at)s::timestamptz + make_interval(secs => i.strength * %(idle_s)s)
FROM (
    SELECT id FROM concept_items
    WHERE id = ANY (%(ids)s::uuid[]) AND (ns = ANY (%(scopes)s) AND fades_at > %(at)s) IS TRUE
        AND touched_at < %(at)s::timestamptz - make_interval(secs => %(cooldown_s)s)
    ORDER BY id FOR UPDATE
) n
WHERE i.id = n.id

-- concept_pick: concepts from an id on that have several items
SELECT concept_id::text AS id FROM (
    SELECT concept_id FROM concept_items WHERE ns = %(ns)s AND concept_id >= %(point)s ORDER BY concept_id LIMIT %(scan)s
) near
GROUP BY concept_id HAVING count(*) > 1 ORDER BY concept_id LIMIT %(limit)s

-- concept_items_lock: the strength of items of one concept, locked
SELECT id::text, strength
FROM concept_items WHERE id = ANY (%(ids)s::uuid[]) AND (ns = %(ns)s AND concept_id = %(concept)s) IS TRUE ORDER BY id FOR UPDATE

-- concept_sources: the sources of items
SELECT DISTINCT memory_id::text AS id FROM concept_sources WHERE ns = %(ns)s AND item_id = ANY (%(ids)s::uuid[])

-- concept_sources_unite: add the sources of other items to one item
INSERT INTO concept_sources (item_id, memory_id, ns)
SELECT %(item)s, memory_id, ns FROM concept_sources WHERE item_id = ANY (%(ids)s::uuid[])
ON CONFLICT DO NOTHING

-- concept_items_drop: items that another one stands for
DELETE FROM concept_items WHERE id = ANY (%(ids)s::uuid[]) AND (ns = %(ns)s) IS TRUE AND id <> %(item)s

-- concept_faded: items whose strength has reached 0, with their concepts
SELECT id::text, concept_id::text AS concept FROM concept_items WHERE ns = %(ns)s AND fades_at <= %(at)s
ORDER BY fades_at, id LIMIT %(limit)s

-- concept_fade: remove them, unless they were touched meanwhile
DELETE FROM concept_items WHERE id = ANY (%(items)s::uuid[]) AND (ns = %(ns)s AND fades_at <= %(at)s) IS TRUE

-- concept_empty: concepts that have no items left
UPDATE concepts c SET empty = true
WHERE c.ns = %(ns)s AND c.id = ANY (%(ids)s::uuid[])
    AND NOT EXISTS (SELECT FROM concept_items i WHERE i.concept_id = c.id)

-- concept_lock: concepts locked in one order, and before their items, so that two transactions never wait for each other
SELECT id FROM concepts WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) ORDER BY id FOR UPDATE

-- concept_vanishing: empty concepts that no longer meet any other
SELECT c.id::text FROM concepts c
WHERE c.ns = %(ns)s AND c.empty
    AND NOT EXISTS (SELECT FROM crystal_links l WHERE l.source_id = c.id::text AND l.link_type = 'cooccurrence' AND NOT l.deleted)
    AND NOT EXISTS (SELECT FROM crystal_links l WHERE l.target_id = c.id::text AND l.link_type = 'cooccurrence' AND NOT l.deleted)
ORDER BY c.id LIMIT %(limit)s

-- concept_vanish: concepts that are empty still
DELETE FROM concepts WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND empty

-- concept_memories: memories that are there and not in quarantine, and whether they are not archived and have not expired
SELECT id::text, status <> 'archived' AND (expires_at IS NULL OR expires_at > %(now)s) AS live FROM memories
WHERE ns = ANY (%(scopes)s) AND id = ANY (%(ids)s::uuid[]) AND archive_reason NOT LIKE 'quarantine:%%'

-- concept_counts: how much there is of a scope, by table
SELECT
    (SELECT count(*) FROM concepts WHERE ns = %(ns)s) AS concepts,
    (SELECT count(*) FROM concept_items WHERE ns = %(ns)s) AS items,
    (SELECT count(*) FROM instant_memories WHERE ns = %(ns)s) AS instant

-- instant_add: notes of messages that are still there, once
INSERT INTO instant_memories (id, ns, memory_id, conversation, text, keywords, created_at)
SELECT n.id, m.ns, m.id, m.conversation, n.text, n.keywords, n.at
FROM jsonb_to_recordset(%(notes)s) AS n (id uuid, memory_id uuid, text text, keywords text[], at timestamptz,
    revision integer)
JOIN memories m ON m.id = n.memory_id AND m.revision = n.revision
WHERE m.ns = %(ns)s AND m.status <> 'archived'
ORDER BY m.id
ON CONFLICT (memory_id) DO NOTHING

-- instant_view: the newest notes of a conversation, counted as viewed
WITH seen AS (
    SELECT n.id FROM instant_memories n JOIN memories m ON m.id = n.memory_id
    WHERE n.ns = %(ns)s AND n.conversation = %(conversation)s AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(at)s)
    ORDER BY n.created_at DESC, n.id DESC LIMIT %(limit)s
)
UPDATE instant_memories n SET viewed_at = %(at)s FROM seen WHERE n.id = seen.id
RETURNING n.id::text, n.memory_id::text, n.conversation, n.text, n.keywords, n.created_at, n.viewed_at

-- instant_due: notes not built into concepts yet
SELECT n.id::text, n.memory_id::text, n.conversation, n.text, n.keywords, n.created_at, n.viewed_at
FROM instant_memories n
WHERE n.ns = %(ns)s AND n.built_at IS NULL AND n.created_at <= %(before)s ORDER BY n.created_at, n.id LIMIT %(limit)s

-- instant_built: these notes are in the concepts
UPDATE instant_memories SET built_at = %(at)s WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND built_at IS NULL

-- instant_forget: notes that have had their time
DELETE FROM instant_memories WHERE id IN (
    SELECT id FROM instant_memories WHERE ns = %(ns)s AND created_at <= %(before)s AND built_at IS NOT NULL
    ORDER BY created_at LIMIT %(limit)s)
