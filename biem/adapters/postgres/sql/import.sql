-- Lines of a file into a scope. Each statement runs after `lock_scope` in the same transaction, and adds only what is not
-- there: the same lines again change nothing.

-- import_there: memories that have the id, the ref or the fact of a line; those of other scopes by their id only
SELECT m.id::text, m.ns = %(ns)s AS here, encode(m.evidence_sha, 'hex') AS sha, m.kind, m.at, m.created_at, m.speaker,
    m.conversation, m.revision, m.ref, CASE WHEN m.superseded_by IS NULL THEN encode(m.fact_key, 'hex') END AS fact_key
FROM memories m
WHERE m.id = ANY (%(ids)s::uuid[])
    OR m.id IN (
        SELECT id FROM memories WHERE ns = %(ns)s AND ref = ANY (%(refs)s)
        UNION ALL
        SELECT id FROM memories WHERE ns = %(ns)s AND fact_key = ANY (%(fact_keys)s) AND superseded_by IS NULL)

-- import_memories: memories with their originals and jobs, in the order given; what was erased may come back, and the
-- removal of what it left in the vector index comes first
WITH given AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY place) AS n, count(*) FILTER (WHERE numbered) OVER (ORDER BY place) AS number
    FROM jsonb_to_recordset(%(rows)s) AS g (place integer, id uuid, ref text, fact_key text, text text, evidence_sha text,
        embed_sha text, kind text, layer text, tags text[], reason text, importance real, source text, speaker text,
        conversation text, at timestamptz, created_at timestamptz, metadata jsonb, origin text, trust smallint, status text,
        archived_at timestamptz, archive_reason text, valid_from timestamptz, valid_to timestamptz, superseded_by uuid,
        initial_energy float8, energy_anchor float8, anchor_at timestamptz, boosted_at timestamptz, access_count integer,
        useful_count integer, accessed_at timestamptz, useful_at timestamptz, formed boolean, numbered boolean,
        due_at timestamptz, expires_at timestamptz, on_expiry text, revision integer, revised_at timestamptz, lexemes text)
    WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = g.id)
), seq AS (
    UPDATE scopes SET write_seq = write_seq + (SELECT count(*) FROM given) WHERE ns = %(ns)s
    RETURNING write_seq - (SELECT count(*) FROM given) AS before
), mirror AS (
    UPDATE mirrors SET seq = seq + (SELECT count(*) FROM given WHERE numbered) WHERE ns = %(ns)s
    RETURNING seq - (SELECT count(*) FROM given WHERE numbered) AS before
), purged AS (
    -- another scope's `leave` stays: the caches of that scope still hold what was moved out of it
    DELETE FROM outbox o USING given g
    WHERE o.memory_id = g.id AND (o.task = 'purge' OR o.task = 'leave' AND o.ns = %(ns)s)
    RETURNING o.memory_id, o.claims
), risen AS (
    DELETE FROM tombstones t USING given g WHERE t.memory_id = g.id RETURNING t.memory_id
), accepted AS (
    DELETE FROM mirror_erased e USING given g WHERE e.memory_id = g.id
), stored AS (
    INSERT INTO memories (id, ns, ref, fact_key, text, evidence_sha, embed_sha, kind, layer, status, tier, tags, reason,
        importance, source, speaker, conversation, at, created_at, metadata, lexemes, write_seq, initial_energy, energy_anchor,
        anchor_at, boosted_at, access_count, useful_count, accessed_at, useful_at, due_at, archived_at, archive_reason,
        valid_from, valid_to, superseded_by, formed, mirror_seq, revision, revised_at, expires_at, on_expiry, origin, trust)
    SELECT g.id, %(ns)s, g.ref, decode(g.fact_key, 'hex'), g.text, decode(g.evidence_sha, 'hex'), decode(g.embed_sha, 'hex'),
        g.kind, g.layer, CASE WHEN g.status = 'archived' THEN 'archived' ELSE 'pending' END,
        CASE WHEN g.status = 'archived' THEN 'L3' ELSE 'L2' END, g.tags, g.reason, g.importance, g.source, g.speaker,
        g.conversation, g.at, g.created_at, g.metadata, g.lexemes, seq.before + g.n, g.initial_energy, g.energy_anchor,
        g.anchor_at, g.boosted_at, g.access_count, g.useful_count, g.accessed_at, g.useful_at, g.due_at, g.archived_at,
        g.archive_reason, g.valid_from, g.valid_to, g.superseded_by, g.formed,
        CASE WHEN g.numbered THEN mirror.before + g.number END, g.revision, g.revised_at, g.expires_at, g.on_expiry, g.origin,
        g.trust
    FROM given g, seq, mirror
    ON CONFLICT DO NOTHING -- another import was faster
    RETURNING id, ns, evidence_sha, text, status
), original AS (
    INSERT INTO evidence (ns, sha256, text)
    SELECT DISTINCT ON (evidence_sha) ns, evidence_sha, text FROM stored ON CONFLICT DO NOTHING
), job AS (
    INSERT INTO outbox (task, memory_id, ns, known, claims, due_at)
    SELECT 'encode', g.id, %(ns)s, g.status = 'active',
        CASE WHEN EXISTS (SELECT FROM purged p WHERE p.memory_id = g.id)
            OR EXISTS (SELECT FROM risen r WHERE r.memory_id = g.id) THEN 1 ELSE 0 END,
        clock_timestamp() + CASE WHEN EXISTS (SELECT FROM purged p WHERE p.memory_id = g.id AND p.claims > 0)
            THEN make_interval(secs => %(after_s)s) ELSE interval '0' END
    FROM given g JOIN stored s USING (id)
    WHERE s.status = 'pending'
    ORDER BY g.place
)
SELECT id::text FROM stored

