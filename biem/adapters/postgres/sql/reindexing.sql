-- Moving all memories to another embedder, and analysing all texts again.

-- described_page: memories that were encoded, after an id
SELECT {node}, s.tenant, s.usr, s.project FROM memories m JOIN scopes s USING (ns)
WHERE m.id > %(after)s::uuid AND m.status <> 'pending' ORDER BY m.id LIMIT %(limit)s

-- describe: store the analyzer's new results; unchanged rows are not written
UPDATE memories m
SET language = r.language, fields = r.fields, entities = r.entities, sentiment = r.sentiment, lexemes = r.lexemes
FROM jsonb_to_recordset(%(described)s)
    AS r (id uuid, language text, fields jsonb, entities text[], sentiment real, lexemes text)
WHERE m.id = r.id AND m.status <> 'pending'
    AND (m.language, m.fields, m.entities, m.sentiment, m.lexemes)
        IS DISTINCT FROM (r.language, r.fields, r.entities, r.sentiment, r.lexemes)

-- current_embedder: the embedder in force
SELECT model, dim, collection, settings FROM embedders WHERE state = 'current'

-- begin_reembedding: resume an earlier run; a model that was in force before starts over
INSERT INTO embedders AS e (model, dim, collection, settings, state)
VALUES (%(model)s, %(dim)s, %(collection)s, %(settings)s, 'filling')
ON CONFLICT (model) DO UPDATE SET
    collection = EXCLUDED.collection, settings = EXCLUDED.settings,
    cursor = CASE WHEN e.state = 'filling' AND e.collection = EXCLUDED.collection THEN e.cursor END,
    state = CASE WHEN e.state = 'current' THEN 'current' ELSE 'filling' END, changed_at = now()
RETURNING coalesce(cursor::text, '') AS cursor

-- advance_reembedding: save the progress of a move
UPDATE embedders SET cursor = %(cursor)s, changed_at = now() WHERE model = %(model)s

-- retire_embedder: end the embedder in force
UPDATE embedders SET state = 'retired', changed_at = now() WHERE state = 'current' AND model <> %s

-- choose_embedder: make this embedder the one in force
UPDATE embedders SET state = 'current', cursor = NULL, changed_at = now() WHERE model = %s

-- forget_embedders: delete all but this one, including those of unfinished moves
DELETE FROM embedders WHERE model <> %s AND state <> 'current'

-- unmoved_page: active memories after an id that another model indexed, with the new model's vector where there is one
SELECT {node}, s.tenant, s.usr, s.project,
    (SELECT e.vector FROM embeddings e WHERE e.model = %(model)s AND e.sha256 = m.embed_sha) AS vector
FROM memories m JOIN scopes s USING (ns)
WHERE m.id > %(after)s AND m.status = 'active' AND m.model <> %(model)s ORDER BY m.id LIMIT %(limit)s

-- stored_models: the models of which vectors are kept, one index probe each
WITH RECURSIVE next AS (
    SELECT min(model) AS model FROM embeddings
    UNION ALL
    SELECT (SELECT min(e.model) FROM embeddings e WHERE e.model > next.model) FROM next WHERE next.model IS NOT NULL
)
SELECT model FROM next WHERE model IS NOT NULL

-- stored_dimension: the dimension of the vectors stored under a model's name
SELECT octet_length(vector) / 4 AS dimension FROM embeddings WHERE model = %s LIMIT 1

-- drop_vectors: delete some vectors of an unused model
DELETE FROM embeddings WHERE model = %(model)s AND sha256 IN (
    SELECT sha256 FROM embeddings WHERE model = %(model)s ORDER BY sha256 LIMIT %(limit)s)

-- unmoved_items: concept items after an id that another model embedded
SELECT id::text, text FROM concept_items
WHERE id > %(after)s AND model <> %(model)s AND vector IS NOT NULL ORDER BY id LIMIT %(limit)s

-- move_items: concept items get this model's vectors
UPDATE concept_items i SET model = %(model)s, vector = moved.vector
FROM unnest(%(ids)s::uuid[], %(vectors)s::bytea[]) AS moved (id, vector) WHERE i.id = moved.id

-- call_back: index memories again that another embedder indexed, after a completed move to this one
WITH back AS (
    UPDATE memories SET status = 'pending'
    WHERE EXISTS (SELECT FROM embedders WHERE state = 'current' AND model = %(model)s) AND id IN (
        (SELECT id FROM memories WHERE ns = %(ns)s AND status = 'active' AND model < %(model)s LIMIT %(limit)s)
        UNION ALL
        (SELECT id FROM memories WHERE ns = %(ns)s AND status = 'active' AND model > %(model)s LIMIT %(limit)s))
        AND status = 'active' AND model <> %(model)s
    RETURNING id, ns
)
INSERT INTO outbox (task, memory_id, ns, claims) SELECT 'encode', id, ns, 1 FROM back
