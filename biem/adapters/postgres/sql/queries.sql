-- Every statement of the service. Parameters are psycopg's; identifiers are never formatted from input.

-- node: the columns a Node is made of, in the order of adapters/postgres/records.py
m.id::text, m.ns, m.text, m.kind, m.status, m.layer, m.tags, m.reason, m.importance, m.source, m.speaker,
m.conversation, m.at, m.created_at, m.ref, m.metadata, m.language, m.fields, m.entities, m.sentiment, m.write_seq,
m.energy_anchor, m.anchor_at, m.access_count, m.useful_count, m.accessed_at, m.evidence_sha, m.tier, m.valid_from,
m.valid_to, m.superseded_by::text, m.archived_at, m.archive_reason, m.initial_energy, m.lexemes

-- where: a caller's conditions on memories m; a null means any
(%(kinds)s::text[] IS NULL OR m.kind = ANY (%(kinds)s))
AND (%(speakers)s::text[] IS NULL OR m.speaker = ANY (%(speakers)s))
AND (%(conversations)s::text[] IS NULL OR m.conversation = ANY (%(conversations)s))
AND (%(not_conversations)s::text[] IS NULL OR m.conversation <> ALL (%(not_conversations)s))
AND (%(not_ids)s::uuid[] IS NULL OR m.id <> ALL (%(not_ids)s))
AND m.tags @> %(tags)s
AND (%(since)s::timestamptz IS NULL OR m.at >= %(since)s)
AND (%(until)s::timestamptz IS NULL OR m.at < %(until)s)
AND (%(as_of)s::timestamptz IS NULL
    OR m.valid_from <= %(as_of)s AND (m.kind = 'event' OR m.valid_to IS NULL OR m.valid_to > %(as_of)s))
AND (%(min_energy)s::double precision IS NULL
    OR energy_at(m.energy_anchor, m.anchor_at, %(now)s, %(decay)s) >= %(min_energy)s)
AND (%(min_sentiment)s::real IS NULL OR m.sentiment >= %(min_sentiment)s::real)
AND (%(max_sentiment)s::real IS NULL OR m.sentiment <= %(max_sentiment)s::real)

-- see_scopes: which scopes this transaction may touch, comma-separated ('*' for maintenance)
SELECT set_config('biem.ns', %s, true)

-- ensure_scope: make a scope known
INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING

-- lock_scope: one writer a scope at a time, so that the write sequence has no gaps and identity no races
SELECT 1 FROM scopes WHERE ns = %s FOR NO KEY UPDATE

-- remember: one memory with its sequence number, original and job; no row when it is there already
WITH seq AS (
    UPDATE scopes SET write_seq = write_seq + 1
    WHERE ns = %(ns)s AND NOT EXISTS (
        SELECT FROM memories WHERE id = %(id)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND ref = %(ref)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND fact_key = %(fact_key)s AND superseded_by IS NULL)
    RETURNING write_seq
), memory AS (
    INSERT INTO memories (id, ns, ref, fact_key, text, evidence_sha, embed_sha, kind, layer, tags, reason, importance,
        source, speaker, conversation, at, created_at, metadata, lexemes, write_seq, initial_energy, energy_anchor, anchor_at,
        valid_from, due_at)
    SELECT %(id)s, %(ns)s, %(ref)s, %(fact_key)s, %(text)s, %(evidence_sha)s, %(embed_sha)s, %(kind)s, %(layer)s,
        %(tags)s, %(reason)s, %(importance)s, %(source)s, %(speaker)s, %(conversation)s, %(at)s, %(now)s, %(metadata)s,
        %(lexemes)s, write_seq, %(energy)s, %(energy)s, %(now)s, %(at)s, %(due_at)s
    FROM seq
    RETURNING id, ns
), original AS (
    INSERT INTO evidence (ns, sha256, text) SELECT ns, %(evidence_sha)s, %(text)s FROM memory ON CONFLICT DO NOTHING
), job AS (
    INSERT INTO outbox (task, memory_id, ns) SELECT 'encode', id, ns FROM memory
)
SELECT id::text FROM memory

-- find_same: the memory that a refused write already is
SELECT id::text, text, status = 'archived' FROM memories
WHERE id = %(id)s OR (ns = %(ns)s AND (ref = %(ref)s OR fact_key = %(fact_key)s AND superseded_by IS NULL))
ORDER BY ref IS NOT DISTINCT FROM %(ref)s DESC LIMIT 1

