-- What notes say of facts.

-- verdict_due: facts that were not compared with the notes as they are, oldest first
SELECT m.id::text, m.text, m.embed_sha AS sha, m.speaker, m.at, e.vector, newest.id::text AS newest,
    coalesce(known.newest::text, '') AS after
FROM memories m
    JOIN embeddings e ON e.model = %(model)s AND e.sha256 = m.embed_sha
    CROSS JOIN (SELECT c.id FROM note_chunks c WHERE c.ns = ANY (%(scopes)s) ORDER BY c.id DESC LIMIT 1) newest
    LEFT JOIN note_compared known ON known.memory_id = m.id AND known.sha = m.embed_sha
WHERE m.ns = %(ns)s AND m.status = 'active' AND m.kind <> 'event' AND m.valid_to IS NULL
    AND (known.newest IS NULL OR known.newest < newest.id)
ORDER BY m.id LIMIT %(limit)s

-- verdict_withdraw: what was found of these facts in another wording, unless it was decided
DELETE FROM note_verdicts WHERE ns = %(ns)s AND memory_id = ANY (%(anew)s::uuid[]) AND status = 'open'

-- verdict_put: what was found now, where note and fact are still there
INSERT INTO note_verdicts (id, ns, memory_id, chunk_id, kind, confidence, sentence)
SELECT v.id, %(ns)s, v.memory_id, v.chunk_id, v.kind, v.confidence, v.sentence
FROM unnest(%(ids)s::uuid[], %(facts)s::uuid[], %(chunks)s::uuid[], %(kinds)s::text[], %(confidences)s::real[],
        %(sentences)s::text[]) AS v (id, memory_id, chunk_id, kind, confidence, sentence)
    JOIN memories m ON m.id = v.memory_id AND m.ns = %(ns)s
    JOIN note_chunks c ON c.id = v.chunk_id AND c.ns = ANY (%(scopes)s)
ON CONFLICT (chunk_id, memory_id) DO NOTHING

-- verdict_compared: these facts were compared up to these chunks
INSERT INTO note_compared (memory_id, ns, sha, newest)
SELECT m.id, m.ns, v.sha, v.newest
FROM unnest(%(memories)s::uuid[], %(shas)s::bytea[], %(newest)s::uuid[]) AS v (id, sha, newest)
    JOIN memories m ON m.id = v.id AND m.ns = %(ns)s
ON CONFLICT (memory_id) DO UPDATE SET ns = EXCLUDED.ns, sha = EXCLUDED.sha, newest = EXCLUDED.newest

-- verdict_list: what notes say of facts, surest first; null meaning of any status, any fact, any id
SELECT v.id::text, v.memory_id::text, v.chunk_id::text, v.kind, v.confidence, v.sentence, v.status, v.found_at,
    m.text AS fact, n.path, c.line_start AS line
FROM note_verdicts v JOIN memories m ON m.id = v.memory_id JOIN note_chunks c ON c.id = v.chunk_id JOIN notes n ON n.id = c.note_id
WHERE v.ns = ANY (%(named)s) AND (%(status)s::text IS NULL OR v.status = %(status)s)
    AND (%(memories)s::uuid[] IS NULL OR v.memory_id = ANY (%(memories)s)) AND (%(id)s::uuid IS NULL OR v.id = %(id)s)
    AND (%(kind)s::text IS NULL OR v.kind = %(kind)s) AND m.status <> 'archived'
ORDER BY v.confidence DESC, v.id LIMIT %(limit)s

-- verdict_decide: whom the reader believes
UPDATE note_verdicts SET status = %(status)s, decided_at = now() WHERE ns = %(ns)s AND id = %(id)s

-- verdict_open: whether any fact of these scopes is contradicted
SELECT EXISTS (
    SELECT FROM note_verdicts WHERE ns = ANY (%(scopes)s) AND status = 'open' AND kind = 'contradicts') AS there
