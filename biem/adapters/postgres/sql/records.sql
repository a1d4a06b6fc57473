-- Writing and reading memories. Parameters are psycopg's; identifiers are never formatted from input.

-- remember: one memory with its sequence number, original and job; no row when it exists already
WITH seq AS (
    UPDATE scopes SET write_seq = write_seq + 1
    WHERE ns = %(ns)s AND NOT EXISTS (
        SELECT FROM memories WHERE id = %(id)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND ref = %(ref)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND fact_key = %(fact_key)s AND superseded_by IS NULL)
    RETURNING write_seq
), memory AS (
    {written}
    FROM seq
    RETURNING id, ns
), original AS (
    INSERT INTO evidence (ns, sha256, text) SELECT ns, %(evidence_sha)s, %(text)s FROM memory ON CONFLICT DO NOTHING
), job AS (
    INSERT INTO outbox (task, memory_id, ns) SELECT 'encode', id, ns FROM memory
)
SELECT id::text FROM memory

-- find_same: the existing memory of a refused write
SELECT id::text, text, status = 'archived' AS archived, expires_at, trust,
    archive_reason LIKE 'quarantine:%%' AS quarantined
FROM memories
WHERE id = %(id)s OR (ns = %(ns)s AND (ref = %(ref)s OR fact_key = %(fact_key)s AND superseded_by IS NULL))
ORDER BY ref IS NOT DISTINCT FROM %(ref)s DESC LIMIT 1

-- let_go: a memory without its ref and its key, which another one takes
UPDATE memories SET ref = NULL, fact_key = NULL WHERE ns = %(ns)s AND id = %(id)s

-- trust_more: the same was said by a more trusted speaker
UPDATE memories SET origin = %(origin)s, trust = %(trust)s WHERE ns = %(ns)s AND id = %(id)s

-- trust_first: the same was said by a trusted speaker, whose memory it is from now on; it is encoded again, because it
-- now may contradict others, and has links
WITH mine AS (
    UPDATE memories
    SET origin = %(origin)s, trust = %(trust)s, formed = true, kind = %(kind)s, layer = %(layer)s, tags = %(tags)s,
        reason = %(reason)s, importance = %(importance)s, source = %(source)s, at = %(said_at)s, valid_from = %(said_at)s,
        conversation = %(conversation)s, metadata = %(metadata)s, initial_energy = %(energy)s,
        energy_anchor = %(energy)s, anchor_at = %(now)s, due_at = %(due_at)s, expires_at = %(expires_at)s,
        on_expiry = %(on_expiry)s, valid_to = NULL, superseded_by = NULL
    WHERE ns = %(ns)s AND id = %(id)s
    RETURNING id, ns, status
)
INSERT INTO outbox (task, memory_id, ns, claims)
SELECT 'encode', id, ns, 1 FROM mine
WHERE status <> 'archived' AND NOT EXISTS (
    SELECT FROM outbox o WHERE o.memory_id = mine.id AND o.task = 'encode' AND o.attempts = 0)

-- find_former: a former text of a memory
SELECT revision FROM memory_revisions WHERE memory_id = %(id)s AND evidence_sha = %(evidence_sha)s AND ns = %(ns)s LIMIT 1

-- keep_longer: a memory that is written again expires when the last of its writes says; one that has expired begins anew
UPDATE memories SET expires_at = %(expires_at)s::timestamptz, on_expiry = %(on_expiry)s
WHERE ns = %(ns)s AND id = %(id)s
    AND (expires_at <= %(now)s OR %(expires_at)s::timestamptz IS NULL OR expires_at < %(expires_at)s::timestamptz)

-- candidates: live rows of given ids, and rows not in our vector index that share a word with the query
SELECT {node}, e.text AS evidence, m.status = 'pending' OR m.model <> %(model)s AS unindexed
FROM memories m
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.id IN ( -- else the planner may read a whole scope by its name
        SELECT unnest(%(ids)s::uuid[])
        UNION ALL
        (SELECT pending.id FROM pending_memories(%(scopes)s, %(here)s::tsquery, %(words)s::tsquery, %(each_word)s::tsquery[],
            %(pending_limit)s, %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
            %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real,
            %(metadata)s::jsonpath, %(min_trust)s::smallint) pending
         WHERE %(words)s::tsquery IS NOT NULL AND %(pending_limit)s > 0)
        UNION ALL -- memories indexed by another model are not in our collection; two ranges, for the index
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

-- live_then: of given ids, and of those that share a word with the query, the values that stood at `as_of`
SELECT {node}, e.text AS evidence, m.status = 'pending' OR m.model <> %(model)s AS unindexed
FROM standing_revisions(%(scopes)s, %(as_of)s) m
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.id = ANY (%(ids)s::uuid[]) OR string_to_array(m.lexemes, ' ') && %(lexemes)s::text[]) AND {where}