-- candidates: live rows of given ids, and rows not in our vector index that share a word with the query
SELECT {node}, e.text, m.status = 'pending' OR m.model <> %(model)s
FROM memories m
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.id IN ( -- else the planner may read a whole scope by its name
        SELECT unnest(%(ids)s::uuid[])
        UNION ALL
        (SELECT pending.id FROM pending_memories(%(scopes)s, %(here)s::tsquery, %(words)s::tsquery, %(each_word)s::tsquery[],
            %(pending_limit)s, %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
            %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real) pending
         WHERE %(words)s::tsquery IS NOT NULL AND %(pending_limit)s > 0)
        UNION ALL -- what a process with another model indexed is not in our collection; two ranges, for the index
        (SELECT m.id FROM memories m
         WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model < %(model)s
            AND m.tsv @@ %(words)s::tsquery AND {where}
         ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s)
        UNION ALL
        (SELECT m.id FROM memories m
         WHERE m.ns = ANY (%(scopes)s) AND m.status = 'active' AND m.model > %(model)s
            AND m.tsv @@ %(words)s::tsquery AND {where}
         ORDER BY ts_rank(m.tsv, %(words)s::tsquery, 1) DESC, m.write_seq DESC LIMIT %(pending_limit)s))
    AND m.status <> 'archived' AND {where}

-- unindexed: how many memories of these scopes wait to be indexed, as far as it is worth counting
SELECT count(*) FROM (
    SELECT FROM memories WHERE ns = ANY (%(scopes)s) AND status = 'pending' LIMIT %(most)s) waiting

-- live: live rows of given ids; what `candidates` gives for a query without words
SELECT {node}, e.text, m.status = 'pending' OR m.model <> %(model)s
FROM memories m
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.id = ANY (%(ids)s::uuid[]) AND m.status <> 'archived' AND {where}

-- text_search: the search by words that answers while the vector index cannot
SELECT id::text, lexemes
FROM matching_memories(%(scopes)s, %(words)s::tsquery, %(most)s,
    %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
    %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real)

-- get: one memory of one scope, whatever its status
SELECT {node} FROM memories m WHERE m.ns = %s AND m.id = %s

-- touch: count an access, give the boost once a cooldown, and let rise what became hot or was used often enough
WITH before AS MATERIALIZED (
    SELECT id, tier, boosted_at IS NULL OR boosted_at <= %(at)s - make_interval(secs => %(cooldown_s)s) AS boosts,
        energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) AS energy
    FROM memories WHERE ns = ANY (%(scopes)s) AND id = ANY (%(ids)s::uuid[]) AND status <> 'archived'
    ORDER BY id FOR NO KEY UPDATE -- in one order, so that two recalls do not wait for each other
)
UPDATE memories m
SET access_count = access_count + 1, accessed_at = greatest(accessed_at, %(at)s),
    energy_anchor = CASE WHEN boosts THEN least(1, energy + %(boost)s) ELSE energy_anchor END,
    anchor_at = CASE WHEN boosts THEN greatest(anchor_at, %(at)s) ELSE anchor_at END,
    boosted_at = CASE WHEN boosts THEN greatest(boosted_at, %(at)s) ELSE boosted_at END,
    tier = CASE WHEN status = 'active' AND energy + CASE WHEN boosts THEN %(boost)s ELSE 0 END >= %(promote)s
        THEN 'L1' ELSE m.tier END,
    layer = CASE WHEN layer = 'short_term' AND access_count + 1 >= %(accesses)s THEN 'long_term' ELSE layer END
FROM before WHERE m.id = before.id
RETURNING m.id::text, m.ns, m.energy_anchor, m.anchor_at, m.accessed_at, m.tier, before.tier

