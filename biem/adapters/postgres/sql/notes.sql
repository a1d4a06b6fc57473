-- Notes: libraries, files, chunks and tags.

-- note_library_add: register a folder, unless its name or its folder is taken
INSERT INTO note_libraries (id, ns, name, root, host, exclude)
VALUES (%(id)s, %(ns)s, %(name)s, %(root)s, %(host)s, %(exclude)s) ON CONFLICT DO NOTHING

-- note_libraries: the libraries of some scopes, null meaning all
SELECT l.id::text, s.tenant, s.usr, s.project, l.name, l.root, l.host, l.exclude, l.state, l.scanned_at, l.full_at, l.report,
    l.watched_at
FROM note_libraries l JOIN scopes s USING (ns)
WHERE %(scopes)s::text[] IS NULL OR l.ns = ANY (%(scopes)s) ORDER BY l.name, l.id

-- note_mirrored: folders of a machine that mirror memories
SELECT path FROM mirror_roots WHERE host = %(host)s ORDER BY path

-- note_library_state: active, or why it is not scanned
UPDATE note_libraries SET state = %(state)s WHERE ns = %(ns)s AND id = %(library)s

-- note_library_exclude: one pattern more
UPDATE note_libraries SET exclude = exclude || %(pattern)s::text
WHERE ns = %(ns)s AND id = %(library)s AND %(pattern)s <> ALL (exclude)

-- note_library_scanned: the end of a scan
UPDATE note_libraries
SET scanned_at = %(at)s, report = %(report)s, full_at = CASE WHEN %(full)s THEN %(at)s ELSE full_at END
WHERE ns = %(ns)s AND id = %(library)s

-- note_library_watched: a watcher is alive, or ended
UPDATE note_libraries SET watched_at = CASE WHEN %(alive)s THEN clock_timestamp() END
WHERE ns = %(ns)s AND id = %(library)s

-- note_count_tags: how many chunks have each tag of a scope
UPDATE tags t SET uses = counted.uses
FROM (
    SELECT t.id, coalesce(found.uses, 0) AS uses
    FROM tags t LEFT JOIN (
        SELECT tag, count(*)::integer AS uses
        FROM note_chunks c JOIN notes n ON n.id = c.note_id CROSS JOIN LATERAL unnest(c.tag_ids || n.tag_ids) AS tag
        WHERE c.ns = %(ns)s GROUP BY tag
    ) found ON found.tag = t.id
    WHERE t.ns = %(ns)s
) counted
WHERE t.id = counted.id AND t.uses <> counted.uses

-- note_files: what is known of the files of a library, as columns
SELECT coalesce(array_agg(path), '{}') AS paths, coalesce(array_agg(bytes), '{}') AS bytes,
    coalesce(array_agg(mtime_ns), '{}') AS mtimes, coalesce(array_agg(inode::text), '{}') AS inodes,
    coalesce(array_agg(sha256), '{}') AS hashes, coalesce(array_agg(state = 'skipped'), '{}') AS skipped
FROM notes WHERE ns = %(ns)s AND library_id = %(library)s

-- note_files_at: the same of some paths, and of those that lead to the same files
SELECT coalesce(array_agg(path), '{}') AS paths, coalesce(array_agg(bytes), '{}') AS bytes,
    coalesce(array_agg(mtime_ns), '{}') AS mtimes, coalesce(array_agg(inode::text), '{}') AS inodes,
    coalesce(array_agg(sha256), '{}') AS hashes, coalesce(array_agg(state = 'skipped'), '{}') AS skipped
FROM notes WHERE ns = %(ns)s AND library_id = %(library)s AND inode IN (
    SELECT inode FROM notes WHERE ns = %(ns)s AND library_id = %(library)s AND path = ANY (%(paths)s::text[]))

-- note_library_lock: a library that no other transaction removes or changes meanwhile
SELECT exclude FROM note_libraries WHERE ns = %(ns)s AND id = %(library)s FOR SHARE