-- unindexed: how many memories of these scopes are not indexed, up to a limit
SELECT count(*) AS memories FROM (
    SELECT FROM memories WHERE ns = ANY (%(scopes)s) AND status = 'pending' LIMIT %(most)s) waiting

-- live: live rows of given ids; what `candidates` gives for a query without words
SELECT {node}, e.text AS evidence, m.status = 'pending' OR m.model <> %(model)s AS unindexed
FROM memories m
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.id = ANY (%(ids)s::uuid[]) AND m.status <> 'archived' AND {where}

-- text_search: search by words while the vector index is down
SELECT id::text, lexemes
FROM matching_memories(%(scopes)s, %(words)s::tsquery, %(most)s,
    %(kinds)s, %(speakers)s, %(conversations)s, %(tags)s, %(since)s, %(until)s, %(as_of)s,
    %(min_energy)s, %(now)s, %(decay)s, %(min_sentiment)s::real, %(max_sentiment)s::real,
            %(metadata)s::jsonpath, %(min_trust)s::smallint)

-- occasions: memories that may tell of the events of a period; OFFSET 0 as in the lists
SELECT {node}
FROM unnest(%(scopes)s::text[]) AS own (ns)
CROSS JOIN LATERAL (
    SELECT * FROM memories
    WHERE memories.ns = own.ns AND (status || '') <> '' AND at >= %(from)s::timestamptz AND at < %(to)s::timestamptz
    OFFSET 0
) m
WHERE (m.at >= %(first)s::timestamptz OR m.text ~* '\d|mon|tue|wed|thu|fri|sat|sun|week|month|day|night|morrow|jan|feb|mar|apr|may|june|july|aug|sep|oct|nov|dec|[周週]|星期|[礼禮]拜|[一二三四五六七八九十][月日号號]|月[初底末中]|天|明|[后後]|每|cancel|scrap|axed|no[- ]go|happen|ahead|through|off|moved|pushe?|postpone|after all| no |取消|泡[汤湯]|[黄黃没沒吹]了|作[废廢]|不|推|改|延|挪')
    AND m.status <> 'archived' AND m.trust > 0 AND (m.valid_to IS NULL OR m.valid_to > %(now)s) AND {where}
ORDER BY m.at DESC, m.write_seq DESC LIMIT %(limit)s

-- words_then: the words of what stood at `as_of` and was revised since
SELECT m.id::text, m.lexemes FROM standing_revisions(%(scopes)s, %(as_of)s) m
WHERE string_to_array(m.lexemes, ' ') && %(lexemes)s::text[] AND {where}

-- get: one memory of one scope, of any status, unless it is to be erased by now
SELECT {node} FROM memories m
WHERE m.ns = %(ns)s AND m.id = %(id)s AND (m.expires_at <= %(now)s AND m.on_expiry = 'erase') IS NOT TRUE

-- revised_since: memories by id or ref, of those that were revised
SELECT m.id::text, m.ref, m.text
FROM unnest(%(ids)s::uuid[]) AS given (id) CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = given.id OFFSET 0) m
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.revised_at IS NOT NULL AND m.status <> 'archived'
UNION ALL
SELECT m.id::text, m.ref, m.text FROM memories m
WHERE m.ns = ANY (%(scopes)s) AND m.ref = ANY (%(refs)s) AND m.revised_at IS NOT NULL AND m.status <> 'archived'

-- known_refs: those of these refs that name a memory, of any status
SELECT ref FROM memories WHERE ns = %s AND ref = ANY (%s)