-- import_circles: memories of these that their own successors lead back to
WITH RECURSIVE chain AS (
    SELECT id AS start, superseded_by AS next FROM memories
    WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND superseded_by IS NOT NULL
    UNION
    SELECT c.start, m.superseded_by FROM chain c JOIN memories m ON m.id = c.next AND m.ns = %(ns)s
    WHERE m.superseded_by IS NOT NULL AND c.next <> c.start
)
SELECT start::text AS id FROM chain WHERE next = start

-- import_here: which of these are memories of the scope
SELECT id::text FROM memories WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[])

-- import_cut: successors that are no memories of the scope
UPDATE memories SET superseded_by = NULL WHERE ns = %(ns)s AND superseded_by = ANY (%(ids)s::uuid[])

-- import_revision: former values with their originals, with the number of the scope's last write
WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(rows)s) AS g (memory uuid, revision integer, stood_until timestamptz, revised_by text,
        text text, lexemes text, evidence_sha text, embed_sha text, before jsonb)
), original AS (
    INSERT INTO evidence (ns, sha256, text)
    SELECT DISTINCT ON (evidence_sha) %(ns)s, decode(evidence_sha, 'hex'), text FROM given ON CONFLICT DO NOTHING
)
INSERT INTO memory_revisions (ns, memory_id, revision, stood_until, revised_by, write_seq, text, lexemes, evidence_sha,
    embed_sha, before)
SELECT %(ns)s, g.memory, g.revision, g.stood_until, g.revised_by, m.write_seq, g.text, g.lexemes,
    decode(g.evidence_sha, 'hex'), decode(g.embed_sha, 'hex'), g.before
FROM given g JOIN memories m ON m.id = g.memory
ON CONFLICT DO NOTHING

-- import_link: links, which others hear of by the version of the scope
WITH given AS MATERIALIZED (
    SELECT g.* FROM jsonb_to_recordset(%(rows)s) AS g (source text, target text, link text, weight float8, strength integer,
        created_at timestamptz, touched_at timestamptz, parked boolean)
    WHERE NOT EXISTS (SELECT FROM crystal_links l
        WHERE l.source_id = g.source AND l.target_id = g.target AND l.link_type = g.link)
), bumped AS (
    UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %(ns)s AND EXISTS (SELECT FROM given)
    RETURNING graph_version
)
INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, created_at, touched_at, version, deleted,
    parked)
SELECT %(ns)s, source, target, link, weight, strength, created_at, touched_at, graph_version, parked, parked
FROM given, bumped ON CONFLICT DO NOTHING

