-- The mirror: roots, files, and what is to be done about memories.

-- mirror_root_add: register a folder, unless it is taken
INSERT INTO mirror_roots (id, ns, path, host, kind, adopted)
VALUES (%(id)s, %(ns)s, %(path)s, %(host)s, %(kind)s, %(adopted)s) ON CONFLICT DO NOTHING

-- mirror_roots: the roots of some scopes, null meaning all
SELECT r.id::text, s.tenant, s.usr, s.project, r.path, r.host, r.kind, r.state, r.adopted, r.synced_at, r.report
FROM mirror_roots r JOIN scopes s USING (ns)
WHERE %(scopes)s::text[] IS NULL OR r.ns = ANY (%(scopes)s) ORDER BY r.path, r.host, r.id

-- mirror_root_taken: whether a folder mirrors another scope
SELECT ns <> %(ns)s AS taken FROM mirror_roots WHERE host = %(host)s AND path = %(path)s

-- mirror_root_refuse: ids whose files are being deleted, and refused where a copy comes back
INSERT INTO mirror_erased (memory_id, ns)
SELECT DISTINCT memory_id, ns FROM mirror_files WHERE ns = %(ns)s AND root_id = %(root)s AND memory_id IS NOT NULL
ON CONFLICT DO NOTHING

-- mirror_root_remove: forget a root and its files
DELETE FROM mirror_roots WHERE ns = %(ns)s AND id = %(root)s

-- mirror_root_adopt: its files are taken in; those that waited are read
WITH adopted AS (
    UPDATE mirror_roots SET adopted = true WHERE ns = %(ns)s AND id = %(root)s RETURNING id
)
DELETE FROM mirror_files f USING adopted WHERE f.root_id = adopted.id AND f.state = 'stranger'

-- mirror_synced: the end of a sync
UPDATE mirror_roots SET synced_at = %(at)s, report = %(report)s WHERE ns = %(ns)s AND id = %(root)s

-- mirror_files: what is known of the files of a root
SELECT path, memory_id::text, sha256, bytes, mtime_ns, inode::text, read_ns, state, reason, revision, layer, archived,
    NULL::jsonb AS base
FROM mirror_files WHERE ns = %(ns)s AND root_id = %(root)s

-- mirror_bases: some files with their bases
SELECT path, memory_id::text, sha256, bytes, mtime_ns, inode::text, read_ns, state, reason, revision, layer, archived, base
FROM mirror_files WHERE ns = %(ns)s AND root_id = %(root)s AND path = ANY (%(paths)s)

-- mirror_clear: files that are replaced, by path or by memory
DELETE FROM mirror_files
WHERE ns = %(ns)s AND root_id = %(root)s AND (path = ANY (%(paths)s) OR memory_id = ANY (%(ids)s::uuid[]))

-- mirror_put: files as they are now
INSERT INTO mirror_files (root_id, path, ns, memory_id, sha256, bytes, mtime_ns, inode, read_ns, state, reason, revision, layer,
    archived, base)
SELECT r.id, f.path, r.ns, f.memory_id, decode(f.sha256, 'hex'), f.bytes, f.mtime_ns, f.inode, f.read_ns, f.state, f.reason,
    f.revision, f.layer, f.archived, f.base
FROM mirror_roots r, jsonb_to_recordset(%(files)s) AS f (path text, memory_id uuid, sha256 text, bytes bigint,
    mtime_ns bigint, inode numeric, read_ns bigint, state text, reason text, revision integer, layer text, archived boolean,
    base jsonb)
WHERE r.ns = %(ns)s AND r.id = %(root)s

-- mirror_touch: files of the same content
UPDATE mirror_files f SET bytes = t.bytes, mtime_ns = t.mtime_ns, inode = t.inode, read_ns = t.read_ns
FROM jsonb_to_recordset(%(files)s) AS t (path text, bytes bigint, mtime_ns bigint, inode numeric, read_ns bigint)
WHERE f.ns = %(ns)s AND f.root_id = %(root)s AND f.path = t.path