-- claim_fresh: lease jobs that were never tried, oldest first
WITH due AS (
    SELECT id FROM outbox WHERE dead_at IS NULL AND attempts = 0 AND due_at <= clock_timestamp()
    ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET attempts = 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE o.id = ANY (ARRAY(SELECT id FROM due)) -- a join would be planned for a tenth of the outbox, and read all of it
RETURNING o.id, o.task, o.memory_id::text, o.ns, o.attempts, o.claims

-- claim_retried: lease one job that was tried before; alone, so that a poison row cannot take others down with it
WITH due AS (
    SELECT id FROM outbox WHERE dead_at IS NULL AND attempts > 0 AND due_at <= clock_timestamp()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE outbox o
SET attempts = attempts + 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE o.id = ANY (ARRAY(SELECT id FROM due)) -- a join would be planned for a tenth of the outbox, and read all of it
RETURNING o.id, o.task, o.memory_id::text, o.ns, o.attempts, o.claims

-- renew: prolong the leases that are still held
UPDATE outbox o SET due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM unnest(%(keys)s::bigint[], %(claims)s::integer[]) AS held (id, claims)
WHERE o.id = held.id AND o.claims = held.claims AND o.dead_at IS NULL
RETURNING o.id

-- job_nodes: the memories of leased jobs with the names of their scopes
SELECT {node}, s.tenant, s.usr, s.project FROM memories m JOIN scopes s USING (ns) WHERE m.id = ANY (%s::uuid[])

-- complete: memories become active with what encoding learned
UPDATE memories m
SET status = 'active', model = %(model)s, language = r.language, fields = r.fields, entities = r.entities,
    sentiment = r.sentiment,
    tier = CASE WHEN energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) >= %(enter)s THEN 'L1' ELSE 'L2' END
FROM jsonb_to_recordset(%(learned)s) AS r (id uuid, language text, fields jsonb, entities text[], sentiment real)
WHERE m.id = r.id AND m.status = 'pending'
RETURNING m.id::text, m.tier

-- existing: which of these ids are memories
SELECT id::text FROM memories WHERE id = ANY (%s::uuid[])

-- done: jobs that are finished
DELETE FROM outbox WHERE id = ANY (%s) RETURNING id

-- release: jobs that wait for another time
UPDATE outbox SET due_at = clock_timestamp() + make_interval(secs => %(delay_s)s), last_error = %(reason)s,
    attempts = greatest(0, attempts - %(refund)s)
WHERE id = ANY (%(keys)s)

-- bury: jobs that failed too often
UPDATE outbox SET dead_at = clock_timestamp(), last_error = %s WHERE id = ANY (%s)

-- dead: the dead letters
SELECT o.memory_id::text, s.tenant, s.usr, s.project, o.attempts, o.last_error, o.dead_at
FROM outbox o JOIN scopes s USING (ns)
WHERE o.dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR o.ns = %(ns)s)
ORDER BY o.id LIMIT %(limit)s

-- retry_dead: dead letters get a fresh start
UPDATE outbox SET dead_at = NULL, attempts = 0, due_at = clock_timestamp()
WHERE dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR ns = %(ns)s)

-- backlog: jobs neither done nor dead; purge jobs wait by design and do not count
SELECT count(*) FROM outbox
WHERE dead_at IS NULL AND task = 'encode' AND (%(ns)s::text IS NULL OR ns = %(ns)s)
    AND (NOT %(due_only)s OR due_at <= clock_timestamp())

-- waiting: memories that are still to be encoded, and what keeps them
SELECT memory_id::text, claims > 0, dead_at IS NOT NULL, last_error FROM outbox
WHERE memory_id = ANY (%s::uuid[]) AND task = 'encode' ORDER BY id

-- load_vectors: the persistent embedding cache
SELECT sha256, vector FROM embeddings WHERE model = %s AND sha256 = ANY (%s)

-- save_vectors: add to the persistent embedding cache what a memory needs; the lock makes an erasure wait, or us see it
INSERT INTO embeddings (model, sha256, vector)
SELECT %s, sha, vec FROM unnest(%s::bytea[], %s::bytea[]) AS v (sha, vec)
WHERE EXISTS (SELECT FROM memories m WHERE m.embed_sha = v.sha FOR KEY SHARE)
ON CONFLICT (model, sha256) DO UPDATE SET vector = EXCLUDED.vector -- one of another length is damaged
WHERE octet_length(embeddings.vector) <> octet_length(EXCLUDED.vector)

-- active_page: active memories after an id, with their vectors
SELECT {node}, s.tenant, s.usr, s.project, e.vector
FROM memories m JOIN scopes s USING (ns) LEFT JOIN embeddings e ON e.model = %(model)s AND e.sha256 = m.embed_sha
WHERE m.status = 'active' AND m.id > %(after)s ORDER BY m.id LIMIT %(limit)s

-- mark_indexed: this embedder's collection holds these memories
UPDATE memories m SET model = mine.model FROM (SELECT %s::text AS model) AS mine
WHERE m.id = ANY (%s::uuid[]) AND m.status = 'active' AND m.model IS DISTINCT FROM mine.model

-- erase_targets: what an erasure destroys, locked against workers
SELECT id::text, evidence_sha, embed_sha FROM memories
WHERE ns = %(ns)s AND (%(ids)s::uuid[] IS NULL OR id = ANY (%(ids)s::uuid[])) ORDER BY id FOR UPDATE

-- erase_originals: originals that no other memory of the scope has
DELETE FROM evidence e
WHERE e.ns = %(ns)s AND e.sha256 = ANY (%(originals)s)
    AND NOT EXISTS (SELECT FROM memories o WHERE o.ns = %(ns)s AND o.evidence_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))

-- erase_vectors: cached vectors that no other memory of any scope has
DELETE FROM embeddings e
WHERE e.sha256 = ANY (%(vectors)s)
    AND NOT EXISTS (SELECT FROM memories o WHERE o.embed_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))

