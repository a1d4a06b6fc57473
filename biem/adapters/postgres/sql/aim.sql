-- AIM-Memory: the gate and its decisions, the temporal mirror, anchors, and a scope as one document.

-- aim_said: memories written just before these positions of a scope, with their vectors, without repeats; untrusted ones
-- are no context
SELECT m.id::text, m.write_seq, m.conversation, m.formed AND m.status <> 'archived' AS formed, e.vector
FROM (
    SELECT DISTINCT generate_series(s.seq - %(most)s, s.seq - 1) AS seq FROM unnest(%(seqs)s::bigint[]) AS s (seq)
) before
CROSS JOIN LATERAL (
    SELECT * FROM memories WHERE memories.ns = %(ns)s AND memories.write_seq = before.seq AND memories.trust > 0 OFFSET 0
) m
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) e ON true

-- aim_standing: whether these memories are formed, and the decisions about them
SELECT m.id::text, m.formed AND m.status <> 'archived' AS formed, m.mirror_seq IS NOT NULL AS numbered, d.formed AS foretold
FROM memories m LEFT JOIN gate_decisions d ON d.memory_id = m.id
WHERE (m.ns = %(ns)s) IS TRUE AND m.id = ANY (%(ids)s::uuid[])

-- aim_ensure: a scope that exists has a mirror
INSERT INTO mirrors (ns) SELECT ns FROM scopes WHERE ns = %(ns)s ON CONFLICT DO NOTHING

-- aim_lock: one decider a scope at a time, so that the mirror's numbers have no gaps and no repeats
SELECT 1 AS locked FROM mirrors WHERE ns = %(ns)s FOR NO KEY UPDATE

-- aim_record: store decisions; existing ones stay
INSERT INTO gate_decisions (memory_id, ns, formed, value, threshold, form, relevance, surprise, conflict, decided_at,
    mirror_seq)
SELECT id, %(ns)s, formed, value, threshold, form, relevance, surprise, conflict, decided_at, mirror_seq
FROM jsonb_to_recordset(%(decisions)s) AS r (id uuid, formed boolean, value double precision, threshold double precision,
    form text, relevance double precision, surprise double precision, conflict double precision, decided_at timestamptz,
    mirror_seq bigint)
ON CONFLICT (memory_id) DO NOTHING

-- aim_apply: undecided memories are refused or formed as their decision says, and formed without one; numbers in order
WITH undecided AS MATERIALIZED (
    SELECT m.id, m.write_seq, coalesce(d.formed, true) AS formed, d.mirror_seq
    FROM memories m LEFT JOIN gate_decisions d ON d.memory_id = m.id
    WHERE (m.ns = %(ns)s) IS TRUE AND m.id = ANY (%(ids)s::uuid[]) AND m.mirror_seq IS NULL AND m.formed
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY write_seq) AS place FROM undecided WHERE formed AND mirror_seq IS NULL
), counted AS (
    UPDATE mirrors SET seq = seq + (SELECT count(*) FROM numbered)
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM numbered)
    RETURNING seq
)
UPDATE memories m
SET formed = u.formed,
    mirror_seq = CASE WHEN u.formed THEN coalesce(u.mirror_seq,
        (SELECT seq FROM counted) - (SELECT count(*) FROM numbered) + n.place) END,
    energy_anchor = CASE WHEN u.formed THEN m.energy_anchor ELSE 0 END
FROM undecided u LEFT JOIN numbered n USING (id)
WHERE m.id = u.id

-- aim_admit: form a refused memory
WITH admitted AS (
    UPDATE gate_decisions SET formed = true, value = %(value)s, threshold = %(threshold)s, form = %(form)s,
        relevance = %(relevance)s, surprise = %(surprise)s, conflict = %(conflict)s, decided_at = %(at)s
    WHERE memory_id = %(id)s AND ns = %(ns)s
), counted AS (
    UPDATE mirrors SET seq = seq + 1
    WHERE ns = %(ns)s AND EXISTS (SELECT FROM memories WHERE ns = %(ns)s AND id = %(id)s AND NOT formed)
    RETURNING seq
)
UPDATE memories SET formed = true, mirror_seq = counted.seq, energy_anchor = initial_energy, anchor_at = %(at)s
FROM counted WHERE id = %(id)s AND ns = %(ns)s AND NOT formed