-- import_derivation: which memories were made of which
INSERT INTO derivations (ns, memory_id, source_id, origin, linked)
SELECT %(ns)s, memory, source, origin, linked
FROM jsonb_to_recordset(%(rows)s) AS g (memory uuid, source uuid, origin text, linked boolean) ON CONFLICT DO NOTHING

-- import_conflict: conflicts that are new, with what they superseded
WITH given AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset(%(rows)s) AS g (id uuid, kind text, older uuid, newer uuid, confidence real, rule text,
        attribute text, claim text, subject text, suspected boolean, status text, resolution text, decided_by text, merged uuid,
        unjudged boolean, created_at timestamptz, resolved_at timestamptz, supersessions jsonb)
), stored AS (
    INSERT INTO conflicts (id, ns, kind, older_id, newer_id, confidence, rule, attribute, claim, subject, suspected, status,
        resolution, decided_by, merged_id, due_at, created_at, resolved_at)
    SELECT id, %(ns)s, kind, older, newer, confidence, rule, attribute, claim, subject, suspected, status, resolution,
        decided_by, merged, CASE WHEN unjudged THEN clock_timestamp() END, created_at, resolved_at
    FROM given ON CONFLICT DO NOTHING
    RETURNING id
), ended AS (
    INSERT INTO supersessions (conflict_id, ns, loser_id, winner_id, ended_at)
    SELECT g.id, %(ns)s, s.loser, s.winner, s.ended_at
    FROM given g JOIN stored USING (id)
    CROSS JOIN LATERAL jsonb_to_recordset(g.supersessions) AS s (loser uuid, winner uuid, ended_at timestamptz)
    ON CONFLICT DO NOTHING
)
SELECT id FROM stored

-- import_fact: distilled facts
INSERT INTO crystal_facts (id, ns, content, source_node_ids, confidence, created_at, updated_at, metadata)
SELECT id, %(ns)s, content, sources, confidence, created_at, updated_at, jsonb_strip_nulls(jsonb_build_object(
    'sources_hash', sources_hash, 'superseded_by', superseded_by))
FROM jsonb_to_recordset(%(rows)s) AS g (id uuid, content text, sources text[], confidence float8, created_at timestamptz,
    updated_at timestamptz, sources_hash text, superseded_by text) ON CONFLICT DO NOTHING

-- import_refusal: decisions of the write gate
INSERT INTO gate_decisions (memory_id, ns, formed, value, threshold, form, relevance, surprise, conflict, decided_at)
SELECT memory, %(ns)s, formed, value, threshold, form, relevance, surprise, conflict, decided_at
FROM jsonb_to_recordset(%(rows)s) AS g (memory uuid, formed boolean, value float8, threshold float8, form text,
    relevance float8, surprise float8, conflict float8, decided_at timestamptz) ON CONFLICT DO NOTHING

-- import_note: notes of messages
INSERT INTO instant_memories (id, ns, memory_id, conversation, text, keywords, created_at, viewed_at, built_at)
SELECT id, %(ns)s, memory, conversation, text, keywords, created_at, viewed_at, built_at
FROM jsonb_to_recordset(%(rows)s) AS g (id uuid, memory uuid, conversation text, text text, keywords text[],
    created_at timestamptz, viewed_at timestamptz, built_at timestamptz) ON CONFLICT DO NOTHING

-- import_feedback: turns whose feedback was counted
INSERT INTO feedbacks (ns, turn, at)
SELECT %(ns)s, turn, at FROM jsonb_to_recordset(%(rows)s) AS g (turn text, at timestamptz) ON CONFLICT DO NOTHING

-- import_session: sessions without messages; one whose name is open here already is closed
INSERT INTO sessions (id, ns, name, status, opened_at, closed_at, archived_at, next_seq, head_seq, round, metadata)
SELECT g.id, %(ns)s, g.name, CASE WHEN taken.name IS NULL THEN g.status ELSE 'closed' END, g.opened_at,
    coalesce(g.closed_at, CASE WHEN taken.name IS NOT NULL THEN g.opened_at END), g.archived_at, g.next_seq, g.head_seq,
    g.round, g.metadata