-- erase_links: links from and to the erased
DELETE FROM crystal_links
WHERE ns = %(ns)s AND (%(all)s OR source_id = ANY (%(ids)s::text[]) OR target_id = ANY (%(ids)s::text[]))

-- erase_facts: facts distilled from the erased
DELETE FROM crystal_facts WHERE ns = %(ns)s AND (%(all)s OR source_node_ids && %(ids)s::text[])

-- erase_jobs: jobs of the erased
DELETE FROM outbox WHERE memory_id = ANY (%(ids)s::uuid[])

-- erase_successors: nothing points to the erased any more; a fact may have been said again meanwhile
UPDATE memories SET superseded_by = NULL, valid_to = NULL, fact_key = NULL
WHERE ns = %(ns)s AND superseded_by = ANY (%(ids)s::uuid[]) AND id <> ALL (%(ids)s::uuid[])

-- erase_memories: the memories themselves
DELETE FROM memories WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[])

-- erase_scope: the names of a scope that has no memories left
DELETE FROM scopes WHERE ns = %(ns)s AND NOT EXISTS (SELECT FROM memories WHERE ns = %(ns)s)

-- erase_purge: look once more for vectors that a worker may have been writing meanwhile, and again and again after that
WITH marked AS (
    INSERT INTO tombstones (memory_id, ns, erased_at, look_at)
    SELECT id, ns, clock_timestamp(), clock_timestamp() + interval '5 minutes'
    FROM memories WHERE id = ANY (%(ids)s::uuid[])
    ON CONFLICT DO NOTHING
)
INSERT INTO outbox (task, memory_id, ns, due_at)
SELECT 'purge', id, ns, clock_timestamp() + make_interval(secs => %(after_s)s)
FROM memories WHERE id = ANY (%(ids)s::uuid[])

-- erase_remains: rows left of an erased target, by table; what other memories share does not count
SELECT
    (SELECT count(*) FROM memories WHERE id = ANY (%(ids)s::uuid[])),
    (SELECT count(*) FROM evidence e WHERE e.ns = %(ns)s AND e.sha256 = ANY (%(originals)s)
        AND NOT EXISTS (SELECT FROM memories o WHERE o.ns = %(ns)s AND o.evidence_sha = e.sha256
            AND o.id <> ALL (%(ids)s::uuid[]))),
    (SELECT count(*) FROM embeddings e WHERE e.sha256 = ANY (%(vectors)s)
        AND NOT EXISTS (SELECT FROM memories o WHERE o.embed_sha = e.sha256 AND o.id <> ALL (%(ids)s::uuid[]))),
    (SELECT count(*) FROM crystal_links
        WHERE ns = %(ns)s AND (%(all)s OR source_id = ANY (%(ids)s::text[]) OR target_id = ANY (%(ids)s::text[]))),
    (SELECT count(*) FROM crystal_facts WHERE ns = %(ns)s AND (%(all)s OR source_node_ids && %(ids)s::text[])),
    (SELECT count(*) FROM outbox WHERE task = 'encode' AND memory_id = ANY (%(ids)s::uuid[])),
    (SELECT count(*) FROM conflicts
        WHERE ns = %(ns)s AND (%(all)s OR older_id = ANY (%(ids)s::uuid[]) OR newer_id = ANY (%(ids)s::uuid[]))),
    (SELECT count(*) FROM concept_items i WHERE i.ns = %(ns)s AND (%(all)s OR EXISTS (
        SELECT FROM concept_sources s WHERE s.item_id = i.id AND s.memory_id = ANY (%(ids)s::uuid[])))),
    (SELECT count(*) FROM instant_memories WHERE ns = %(ns)s AND (%(all)s OR memory_id = ANY (%(ids)s::uuid[])))

-- save_receipt: the proof of an erasure
INSERT INTO erasures (id, ns, erased_at, receipt) VALUES (%s, %s, %s, %s)

-- stats: how much there is, of one scope or of all
SELECT
    (SELECT count(*) FROM memories WHERE %(ns)s::text IS NULL OR ns = %(ns)s),
    (SELECT count(*) FROM memories WHERE status = 'active' AND (%(ns)s::text IS NULL OR ns = %(ns)s)),
    (SELECT count(*) FROM memories WHERE status = 'pending' AND (%(ns)s::text IS NULL OR ns = %(ns)s)),
    (SELECT count(*) FROM memories WHERE status = 'archived' AND (%(ns)s::text IS NULL OR ns = %(ns)s)),
    (SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR ns = %(ns)s)),
    (SELECT count(*) FROM embeddings),
    (SELECT count(*) FROM scopes)
