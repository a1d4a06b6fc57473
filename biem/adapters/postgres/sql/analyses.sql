-- described_page: memories that were encoded, after an id
SELECT {node}, s.tenant, s.usr, s.project FROM memories m JOIN scopes s USING (ns)
WHERE m.id > %(after)s::uuid AND m.status <> 'pending' ORDER BY m.id LIMIT %(limit)s

-- describe: what the analyzer says now, where it is something else; no row is written for nothing
UPDATE memories m
SET language = r.language, fields = r.fields, entities = r.entities, sentiment = r.sentiment, lexemes = r.lexemes
FROM jsonb_to_recordset(%(described)s)
    AS r (id uuid, language text, fields jsonb, entities text[], sentiment real, lexemes text)
WHERE m.id = r.id AND m.status <> 'pending'
    AND (m.language, m.fields, m.entities, m.sentiment, m.lexemes)
        IS DISTINCT FROM (r.language, r.fields, r.entities, r.sentiment, r.lexemes)