-- aim_refusals: refused memories that were not formed since, newest first
SELECT m.id::text, m.text, m.speaker, d.value, d.threshold, d.form, d.relevance, d.surprise, d.conflict, d.decided_at
FROM gate_decisions d JOIN memories m ON m.id = d.memory_id
WHERE d.ns = %(ns)s AND NOT d.formed AND NOT m.formed AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
ORDER BY d.decided_at DESC, d.memory_id DESC LIMIT %(limit)s

-- aim_nodes: memories with their vectors and originals, how many were formed since, and whether they are contradicted
SELECT {node}, m.formed, s.seq - m.mirror_seq AS age, v.vector, e.text AS evidence,
    EXISTS (
        SELECT FROM conflict_records p WHERE p.older_id = m.id AND p.ns = ANY (%(scopes)s) AND p.status = 'pending'
            AND NOT p.moot AND NOT p.suspected AND p.kind <> 'duplicate')
    OR EXISTS (
        SELECT FROM conflict_records p WHERE p.newer_id = m.id AND p.ns = ANY (%(scopes)s) AND p.status = 'pending'
            AND NOT p.moot AND NOT p.suspected AND p.kind <> 'duplicate') AS disputed
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS given (id, place)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = given.id OFFSET 0) m
LEFT JOIN mirrors s ON s.ns = m.ns
LEFT JOIN LATERAL (
    SELECT vector FROM embeddings WHERE embeddings.model = %(model)s AND embeddings.sha256 = m.embed_sha OFFSET 0
) v ON true
LEFT JOIN evidence e ON %(evidence)s AND e.ns = m.ns AND e.sha256 = m.evidence_sha
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE AND m.status <> 'archived' AND (m.valid_to IS NULL OR m.valid_to > %(at)s)
    AND (m.expires_at IS NULL OR m.expires_at > %(at)s)
ORDER BY given.place

-- aim_anchors: the fields of memories, or their texts where they are not analysed yet, and how many were formed since
SELECT m.id::text, m.fields, CASE WHEN m.status = 'pending' THEN m.text END AS text, s.seq - m.mirror_seq AS age, m.formed
FROM unnest(%(ids)s::uuid[]) AS given (id)
CROSS JOIN LATERAL (SELECT * FROM memories WHERE memories.id = given.id OFFSET 0) m
LEFT JOIN mirrors s ON s.ns = m.ns
WHERE (m.ns = ANY (%(scopes)s)) IS TRUE

-- aim_census: formed memories of a scope, how often they were returned, their weights, and those of high weight
SELECT count(*) AS nodes, coalesce(sum(access_count), 0)::bigint AS accesses,
    coalesce(avg(%(fresh)s * exp(greatest(-600.0, age * %(log_gamma)s))), 0)::double precision AS mean_weight,
    count(*) FILTER (WHERE %(fresh)s * exp(greatest(-600.0, age * %(log_gamma)s)) > %(high)s) AS high
FROM (
    SELECT m.access_count, coalesce(s.seq - m.mirror_seq, 0)::double precision AS age
    FROM memories m LEFT JOIN mirrors s ON s.ns = m.ns
    WHERE m.ns = %(ns)s AND m.formed AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
) held

-- aim_page: the memories of a scope in the order they were written
-- The limit is literal: a generic plan would take a parameter for a tenth of the table, and sort the scope for each page.
SELECT {node}, m.formed, m.mirror_seq
FROM memories m
WHERE m.ns = %(ns)s AND m.status <> 'archived' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
    AND m.write_seq > %(after)s
ORDER BY m.write_seq LIMIT 500

-- aim_counter: how many memories of a scope were formed
SELECT seq FROM mirrors WHERE ns = %s

-- aim_numbers: numbers in the mirror, given or foretold
SELECT id::text, coalesce(m.mirror_seq, d.mirror_seq) AS mirror_seq
FROM unnest(%(ids)s::uuid[]) AS given (id)
LEFT JOIN memories m USING (id)
LEFT JOIN gate_decisions d ON d.memory_id = given.id
WHERE coalesce(m.ns, d.ns) = %(ns)s AND coalesce(m.mirror_seq, d.mirror_seq) IS NOT NULL

-- aim_reserve: reserve mirror numbers; returns the last one assigned before
UPDATE mirrors SET seq = seq + %(count)s WHERE ns = %(ns)s RETURNING seq - %(count)s AS last