-- mirror_drop: forget files
DELETE FROM mirror_files WHERE ns = %(ns)s AND root_id = %(root)s AND path = ANY (%(paths)s)

-- mirror_stale: memories whose files are missing or not as they are, and files whose memories are gone
SELECT coalesce(m.id, f.memory_id)::text AS id, f.path, m.id IS NOT NULL AS exists
FROM (
    SELECT id, revision, layer, status = 'archived' OR expires_at <= %(now)s AS archived
    FROM memories
    WHERE ns = %(ns)s
        AND (coalesce(metadata ->> 'category', '') <> '' OR layer IN ('core', 'long_term') AND kind <> 'event')
        AND NOT (expires_at <= %(now)s AND on_expiry = 'erase') IS TRUE
    UNION
    SELECT m.id, m.revision, m.layer, m.status = 'archived' OR m.expires_at <= %(now)s
    FROM mirror_files f JOIN memories m ON m.id = f.memory_id
    WHERE f.ns = %(ns)s AND f.root_id = %(root)s AND m.ns = %(ns)s
) m FULL JOIN (
    SELECT * FROM mirror_files WHERE ns = %(ns)s AND root_id = %(root)s AND memory_id IS NOT NULL
) f ON f.memory_id = m.id
WHERE f.path IS NULL AND m.archived IS NOT TRUE
    OR m.id IS NULL AND f.state <> 'new'
    OR f.state IN ('clean', 'held') AND (f.revision <> m.revision OR f.layer <> m.layer
        OR f.archived <> coalesce(m.archived, false))
    OR f.state = 'clean' AND starts_with(f.path, 'archive/') <> coalesce(m.archived, false)
    OR f.state = 'gone' AND m.archived IS NOT TRUE
ORDER BY 1 LIMIT %(limit)s

-- mirror_nodes: memories of a scope by id
SELECT {node} FROM memories m WHERE m.ns = %(ns)s AND m.id = ANY (%(ids)s::uuid[])

-- mirror_whereabouts: where memories of these ids are
SELECT given.id::text, CASE WHEN m.ns = %(ns)s THEN 'here' WHEN m.id IS NOT NULL THEN 'elsewhere' ELSE 'erased' END AS place
FROM unnest(%(ids)s::uuid[]) AS given (id) LEFT JOIN memories m USING (id)
WHERE m.id IS NOT NULL OR EXISTS (SELECT FROM mirror_erased e WHERE e.memory_id = given.id)
    OR EXISTS (SELECT FROM tombstones t WHERE t.memory_id = given.id)

-- mirror_written: the files of memories, or of all of a scope, but for files that no memory was made of
SELECT f.path AS file, r.id::text, s.tenant, s.usr, s.project, r.path, r.host, r.kind, r.state, r.adopted, r.synced_at, r.report
FROM mirror_files f JOIN mirror_roots r ON r.id = f.root_id JOIN scopes s ON s.ns = r.ns
WHERE f.ns = %(ns)s AND (%(ids)s::uuid[] IS NULL OR f.memory_id = ANY (%(ids)s::uuid[]))
    AND f.memory_id IS NOT NULL AND f.state <> 'gone'
ORDER BY r.id, f.path

-- mirror_sessions_stale: sessions whose files are missing or not as they are, and files whose sessions are gone; a file that
-- another one is to be written in place of comes first
SELECT coalesce(s.id, f.session_id)::text AS id, f.path, f.next_seq AS file_seq, f.messages AS file_messages, f.bytes,
    s.id IS NOT NULL AS exists, s.name, s.status, s.opened_at, s.next_seq, s.messages
FROM (SELECT * FROM sessions WHERE ns = %(ns)s) s
FULL JOIN (SELECT * FROM mirror_sessions WHERE ns = %(ns)s AND root_id = %(root)s) f ON f.session_id = s.id
WHERE CASE
    WHEN f.session_id IS NULL THEN s.messages > 0 AND (s.status <> 'open' OR s.name = '')
    WHEN s.id IS NULL THEN true
    ELSE f.next_seq <> s.next_seq OR f.messages <> s.messages
        OR (f.path = %(current)s) <> (s.status = 'open' AND s.name = '')
