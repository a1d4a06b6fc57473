-- Sessions: opening and closing, messages, windows, trimming. The scope is locked before the session, everywhere.

-- session_open: a new open session; no row when one of this name is open
INSERT INTO sessions (id, ns, name, opened_at, metadata)
VALUES (%(id)s, %(ns)s, %(name)s, %(at)s, %(metadata)s)
ON CONFLICT (ns, name) WHERE status = 'open' DO NOTHING

-- session_named: the open session of a name
SELECT id::text, name, status, opened_at, closed_at, archived_at, next_seq, head_seq, round, messages, tokens, all_tokens,
    metadata
FROM sessions WHERE ns = %(ns)s AND name = %(name)s AND status = 'open'

-- session_get: one session
SELECT id::text, name, status, opened_at, closed_at, archived_at, next_seq, head_seq, round, messages, tokens, all_tokens,
    metadata
FROM sessions WHERE id = %(session)s AND ns = %(ns)s

-- session_lock: the same, locked
SELECT name, status, head_seq FROM sessions WHERE id = %(session)s AND ns = %(ns)s FOR UPDATE

-- session_list: the newest sessions of a scope
SELECT id::text, name, status, opened_at, closed_at, archived_at, next_seq, head_seq, round, messages, tokens, all_tokens,
    metadata
FROM sessions
WHERE ns = %(ns)s AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY id DESC LIMIT %(limit)s

-- session_close_others: all open sessions but one are closed
UPDATE sessions SET status = 'closed', closed_at = %(at)s, trim_at = NULL
WHERE ns = %(ns)s AND status = 'open' AND id <> %(session)s AND (%(name)s::text IS NULL OR name = %(name)s)

-- session_close: no further message
UPDATE sessions SET status = 'closed', closed_at = %(at)s, trim_at = NULL
WHERE id = %(session)s AND ns = %(ns)s AND status = 'open'

-- session_resume: open again, with the range that it had, and its own memories that were not archived yet
WITH former AS (SELECT * FROM sessions WHERE id = %(session)s AND ns = %(ns)s AND status <> 'open'), back AS (
    UPDATE memories m SET expires_at = NULL FROM former f
    WHERE m.ns = f.ns AND m.layer = 'session' AND m.conversation = CASE WHEN f.name = '' THEN f.id::text ELSE f.name END
        AND m.expires_at = f.archived_at AND m.on_expiry = 'archive' AND m.status <> 'archived'
)
UPDATE sessions s SET status = 'open', closed_at = NULL, archived_at = NULL FROM former f WHERE s.id = f.id

-- session_append: a message, the memory made of it and their places; no row when one is there already, or none can be
WITH locked AS MATERIALIZED (
    SELECT ns FROM scopes WHERE ns = %(ns)s FOR NO KEY UPDATE
), session AS (
    UPDATE sessions s SET {said}
    FROM locked WHERE s.id = %(session)s AND s.ns = %(ns)s AND s.status = 'open' AND NOT EXISTS (
        SELECT FROM session_messages WHERE session_id = %(session)s AND ref = %(key)s
        UNION ALL SELECT FROM memories WHERE id = %(id)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND ref = %(ref)s
        UNION ALL SELECT FROM memories WHERE ns = %(ns)s AND fact_key = %(fact_key)s AND superseded_by IS NULL)
    RETURNING s.next_seq - 1 AS place, s.round AS turn, s.tokens AS held
), seq AS (
    UPDATE scopes SET write_seq = write_seq + 1 FROM session WHERE scopes.ns = %(ns)s RETURNING write_seq
), memory AS (
    {written}
    FROM seq, session
    RETURNING id, ns
), original AS (
    INSERT INTO evidence (ns, sha256, text) SELECT ns, %(evidence_sha)s, %(text)s FROM memory ON CONFLICT DO NOTHING
), job AS (
    INSERT INTO outbox (task, memory_id, ns) SELECT 'encode', id, ns FROM memory
), message AS (
    INSERT INTO session_messages (session_id, seq, ns, role, content, tokens, round, at, ref, memory_id, data)
    SELECT %(session)s, place, ns, %(role)s, %(text)s, %(tokens)s, turn, %(at)s, %(key)s, id, %(data)s FROM session, memory
)
SELECT place AS seq, held AS tokens FROM session

-- session_append_only: a message without a new memory; no row when it is there already, or none can be
WITH session AS (
    UPDATE sessions s SET {said}
    WHERE s.id = %(session)s AND s.ns = %(ns)s AND s.status = 'open'
        AND NOT EXISTS (SELECT FROM session_messages WHERE session_id = %(session)s AND ref = %(key)s)
    RETURNING s.next_seq - 1 AS place, s.round AS turn, s.tokens AS held
), message AS (
    INSERT INTO session_messages (session_id, seq, ns, role, content, tokens, round, at, ref, memory_id, data)
    SELECT %(session)s, place, %(ns)s, %(role)s, %(text)s, %(tokens)s, turn, %(at)s, %(key)s, %(memory)s, %(data)s
    FROM session
)
SELECT place AS seq, held AS tokens FROM session

