-- Policies of their own for the three tables that the other policies left out. A statement that names scopes reaches the
-- jobs of these scopes, the vectors of their texts, and no row that says which embedder counts but to read it.

-- A vector belongs to whom its text belongs to. The subquery ends at the first memory found, by an index that has both
-- columns: a text that many scopes said is not looked up in all of them.
CREATE INDEX memories_embed_scope ON memories (embed_sha, ns);
DROP INDEX memories_embed;
ALTER TABLE embeddings ENABLE ROW LEVEL SECURITY;
CREATE POLICY embeddings_scope ON embeddings
    USING ((SELECT current_setting('biem.ns', true)) = '*'
        OR (SELECT true FROM memories m
            WHERE m.embed_sha = embeddings.sha256
                AND m.ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
            LIMIT 1));

-- Workers of version 0.1.0 take and finish jobs without naming any scope, so that is let through as '*' is.
ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
CREATE POLICY outbox_scope ON outbox
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT coalesce(current_setting('biem.ns', true), '')) IN ('', '*'));

ALTER TABLE embedders ENABLE ROW LEVEL SECURITY;
CREATE POLICY embedders_read ON embedders FOR SELECT USING (true);
CREATE POLICY embedders_write ON embedders
    USING ((SELECT coalesce(current_setting('biem.ns', true), '')) IN ('', '*'));

-- An address is no longer taken from here; what followed its path could be a key.
UPDATE embedders SET settings = settings || jsonb_build_object('url', split_part(split_part(settings->>'url', '?', 1), '#', 1))
WHERE settings->>'url' ~ '[?#]';