FROM jsonb_to_recordset(%(rows)s) AS g (id uuid, name text, status text, opened_at timestamptz, closed_at timestamptz,
        archived_at timestamptz, next_seq integer, head_seq integer, round integer, metadata jsonb)
LEFT JOIN sessions taken ON taken.ns = %(ns)s AND taken.name = g.name AND taken.status = 'open' AND g.status = 'open'
    AND taken.id <> g.id
ON CONFLICT DO NOTHING

-- import_message: messages that are not there, and what they change in their sessions
WITH given AS MATERIALIZED (
    SELECT g.* FROM jsonb_to_recordset(%(rows)s) AS g (session uuid, seq integer, role text, content text, tokens integer,
        round integer, at timestamptz, ref text, memory uuid, data jsonb)
    JOIN sessions s ON s.id = g.session AND s.ns = %(ns)s
), added AS (
    INSERT INTO session_messages (session_id, seq, ns, role, content, tokens, round, at, ref, memory_id, data)
    SELECT session, seq, %(ns)s, role, content, tokens, round, at, ref, memory, data FROM given
    ON CONFLICT DO NOTHING
    RETURNING session_id, seq, role, tokens, round
)
UPDATE sessions s
SET messages = s.messages + one.messages, all_tokens = s.all_tokens + one.all_tokens, tokens = s.tokens + one.tokens,
    next_seq = greatest(s.next_seq, one.last + 1), round = greatest(s.round, one.round)
FROM (
    SELECT a.session_id, count(*) AS messages, sum(a.tokens) AS all_tokens, max(a.seq) AS last, max(a.round) AS round,
        coalesce(sum(a.tokens) FILTER (WHERE a.seq >= x.head_seq OR a.role = 'system'), 0) AS tokens
    FROM added a JOIN sessions x ON x.id = a.session_id GROUP BY a.session_id) one
WHERE s.id = one.session_id

-- import_other_items: items that are there with another value
SELECT g.namespace, i.key
FROM jsonb_to_recordset(%(rows)s) AS g (namespace text[], key text, value text)
JOIN items i ON i.ns = %(ns)s AND i.path = array_to_string(g.namespace, '.') || '.' AND i.key = g.key
WHERE i.value::text <> g.value AND (i.expires_at IS NULL OR i.expires_at > %(now)s)

-- import_item: items that are not there and have not expired; their memories end with them, and no earlier
WITH stored AS (
    INSERT INTO items (ns, path, key, value, memory_id, created_at, updated_at, ttl_s, expires_at)
    SELECT %(ns)s, array_to_string(g.namespace, '.') || '.', g.key, g.value::json, m.id, g.created_at, g.updated_at, g.ttl_s,
        g.expires_at
    FROM ROWS FROM (jsonb_to_recordset(%(rows)s) AS (namespace text[], key text, value text, memory uuid,
            created_at timestamptz, updated_at timestamptz, ttl_s float8, expires_at timestamptz))
        WITH ORDINALITY AS g (namespace, key, value, memory, created_at, updated_at, ttl_s, expires_at, place)
    LEFT JOIN memories m ON m.id = g.memory AND m.ns = %(ns)s AND m.source = 'item'
    WHERE g.expires_at IS NULL OR g.expires_at > %(now)s
    ORDER BY g.place
    ON CONFLICT DO NOTHING
    RETURNING memory_id, expires_at
)
UPDATE memories m SET expires_at = s.expires_at, on_expiry = 'erase', due_at = s.expires_at
FROM stored s WHERE m.id = s.memory_id AND m.ns = %(ns)s AND m.expires_at IS DISTINCT FROM s.expires_at

-- import_item_left: memories of items whose key the scope has with another memory
UPDATE memories m SET expires_at = %(now)s, on_expiry = 'erase', due_at = %(now)s
FROM jsonb_to_recordset(%(rows)s) AS g (memory uuid)
WHERE m.id = g.memory AND m.ns = %(ns)s AND m.source = 'item' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
    AND NOT EXISTS (SELECT FROM items i WHERE i.memory_id = m.id)