-- session_said: the message of a ref or of a memory
SELECT m.seq, m.role, m.content, m.memory_id::text, s.tokens
FROM session_messages m JOIN sessions s ON s.id = m.session_id
WHERE m.session_id = %(session)s AND m.ns = %(ns)s AND (m.ref = %(key)s OR m.memory_id = %(id)s::uuid)
ORDER BY m.ref IS NOT DISTINCT FROM %(key)s DESC LIMIT 1

-- session_messages: a page of messages, oldest first
SELECT seq, role, content, tokens, round, at, ref, memory_id::text, data
FROM session_messages WHERE session_id = %(session)s AND ns = %(ns)s AND seq > %(after)s
ORDER BY seq LIMIT %(limit)s

-- session_last: the newest messages, trimmed or not
SELECT * FROM (
    SELECT seq, role, content, tokens, round, at, ref, memory_id::text, data
    FROM session_messages WHERE session_id = %(session)s AND ns = %(ns)s
    ORDER BY seq DESC LIMIT %(limit)s) newest
ORDER BY seq

-- session_retract: remove the newest messages, and end the memories that were made of them; those that were there before
-- stay, and so do those that were moved elsewhere
WITH gone AS (
    DELETE FROM session_messages WHERE session_id = %(session)s AND ns = %(ns)s AND seq IN (
        SELECT seq FROM session_messages WHERE session_id = %(session)s AND ns = %(ns)s
        ORDER BY seq DESC LIMIT %(limit)s)
    RETURNING seq, role, content, tokens, round, at, ref, memory_id, data
), less AS (
    SELECT count(*) AS messages, coalesce(sum(g.tokens), 0) AS all_tokens,
        coalesce(sum(g.tokens) FILTER (WHERE g.seq >= s.head_seq OR g.role = 'system'), 0) AS tokens
    FROM gone g JOIN sessions s ON s.id = %(session)s
), counted AS (
    UPDATE sessions s
    SET messages = s.messages - less.messages, all_tokens = s.all_tokens - less.all_tokens, tokens = s.tokens - less.tokens
    FROM less WHERE s.id = %(session)s AND s.ns = %(ns)s
), ended AS (
    UPDATE memories m SET expires_at = %(at)s, on_expiry = 'erase', due_at = %(at)s
    FROM gone g JOIN sessions s ON s.id = %(session)s
    WHERE m.id = g.memory_id AND m.ns = %(ns)s AND m.kind = 'event'
        AND m.conversation = CASE WHEN s.name = '' THEN s.id::text ELSE s.name END
)
SELECT seq, role, content, tokens, round, at, ref, memory_id::text, data FROM gone ORDER BY seq

-- session_system: the system messages
SELECT seq, role, content, tokens, round, at, ref, memory_id::text, data
FROM session_messages WHERE session_id = %(session)s AND ns = %(ns)s AND role = 'system'
ORDER BY seq

-- session_newest: a page of what was not trimmed, newest first
SELECT seq, role, content, tokens, round, at, ref, memory_id::text, data
FROM session_messages
WHERE session_id = %(session)s AND ns = %(ns)s AND seq >= %(head)s AND seq < %(before)s AND role <> 'system'
ORDER BY seq DESC LIMIT %(limit)s

-- session_due: sessions to be trimmed, longest waiting first
SELECT s.id::text, c.tenant, c.usr, c.project
FROM sessions s JOIN scopes c USING (ns)
WHERE s.trim_at <= %(at)s AND (%(ns)s::text IS NULL OR s.ns = %(ns)s)
ORDER BY s.trim_at LIMIT %(limit)s

-- session_outline: what may be trimmed: messages from the head on, but for the newest rounds and system messages
SELECT m.seq, m.round, m.tokens, length(m.content) AS chars
FROM sessions s JOIN session_messages m ON m.session_id = s.id AND m.seq >= s.head_seq
WHERE s.id = %(session)s AND s.ns = %(ns)s AND m.round <= s.round - %(protected)s AND m.role <> 'system'
ORDER BY m.seq

-- session_summable: messages of a slice of which a memory stands; untrusted and expiring ones tell nothing to a summary
SELECT m.seq, m.role, m.content, m.at, m.memory_id::text, k.speaker, k.trust
FROM session_messages m CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = m.memory_id OFFSET 0) k
WHERE m.session_id = %(session)s AND m.ns = %(ns)s AND m.seq BETWEEN %(first)s AND %(last)s AND m.role <> 'system'
    AND k.ns = %(ns)s AND k.trust > 0 AND k.expires_at IS NULL AND (k.archive_reason LIKE 'quarantine:%%') IS NOT TRUE