-- note_tags_add: tags that are not there yet, in an order that no two writers can cross
INSERT INTO tags (ns, name, shown, sha256, idle)
SELECT %(ns)s, t.name, t.shown, t.sha, t.idle
FROM unnest(%(names)s::text[], %(shown)s::text[], %(shas)s::bytea[], %(idle)s::boolean[]) AS t (name, shown, sha, idle)
ORDER BY t.name
ON CONFLICT (ns, name) DO NOTHING

-- note_tags_ids: ids of tags by name
SELECT id, name FROM tags WHERE ns = %(ns)s AND name = ANY (%(names)s)

-- note_move: a file under another path
UPDATE notes SET path = %(path)s WHERE ns = %(ns)s AND library_id = %(library)s AND path = %(former)s

-- note_put: a file that was read; nobody holds a lease of what it was before
INSERT INTO notes AS n (id, ns, library_id, path, title, sha256, bytes, mtime_ns, inode, encoding, front, at, tag_ids, tag_counts)
VALUES (%(id)s, %(ns)s, %(library)s, %(path)s, %(title)s, %(sha256)s, %(bytes)s, %(mtime_ns)s, %(inode)s, %(encoding)s,
    %(front)s, %(at)s, %(tag_ids)s, %(tag_counts)s)
ON CONFLICT (library_id, path) DO UPDATE SET
    title = EXCLUDED.title, sha256 = EXCLUDED.sha256, bytes = EXCLUDED.bytes, mtime_ns = EXCLUDED.mtime_ns,
    inode = EXCLUDED.inode, encoding = EXCLUDED.encoding, front = EXCLUDED.front, at = EXCLUDED.at,
    tag_ids = EXCLUDED.tag_ids, tag_counts = EXCLUDED.tag_counts, state = 'pending', reason = '', attempts = 0,
    claims = n.claims + 1, due_at = clock_timestamp(), read_at = clock_timestamp()
RETURNING id::text

-- note_chunk_keys: the keys of the chunks of a note
SELECT chunk_key AS key FROM note_chunks WHERE ns = %(ns)s AND note_id = %(note)s

-- note_chunks_drop: chunks of a note by key, null meaning all; they leave tombstones
WITH gone AS (
    DELETE FROM note_chunks c WHERE c.ns = %(ns)s AND c.note_id = %(note)s
        AND (%(keys)s::bytea[] IS NULL OR c.chunk_key = ANY (%(keys)s::bytea[]))
    RETURNING c.id, c.ns
), marked AS (
    INSERT INTO tombstones (memory_id, ns, erased_at, look_at)
    SELECT id, ns, clock_timestamp(), clock_timestamp() + interval '5 minutes' FROM gone ON CONFLICT DO NOTHING
)
SELECT id::text FROM gone

-- note_stored_chunks: the keys and places of the chunks of a note, and the names of its own tags
SELECT c.keys, c.places, c.firsts, c.lasts, n.tag_counts,
    ARRAY(SELECT t.name FROM unnest(n.tag_ids) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS tags
FROM notes n CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(chunk_key), '{}') AS keys, coalesce(array_agg(place), '{}') AS places,
        coalesce(array_agg(line_start), '{}') AS firsts, coalesce(array_agg(line_end), '{}') AS lasts
    FROM note_chunks WHERE note_id = n.id
) c
WHERE n.ns = %(ns)s AND n.library_id = %(library)s AND n.path = %(path)s AND n.state <> 'skipped'

-- note_chunks_keep: where chunks that are there stand now
UPDATE note_chunks c
SET place = r.place, line_start = r.line_start, line_end = r.line_end
FROM jsonb_to_recordset(%(chunks)s) AS r (place integer, key text, line_start integer, line_end integer)
WHERE c.ns = %(ns)s AND c.note_id = %(note)s AND c.chunk_key = decode(r.key, 'hex')

-- note_chunks_count: how many chunks a note has
SELECT count(*) AS there FROM note_chunks WHERE ns = %(ns)s AND note_id = %(note)s