-- touch: count an access, add the boost once per cooldown, and promote memories that became hot or were used often enough
WITH before AS MATERIALIZED (
    SELECT id, tier, boosted_at IS NULL OR boosted_at <= %(at)s - make_interval(secs => %(cooldown_s)s) AS boosts,
        energy_at(energy_anchor, anchor_at, %(at)s, %(decay)s) AS energy
    FROM memories WHERE ns = ANY (%(scopes)s) AND id = ANY (%(ids)s::uuid[]) AND status <> 'archived'
    ORDER BY id FOR NO KEY UPDATE -- in a fixed order, so that two recalls do not deadlock
)
UPDATE memories m
SET access_count = access_count + 1, accessed_at = greatest(accessed_at, %(at)s),
    energy_anchor = CASE WHEN boosts THEN least(1, energy + %(boost)s) ELSE energy_anchor END,
    anchor_at = CASE WHEN boosts THEN greatest(anchor_at, %(at)s) ELSE anchor_at END,
    boosted_at = CASE WHEN boosts THEN greatest(boosted_at, %(at)s) ELSE boosted_at END,
    tier = CASE WHEN status = 'active' AND trust > 0 AND energy + CASE WHEN boosts THEN %(boost)s ELSE 0 END >= %(promote)s
        THEN 'L1' ELSE m.tier END,
    layer = CASE WHEN layer = 'short_term' AND access_count + 1 >= %(accesses)s THEN 'long_term' ELSE layer END
FROM before WHERE m.id = before.id
RETURNING m.id::text, m.ns, m.energy_anchor, m.anchor_at, m.accessed_at AS touched_at, m.tier,
    before.tier AS tier_before

-- load_vectors: the persistent embedding cache
SELECT sha256, vector FROM embeddings WHERE model = %s AND sha256 = ANY (%s)

-- save_vectors: add a memory's vectors, also of former texts, to the persistent embedding cache; the lock orders it with
-- an erasure
INSERT INTO embeddings (model, sha256, vector, parts)
SELECT %s, sha, vec, parts FROM unnest(%s::bytea[], %s::bytea[], %s::bytea[]) AS v (sha, vec, parts)
WHERE EXISTS (SELECT FROM memories m WHERE m.embed_sha = v.sha FOR KEY SHARE)
    OR EXISTS (SELECT FROM memory_revisions r WHERE r.embed_sha = v.sha FOR KEY SHARE)
ON CONFLICT (model, sha256) DO UPDATE SET vector = EXCLUDED.vector, parts = EXCLUDED.parts
WHERE octet_length(embeddings.vector) <> octet_length(EXCLUDED.vector) -- one of another length is damaged
    OR (embeddings.parts IS NULL AND EXCLUDED.parts IS NOT NULL) -- older versions stored none

-- undivided: those of these texts that have a vector of the whole only
SELECT sha256 FROM embeddings WHERE model = %s AND sha256 = ANY (%s) AND parts IS NULL

-- active_page: active memories after an id, with their vectors
SELECT {node}, s.tenant, s.usr, s.project, e.vector
FROM memories m JOIN scopes s USING (ns) LEFT JOIN embeddings e ON e.model = %(model)s AND e.sha256 = m.embed_sha
WHERE m.status = 'active' AND m.id > %(after)s ORDER BY m.id LIMIT %(limit)s

-- mark_indexed: this embedder's collection holds these memories
UPDATE memories m SET model = mine.model FROM (SELECT %s::text AS model) AS mine
WHERE m.id = ANY (%s::uuid[]) AND m.status = 'active' AND m.model IS DISTINCT FROM mine.model

-- stats: counts of one scope or of all
SELECT
    (SELECT count(*) FROM memories WHERE %(ns)s::text IS NULL OR ns = %(ns)s) AS memories,
    (SELECT count(*) FROM memories WHERE status = 'active' AND (%(ns)s::text IS NULL OR ns = %(ns)s)) AS active,
    (SELECT count(*) FROM memories WHERE status = 'pending' AND (%(ns)s::text IS NULL OR ns = %(ns)s)) AS pending,
    (SELECT count(*) FROM memories WHERE status = 'archived' AND (%(ns)s::text IS NULL OR ns = %(ns)s)) AS archived,
    (SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL AND (%(ns)s::text IS NULL OR ns = %(ns)s)) AS dead_letters,
    (SELECT count(*) FROM embeddings) AS embeddings,
    (SELECT count(*) FROM scopes) AS scopes