ORDER BY m.seq

-- session_slice: the tokens of a slice
SELECT coalesce(sum(tokens), 0) AS tokens FROM session_messages
WHERE session_id = %(session)s AND ns = %(ns)s AND seq BETWEEN %(first)s AND %(last)s AND role <> 'system'

-- session_derived: a summary is made of these memories
INSERT INTO derivations (ns, memory_id, source_id, origin)
SELECT %(ns)s, %(summary)s, m.id, 'summary' FROM memories m
WHERE m.id = ANY (%(sources)s::uuid[]) AND m.ns = %(ns)s AND m.id <> %(summary)s
ON CONFLICT DO NOTHING

-- session_trim: the range begins after a slice
UPDATE sessions SET head_seq = %(last)s + 1, tokens = tokens - %(tokens)s, trim_tries = 0
WHERE id = %(session)s AND ns = %(ns)s AND head_seq = %(head)s

-- session_trimmed: nothing more to trim, unless messages came meanwhile
UPDATE sessions SET trim_at = NULL, trim_tries = 0
WHERE id = %(session)s AND ns = %(ns)s AND next_seq = %(next)s

-- session_put_off: a summary failed
UPDATE sessions
SET trim_tries = trim_tries + 1,
    trim_at = %(at)s + make_interval(mins => least(60, power(2, least(trim_tries, 6))::integer))
WHERE id = %(session)s AND ns = %(ns)s AND trim_at IS NOT NULL

-- session_archive: closed sessions are archived, and with them, by their expiry, memories of the layer `session`, unless
-- another session has the conversation open
WITH archived AS (
    UPDATE sessions SET status = 'archived', archived_at = %(at)s
    WHERE status = 'closed' AND (%(ns)s::text IS NULL OR ns = %(ns)s)
    RETURNING id, ns, name, -- cast here: before PostgreSQL 16 no index serves a cast in the comparison below
        CASE WHEN name = '' THEN id::text ELSE name END AS conversation
), ended AS ( -- looked up by conversation: of all memories the planner would read those of the layer
    UPDATE memories m SET expires_at = %(at)s, due_at = %(at)s
    WHERE m.id = ANY (ARRAY(
        SELECT k.id FROM archived a CROSS JOIN LATERAL (
            SELECT id, layer FROM memories
            WHERE memories.ns = a.ns AND memories.conversation = a.conversation
            ORDER BY at, write_seq OFFSET 0 -- as in the index by conversation: without it others seem as cheap
        ) k
        WHERE k.layer = 'session'
            AND NOT EXISTS (SELECT FROM sessions o WHERE o.ns = a.ns AND o.name = a.name AND o.name <> '' AND o.status = 'open')
    )) AND m.status <> 'archived' AND m.on_expiry = 'archive' AND (m.expires_at IS NULL OR m.expires_at > %(at)s)
)
SELECT id FROM archived

-- session_stuck: sessions whose trimming has been due for long, with failed summaries
SELECT s.id::text FROM sessions s
WHERE s.trim_at IS NOT NULL AND (s.trim_tries >= %(tries)s OR s.trim_at < %(before)s)
ORDER BY s.trim_at LIMIT %(limit)s

-- session_miscounted: sessions whose counts are not those of their messages
SELECT s.id::text FROM sessions s CROSS JOIN LATERAL (
    SELECT count(*) AS messages, coalesce(sum(m.tokens), 0) AS all_tokens,
        coalesce(sum(m.tokens) FILTER (WHERE m.seq >= s.head_seq OR m.role = 'system'), 0) AS tokens,
        coalesce(max(m.seq), 0) AS last
    FROM session_messages m WHERE m.session_id = s.id) found
WHERE s.messages <> found.messages OR s.all_tokens <> found.all_tokens OR s.tokens <> found.tokens OR s.next_seq <= found.last
ORDER BY s.id LIMIT %(limit)s

-- session_recount: counts from the messages
UPDATE sessions s
SET messages = found.messages, all_tokens = found.all_tokens, tokens = found.tokens, next_seq = greatest(s.next_seq, found.last + 1)
FROM (
    SELECT x.id, count(m.seq) AS messages, coalesce(sum(m.tokens), 0) AS all_tokens,
        coalesce(sum(m.tokens) FILTER (WHERE m.seq >= x.head_seq OR m.role = 'system'), 0) AS tokens,
        coalesce(max(m.seq), 0) AS last
    FROM sessions x LEFT JOIN session_messages m ON m.session_id = x.id
    WHERE x.id = ANY (%(ids)s::uuid[]) GROUP BY x.id) found
WHERE s.id = found.id