-- note_chunks_put: the chunks of a note; those that are there keep their id and what only their text decides
INSERT INTO note_chunks AS c (id, ns, note_id, place, chunk_key, line_start, line_end, depth, chain, levels,
    body, body_sha, lexemes, tokens, tag_ids, tag_counts)
SELECT r.id, %(ns)s, %(note)s, r.place, decode(r.key, 'hex'), r.line_start, r.line_end, r.depth,
    r.chain, r.levels, r.body, decode(r.body_sha, 'hex'), r.lexemes, r.tokens, r.tag_ids, r.tag_counts
FROM jsonb_to_recordset(%(chunks)s) AS r (id uuid, place integer, key text, line_start integer, line_end integer,
    depth smallint, chain integer[], levels smallint[], body text, body_sha text,
    lexemes text, tokens integer, tag_ids integer[], tag_counts smallint[])
ON CONFLICT (note_id, chunk_key) DO UPDATE SET
    place = EXCLUDED.place, line_start = EXCLUDED.line_start, line_end = EXCLUDED.line_end,
    tag_ids = EXCLUDED.tag_ids, tag_counts = EXCLUDED.tag_counts
WHERE (c.place, c.line_start, c.line_end, c.tag_ids, c.tag_counts)
    IS DISTINCT FROM (EXCLUDED.place, EXCLUDED.line_start, EXCLUDED.line_end, EXCLUDED.tag_ids, EXCLUDED.tag_counts)
RETURNING c.id::text

-- note_touch: size, time and inode of files whose content is the same
UPDATE notes n SET bytes = t.bytes, mtime_ns = t.mtime_ns, inode = t.inode, read_at = clock_timestamp()
FROM unnest(%(paths)s::text[], %(bytes)s::bigint[], %(mtimes)s::bigint[], %(inodes)s::numeric[]) AS t (path, bytes, mtime_ns, inode)
WHERE n.ns = %(ns)s AND n.library_id = %(library)s AND n.path = t.path

-- note_skip: a file that cannot be indexed
INSERT INTO notes AS n (id, ns, library_id, path, bytes, mtime_ns, inode, state, reason)
VALUES (%(id)s, %(ns)s, %(library)s, %(path)s, %(bytes)s, %(mtime_ns)s, %(inode)s, 'skipped', %(reason)s)
ON CONFLICT (library_id, path) DO UPDATE SET
    sha256 = '', bytes = EXCLUDED.bytes, mtime_ns = EXCLUDED.mtime_ns, inode = EXCLUDED.inode, state = 'skipped',
    reason = EXCLUDED.reason, claims = n.claims + 1, title = '', encoding = '', front = '{}', at = NULL,
    tag_ids = '{}', tag_counts = '{}', read_at = clock_timestamp()
RETURNING id::text

-- note_delete: notes and their chunks, which leave tombstones
WITH gone AS (
    SELECT c.id, c.ns FROM note_chunks c JOIN notes n ON n.id = c.note_id
    WHERE n.ns = %(ns)s AND n.library_id = %(library)s AND (%(paths)s::text[] IS NULL OR n.path = ANY (%(paths)s))
), marked AS (
    INSERT INTO tombstones (memory_id, ns, erased_at, look_at)
    SELECT id, ns, clock_timestamp(), clock_timestamp() + interval '5 minutes' FROM gone ON CONFLICT DO NOTHING
), deleted AS (
    DELETE FROM notes
    WHERE ns = %(ns)s AND library_id = %(library)s AND (%(paths)s::text[] IS NULL OR path = ANY (%(paths)s))
)
SELECT id::text FROM gone