END
ORDER BY f.path IS DISTINCT FROM %(current)s, 1 LIMIT %(limit)s

-- mirror_sessions_written: the files of sessions of a scope
SELECT f.path AS file, r.id::text, s.tenant, s.usr, s.project, r.path, r.host, r.kind, r.state, r.adopted, r.synced_at, r.report
FROM mirror_sessions f JOIN mirror_roots r ON r.id = f.root_id JOIN scopes s ON s.ns = r.ns
WHERE f.ns = %(ns)s ORDER BY r.id, f.path

-- mirror_session_put: the file of a session as it is now
INSERT INTO mirror_sessions (root_id, session_id, ns, path, next_seq, messages, bytes)
SELECT r.id, %(session)s, r.ns, %(path)s, %(next_seq)s, %(messages)s, %(bytes)s
FROM mirror_roots r WHERE r.ns = %(ns)s AND r.id = %(root)s
ON CONFLICT (root_id, session_id) DO UPDATE
SET path = EXCLUDED.path, next_seq = EXCLUDED.next_seq, messages = EXCLUDED.messages, bytes = EXCLUDED.bytes

-- mirror_session_drop: forget the file of a session
DELETE FROM mirror_sessions WHERE ns = %(ns)s AND root_id = %(root)s AND session_id = %(session)s

-- mirror_troubled: files of all scopes that are left alone until a person corrects them
SELECT r.host, r.path || '/' || f.path AS file, f.state, f.reason
FROM mirror_files f JOIN mirror_roots r ON r.id = f.root_id
WHERE f.state IN ('broken', 'held') ORDER BY f.state, f.root_id, f.path LIMIT %(limit)s

-- mirror_unsynced: folders of all scopes whose last sync did not come to its end
SELECT host, path, report ->> 'reason' AS reason FROM mirror_roots
WHERE report ->> 'reason' <> '' ORDER BY path, host LIMIT %(limit)s

-- project_lock: one process at a time decides who opens the projects of a user
SELECT pg_advisory_xact_lock(hashtextextended('biem.projects:' || %s, 0))

-- project_of_root: what a folder opens
SELECT key, linked FROM project_roots WHERE ns = %(ns)s AND host = %(host)s AND root = %(root)s

-- project_held: whether another folder has a key, or memories that no folder opened
SELECT true AS held
WHERE EXISTS (SELECT FROM project_roots r
        WHERE r.ns = %(ns)s AND r.key = %(key)s AND (r.host, r.root) <> (%(host)s, %(root)s))
    OR EXISTS (SELECT FROM memories m WHERE m.ns = %(project)s)
        AND NOT EXISTS (SELECT FROM project_roots r WHERE r.ns = %(ns)s AND r.key = %(key)s)

-- project_add: a project, unless it is there
INSERT INTO projects (ns, key) VALUES (%(ns)s, %(key)s) ON CONFLICT DO NOTHING

-- project_root_put: what a folder opens from now on
INSERT INTO project_roots (ns, host, root, key, linked) VALUES (%(ns)s, %(host)s, %(root)s, %(key)s, %(linked)s)
ON CONFLICT (ns, host, root) DO UPDATE SET key = EXCLUDED.key, linked = EXCLUDED.linked

-- project_rename: the name that is shown
UPDATE projects SET name = %(name)s WHERE ns = %(ns)s AND key = %(key)s

-- project_list: the projects of a user with their folders
SELECT p.key, p.name, p.created_at, coalesce(array_agg(r.host ORDER BY r.host, r.root) FILTER (WHERE r.root IS NOT NULL), '{}') AS hosts,
    coalesce(array_agg(r.root ORDER BY r.host, r.root) FILTER (WHERE r.root IS NOT NULL), '{}') AS roots
FROM projects p LEFT JOIN project_roots r USING (ns, key)
WHERE p.ns = %(ns)s
GROUP BY p.ns, p.key ORDER BY coalesce(nullif(p.name, ''), p.key), p.key
