-- What stood at a moment is shown by the expiry that a memory has now, which alone says until when it may be shown, and is
-- believed no more than now: a source that was found to be wrong was so then.
CREATE OR REPLACE FUNCTION standing_revisions(scopes_read text[], moment timestamptz) RETURNS SETOF memories
LANGUAGE sql STABLE AS $$
    SELECT was.*
    FROM (
        SELECT DISTINCT ON (memory_id) * FROM memory_revisions
        WHERE ns = ANY (scopes_read) AND stood_until > moment ORDER BY memory_id, revision
    ) r
    JOIN memories m ON m.id = r.memory_id
    CROSS JOIN LATERAL jsonb_populate_record(m, (r.before - '{expires_at,on_expiry}'::text[])
        || jsonb_build_object('revision', r.revision, 'text', r.text, 'lexemes', r.lexemes,
            'evidence_sha', r.evidence_sha, 'embed_sha', r.embed_sha,
            'trust', least(m.trust, (r.before ->> 'trust')::smallint))) was
    WHERE m.status <> 'archived'
$$;