-- note_claim_fresh: lease pending notes that were never tried, oldest first
WITH due AS (
    SELECT id FROM notes WHERE state = 'pending' AND attempts = 0 AND due_at <= clock_timestamp()
    ORDER BY due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE notes n SET attempts = 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE n.id = ANY (ARRAY(SELECT id FROM due))
RETURNING n.id::text AS note_id, n.claims, n.attempts

-- note_claim_retried: lease one that was tried before; alone, so that it cannot take others down with it
WITH due AS (
    SELECT id FROM notes WHERE state = 'pending' AND attempts > 0 AND due_at <= clock_timestamp()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE notes n
SET attempts = attempts + 1, claims = claims + 1, due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
WHERE n.id = ANY (ARRAY(SELECT id FROM due))
RETURNING n.id::text AS note_id, n.claims, n.attempts

-- note_renew: extend leases that are still held
UPDATE notes n SET due_at = clock_timestamp() + make_interval(secs => %(lease_s)s)
FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS held (id, claims)
WHERE n.id = held.id AND n.claims = held.claims AND n.state = 'pending'

-- note_pending_chunks: what a model has to embed of leased notes
SELECT c.id::text, c.ns, c.note_id::text, n.library_id::text, n.at, c.body, c.body_sha AS sha, c.lexemes,
    ARRAY(SELECT t.shown FROM unnest(c.chain) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS headings,
    n.claims > 1 OR c.model <> '' AS again
FROM note_chunks c JOIN notes n ON n.id = c.note_id
WHERE c.note_id = ANY (%(notes)s::uuid[]) AND c.model <> %(model)s ORDER BY c.note_id, c.place

-- note_pending_tags: tags of leased notes, and those that others were renamed to, that a model has not embedded
SELECT t.id, t.ns, t.shown, t.sha256 AS sha FROM tags t
WHERE t.model <> %(model)s AND NOT t.idle AND t.same_as IS NULL AND (
    t.id IN (SELECT unnest(n.tag_ids) FROM notes n WHERE n.id = ANY (%(notes)s::uuid[])
        UNION SELECT unnest(c.tag_ids) FROM note_chunks c WHERE c.note_id = ANY (%(notes)s::uuid[]))
    OR t.id IN (SELECT x.same_as FROM tags x WHERE x.same_as IS NOT NULL))
ORDER BY t.id

-- note_save_vectors: vectors of texts that a chunk or a tag has; the lock orders it with an erasure
INSERT INTO embeddings (model, sha256, vector)
SELECT %(model)s, sha, vec FROM unnest(%(keys)s::bytea[], %(vectors)s::bytea[]) AS v (sha, vec)
WHERE EXISTS (SELECT FROM note_chunks c WHERE c.body_sha = v.sha FOR KEY SHARE)
    OR EXISTS (SELECT FROM tags t WHERE t.sha256 = v.sha FOR KEY SHARE)
ON CONFLICT (model, sha256) DO UPDATE SET vector = EXCLUDED.vector -- one of another length is damaged

-- note_chunks_indexed: chunks whose rows are in this model's collection
UPDATE note_chunks SET model = %(model)s WHERE id = ANY (%(ids)s::uuid[]) RETURNING id::text

-- note_tags_indexed: tags whose rows are in this model's collection
UPDATE tags SET model = %(model)s WHERE id = ANY (%(ids)s::integer[])

-- note_finish: notes that have nothing pending
UPDATE notes n SET state = 'indexed', attempts = 0, reason = ''
FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS held (id, claims)
WHERE n.id = held.id AND n.claims = held.claims AND n.state = 'pending'
    AND NOT EXISTS (SELECT FROM note_chunks c WHERE c.note_id = n.id AND c.model <> %(model)s)

-- note_release: return leases for later
UPDATE notes n SET due_at = clock_timestamp() + make_interval(secs => %(delay_s)s), reason = %(reason)s,
    attempts = greatest(0, attempts - %(refund)s)
FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS held (id, claims)
WHERE n.id = held.id AND n.claims = held.claims AND n.state = 'pending'

-- note_fail: give notes up
UPDATE notes n SET state = 'failed', reason = %(reason)s
FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS held (id, claims)
WHERE n.id = held.id AND n.claims = held.claims AND n.state = 'pending'

-- note_backlog: notes that are pending
SELECT count(*) AS notes FROM notes WHERE state = 'pending' AND (%(scopes)s::text[] IS NULL OR ns = ANY (%(scopes)s))

-- note_withdraw: notes whose chunks another model indexed, after a completed move to this one
UPDATE notes SET state = 'pending', attempts = 0, claims = claims + 1, due_at = clock_timestamp()
WHERE EXISTS (SELECT FROM embedders WHERE state = 'current' AND model = %(model)s) AND id IN (
    (SELECT note_id FROM note_chunks WHERE model < %(model)s LIMIT %(limit)s)
    UNION
    (SELECT note_id FROM note_chunks WHERE model > %(model)s LIMIT %(limit)s))
    AND state = 'indexed'

-- note_forget_index: everything is to be indexed again
WITH chunks AS (
    UPDATE note_chunks SET model = '' WHERE model <> '' RETURNING note_id
), again AS (
    UPDATE tags SET model = '' WHERE model <> ''
)
UPDATE notes SET state = 'pending', attempts = 0, claims = claims + 1, due_at = clock_timestamp()
WHERE id IN (SELECT note_id FROM chunks) AND state <> 'skipped'

-- note_unmoved_chunks: chunks after an id that a model has not indexed
SELECT c.id::text, c.ns, c.note_id::text, n.library_id::text, n.at, c.body, c.body_sha AS sha, c.lexemes,
    ARRAY(SELECT t.shown FROM unnest(c.chain) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS headings,
    true AS again
FROM note_chunks c JOIN notes n ON n.id = c.note_id
WHERE c.id > %(after)s::uuid AND c.model <> %(model)s ORDER BY c.id LIMIT %(limit)s

-- note_unmoved_tags: tags that a model has not embedded
SELECT t.id, t.ns, t.shown, t.sha256 AS sha FROM tags t
WHERE t.model <> %(model)s AND NOT t.idle AND t.same_as IS NULL ORDER BY t.id LIMIT %(limit)s

-- note_indexed_page: chunks after an id that a model has indexed
SELECT id::text FROM note_chunks WHERE id > %(after)s::uuid AND model = %(model)s ORDER BY id LIMIT %(limit)s

-- note_existing: which of these are chunks
SELECT id::text FROM note_chunks WHERE id = ANY (%(ids)s::uuid[])

-- note_index_again: chunks whose rows were lost
WITH lost AS (
    UPDATE note_chunks SET model = '' WHERE id = ANY (%(ids)s::uuid[]) RETURNING note_id
)
UPDATE notes SET state = 'pending', attempts = 0, claims = claims + 1, due_at = clock_timestamp()
WHERE id IN (SELECT note_id FROM lost) AND state <> 'skipped'

-- note_overdue: notes that have been due for long
SELECT count(*) AS notes FROM notes
WHERE state = 'pending' AND due_at < clock_timestamp() - make_interval(secs => %(seconds)s)

-- note_failed: notes that were given up
SELECT path FROM notes WHERE state = 'failed' ORDER BY path LIMIT %(limit)s

-- note_has: whether scopes have a library
SELECT EXISTS (SELECT FROM note_libraries WHERE ns = ANY (%(scopes)s)) AS there

-- note_matching: search by words without the index; some chunks of each word, or its common words would hide a rare one
SELECT DISTINCT ON (found.id) found.id::text, found.lexemes
FROM (
    SELECT f.id, f.lexemes FROM matching_chunks(%(scopes)s, %(words)s::tsquery, %(libraries)s::uuid[], %(most)s) f
    UNION ALL
    SELECT f.id, f.lexemes
    FROM unnest(%(each)s::text[]) AS one (word)
        CROSS JOIN LATERAL matching_chunks(%(scopes)s, one.word::tsquery, %(libraries)s::uuid[], %(few)s) f
) found

-- note_matching_unindexed: the same in chunks of waiting notes that a model lacks; OFFSET 0 begins with the few notes
WITH waiting AS MATERIALIZED (
    SELECT c.id, c.lexemes, c.tsv, ts_rank(c.tsv, %(words)s::tsquery, 1) AS rank
    FROM notes n CROSS JOIN LATERAL (
        SELECT id, lexemes, tsv FROM note_chunks
        WHERE note_id = n.id AND model <> %(model)s AND tsv @@ %(words)s::tsquery OFFSET 0
    ) c
    WHERE n.ns = ANY (%(scopes)s) AND n.state IN ('pending', 'failed')
        AND (%(libraries)s::uuid[] IS NULL OR n.library_id = ANY (%(libraries)s::uuid[]))
)
(SELECT id::text, lexemes FROM waiting ORDER BY rank DESC, id LIMIT %(most)s)
UNION
(SELECT f.id::text, f.lexemes
FROM unnest(%(each)s::text[]) AS one (word) CROSS JOIN LATERAL (
    SELECT w.id, w.lexemes
    FROM (SELECT id, lexemes, rank FROM waiting WHERE tsv @@ one.word::tsquery LIMIT %(most)s) w -- all, of a rare word
    ORDER BY w.rank DESC, w.id LIMIT %(few)s
) f
WHERE (SELECT count(*) FROM waiting) > %(most)s)

-- note_pool: what ranking needs of chunks, where asked for with the headings above each; many share their lists of numbers, whose bytes tell one from another
SELECT c.id::text, c.note_id::text, n.library_id::text, c.ns, c.place, n.at, array_send(c.tag_ids) AS tag_ids,
    array_send(c.tag_counts::integer[]) AS tag_counts, array_send(n.tag_ids) AS note_tag_ids,
    array_send(n.tag_counts::integer[]) AS note_tag_counts, c.body_sha AS sha,
    array_send(ARRAY(SELECT (t.number - 1)::integer
        FROM unnest((SELECT %(terms)s::text[]::tsquery[])) WITH ORDINALITY AS t (term, number) -- read once, not for each chunk
        WHERE c.tsv @@ t.term)) AS asked,
    CASE WHEN %(headings)s THEN ARRAY(
        SELECT t.shown FROM unnest(c.chain) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number)
    ELSE '{}' END AS headings
FROM note_chunks c JOIN notes n ON n.id = c.note_id
WHERE c.id = ANY (%(ids)s::uuid[]) AND c.ns = ANY (%(scopes)s)

-- note_passages: chunks by id, or all of one note in order, with their texts
SELECT c.id::text, c.place, c.line_start, c.line_end, c.levels, c.body, c.tokens,
    ARRAY(SELECT t.shown FROM unnest(c.chain) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS headings,
    ARRAY(SELECT t.shown FROM unnest(c.tag_ids) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS tags,
    n.id::text AS note_id, s.tenant, s.usr, s.project, l.name AS library, l.root, n.path, n.title, n.at, n.state,
    n.reason, n.bytes,
    ARRAY(SELECT t.shown FROM unnest(n.tag_ids) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS note_tags
FROM note_chunks c JOIN notes n ON n.id = c.note_id JOIN note_libraries l ON l.id = n.library_id JOIN scopes s ON s.ns = c.ns
WHERE (c.id = ANY (%(ids)s::uuid[]) OR c.note_id = %(note)s::uuid) AND c.ns = ANY (%(scopes)s)
ORDER BY c.place

-- note_sizes: newest chunk, span of time and whether the index lacks notes, by scope; each is one look into an index, which a join need not be
SELECT ns, newest_chunk, newest, oldest, unindexed FROM (
    SELECT s.ns, (SELECT c.id::text FROM note_chunks c WHERE c.ns = s.ns ORDER BY c.id DESC LIMIT 1) AS newest_chunk,
        (SELECT max(n.at) FROM notes n WHERE n.ns = s.ns) AS newest, (SELECT min(n.at) FROM notes n WHERE n.ns = s.ns) AS oldest,
        EXISTS (SELECT FROM notes n WHERE n.ns = s.ns AND n.state IN ('pending', 'failed')) AS unindexed
    FROM unnest(%(scopes)s::text[]) AS s (ns) OFFSET 0
) found
WHERE unindexed OR num_nonnulls(newest_chunk, newest) > 0

-- note_chunk_counts: number of chunks by scope
SELECT ns, count(*)::integer AS chunks FROM note_chunks WHERE ns = ANY (%(scopes)s) GROUP BY ns

-- note_tags: tags by id, each with the one that stands for it
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT t.id, t.ns, t.shown, t.sha256, t.idle, t.uses, t.same_as FROM tags t
    WHERE t.id = ANY (%(ids)s::integer[]) AND t.ns = ANY (%(scopes)s)
), led (id, root, same_as, hops) AS (
    SELECT a.id, a.id, a.same_as, 0 FROM asked a WHERE a.same_as IS NOT NULL
    UNION ALL
    SELECT led.id, t.id, t.same_as, led.hops + 1 FROM led JOIN tags t ON t.id = led.same_as WHERE led.hops < 8
)
SELECT a.id, a.ns, a.shown, a.id AS root, a.shown AS root_shown, a.sha256 AS sha, a.idle, a.uses
FROM asked a WHERE a.same_as IS NULL
UNION ALL
SELECT a.id, a.ns, a.shown, root.id, root.shown, root.sha256, root.idle,
    root.uses + CASE WHEN root.id = a.id THEN 0 ELSE a.uses END
FROM (SELECT DISTINCT ON (led.id) led.id, led.root FROM led ORDER BY led.id, led.hops DESC) AS ends
JOIN asked a ON a.id = ends.id JOIN tags root ON root.id = ends.root

-- note_named_tags: tags by name, and all that others stand for, with these
SELECT id, NULL::integer AS same_as FROM tags WHERE ns = ANY (%(scopes)s) AND name = ANY (%(names)s::text[]) AND NOT idle
UNION ALL
SELECT id, same_as FROM tags WHERE same_as IS NOT NULL AND ns = ANY (%(scopes)s)

-- note_tagged: notes that have one of these tags, or one that these stand for
SELECT id::text FROM tagged_notes(%(scopes)s,
    %(tags)s::integer[] || ARRAY(SELECT t.id FROM tags t WHERE t.same_as = ANY (%(tags)s::integer[])), %(most)s)

-- note_tagged_chunks: the same, and their chunks, each with the key of its vector
WITH found AS MATERIALIZED (
    SELECT id FROM tagged_notes(%(scopes)s,
        %(tags)s::integer[] || ARRAY(SELECT t.id FROM tags t WHERE t.same_as = ANY (%(tags)s::integer[])), %(most)s)
)
SELECT id::text, NULL::bytea AS sha FROM found
UNION ALL
(SELECT c.id::text, c.body_sha FROM found f CROSS JOIN LATERAL (
    SELECT id, body_sha FROM note_chunks WHERE note_id = f.id AND ns = ANY (%(scopes)s)
) c LIMIT %(chunks)s)

-- note_tag_list: tags whose name begins so, most used first
SELECT id FROM tags WHERE ns = %(ns)s AND starts_with(name, %(prefix)s) AND NOT idle AND (uses > 0 OR same_as IS NOT NULL)
ORDER BY uses DESC, name LIMIT %(limit)s

-- note_rename_tag: one tag stands for another; what stood for this one the other way round ends
WITH free AS (
    UPDATE tags SET same_as = NULL WHERE id = %(new)s AND same_as = %(old)s RETURNING id
)
UPDATE tags SET same_as = %(new)s WHERE ns = %(ns)s AND id = %(old)s

-- note_restore_tag: a tag stands for itself again
UPDATE tags SET same_as = NULL WHERE ns = %(ns)s AND name = %(name)s AND same_as IS NOT NULL

-- notes_alike: paths of notes whose file is called as another one is
SELECT path FROM (
    SELECT path, count(*) OVER (PARTITION BY substring(path FROM '[^/]*$')) AS files FROM notes WHERE ns = ANY (%(scopes)s)
) named
WHERE files > 1

-- notes_at: notes whose path is this one or ends in it
SELECT n.id::text, s.tenant, s.usr, s.project, l.name AS library, l.root, n.path, n.title, n.at, n.state, n.reason, n.bytes,
    ARRAY(SELECT t.shown FROM unnest(n.tag_ids) WITH ORDINALITY AS h (id, number) JOIN tags t ON t.id = h.id ORDER BY h.number) AS note_tags
FROM notes n JOIN note_libraries l ON l.id = n.library_id JOIN scopes s ON s.ns = n.ns
WHERE n.ns = ANY (%(scopes)s) AND (n.path = %(path)s OR right(n.path, length(%(path)s) + 1) = '/' || %(path)s)
ORDER BY n.path <> %(path)s, l.name, n.path LIMIT 20

-- note_stats: counts of a library
SELECT count(*) FILTER (WHERE state = 'pending') AS pending, count(*) FILTER (WHERE state = 'indexed') AS indexed,
    count(*) FILTER (WHERE state = 'skipped') AS skipped, count(*) FILTER (WHERE state = 'failed') AS failed,
    (SELECT count(*) FROM note_chunks c JOIN notes x ON x.id = c.note_id WHERE x.library_id = %(library)s) AS chunks,
    (SELECT count(*) FROM note_chunks c JOIN notes x ON x.id = c.note_id
        WHERE x.library_id = %(library)s AND c.model <> %(model)s) AS pending_chunks,
    (SELECT count(*) FROM tags t WHERE t.ns = %(ns)s AND t.uses > 0) AS tags
FROM notes WHERE ns = %(ns)s AND library_id = %(library)s

-- note_troubled: files that are not searched, with the reason
SELECT path, reason FROM notes
WHERE ns = %(ns)s AND library_id = %(library)s AND state IN ('skipped', 'failed') ORDER BY path LIMIT %(limit)s

-- note_erase_targets: texts and chunks that an erasure of notes is about, null meaning all notes of the library
SELECT c.id::text, c.body_sha AS sha FROM note_chunks c JOIN notes n ON n.id = c.note_id
WHERE n.ns = %(ns)s AND (%(library)s::uuid IS NULL OR n.library_id = %(library)s)
    AND (%(paths)s::text[] IS NULL OR n.path = ANY (%(paths)s))
FOR UPDATE OF n

-- note_erase_libraries: all libraries of a scope, with what hangs on them
DELETE FROM note_libraries WHERE ns = %(ns)s AND (%(library)s::uuid IS NULL OR id = %(library)s)

-- note_erase_unused: tags that no note of the scope has any more
DELETE FROM tags t
WHERE t.ns = %(ns)s AND t.id NOT IN (
        SELECT unnest(n.tag_ids) FROM notes n WHERE n.ns = %(ns)s
        UNION SELECT unnest(c.tag_ids || c.chain) FROM note_chunks c WHERE c.ns = %(ns)s)
    AND (%(all)s OR t.same_as IS NULL AND NOT EXISTS (SELECT FROM tags x WHERE x.same_as = t.id))
RETURNING t.id, t.sha256 AS sha

-- note_erase_vectors: kept vectors that nothing else has
DELETE FROM embeddings e
WHERE e.sha256 = ANY (%(vectors)s)
    AND NOT EXISTS (SELECT FROM memories o WHERE o.embed_sha = e.sha256)
    AND NOT EXISTS (SELECT FROM memory_revisions r WHERE r.embed_sha = e.sha256)
    AND NOT EXISTS (SELECT FROM note_chunks c WHERE c.body_sha = e.sha256)
    AND NOT EXISTS (SELECT FROM tags t WHERE t.sha256 = e.sha256)

-- note_remains: rows of a scope by table
SELECT (SELECT count(*) FROM note_libraries WHERE ns = %(ns)s) AS note_libraries,
    (SELECT count(*) FROM notes WHERE ns = %(ns)s) AS notes,
    (SELECT count(*) FROM note_chunks WHERE ns = %(ns)s) AS note_chunks,
    (SELECT count(*) FROM tags WHERE ns = %(ns)s) AS tags,
    (SELECT count(*) FROM note_verdicts WHERE ns = %(ns)s) AS note_verdicts
