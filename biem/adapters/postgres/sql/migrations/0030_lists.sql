-- Memories are listed in several orders, found by their metadata, and leave when they expire.

CREATE INDEX memories_importance ON memories (ns, importance DESC, write_seq DESC) WHERE (status || '') <> '';

-- What is to be erased at its expiry is erased then although it was archived before.
DROP INDEX memories_expiring;
CREATE INDEX memories_expiring ON memories (expires_at)
    WHERE expires_at IS NOT NULL AND (status <> 'archived' OR on_expiry = 'erase');

-- Metadata with the name of their scope, so that the index finds those of one scope; most memories have none.
CREATE FUNCTION scoped_metadata(ns text, metadata jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT jsonb_build_object('ns', ns, 'is', metadata) $$;
CREATE INDEX memories_metadata ON memories USING gin (scoped_metadata(ns, metadata) jsonb_path_ops) WHERE metadata <> '{}';

-- Row-level security keeps a jsonpath from that index, because it might tell of hidden rows; this function applies the
-- policy itself. `meets` is a predicate on scoped metadata that no memory without metadata meets.
CREATE FUNCTION memories_with_metadata(scopes_read text[], meets jsonpath, most integer)
RETURNS TABLE (id uuid)
LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT m.id
    FROM memories m
    WHERE scoped_metadata(m.ns, m.metadata) @@ meets AND m.metadata <> '{}' AND m.status <> 'archived'
        AND (m.ns = ANY (scopes_read)) IS TRUE
        AND (m.ns = ANY (string_to_array(current_setting('biem.ns', true), ',')) OR current_setting('biem.ns', true) = '*')
    LIMIT most;
END;
REVOKE ALL ON FUNCTION memories_with_metadata FROM PUBLIC;
GRANT EXECUTE ON FUNCTION memories_with_metadata TO biem_service;
