-- Items: JSON documents under a namespace and a key. Writes run after `lock_scope`.

-- item_lock: the items of some keys, locked
SELECT path, key, memory_id::text, expires_at FROM items
WHERE ns = %(ns)s AND (path, key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[])) FOR UPDATE

-- item_put: write an item; one that has expired begins anew
INSERT INTO items AS i (ns, path, key, value, memory_id, created_at, updated_at, ttl_s, expires_at)
VALUES (%(ns)s, %(path)s, %(key)s, %(value)s, %(memory)s, %(now)s, %(now)s, %(ttl_s)s, %(expires_at)s)
ON CONFLICT (ns, path, key) DO UPDATE
SET value = EXCLUDED.value, memory_id = EXCLUDED.memory_id, updated_at = greatest(%(now)s, i.updated_at + interval '1 microsecond'),
    created_at = CASE WHEN i.expires_at <= %(now)s THEN %(now)s ELSE i.created_at END,
    ttl_s = EXCLUDED.ttl_s, expires_at = EXCLUDED.expires_at, seq = nextval('item_writes')
RETURNING path, key, value::text, memory_id::text, created_at, updated_at, ttl_s, expires_at, seq

-- item_kept: the memory of an item ends with it, and no earlier
UPDATE memories SET expires_at = %(expires_at)s, on_expiry = 'erase', due_at = %(expires_at)s
WHERE id = %(memory)s AND ns = %(ns)s

-- item_ended: memories that no item has any more are hidden at once, and erased by a job
UPDATE memories SET expires_at = %(now)s, on_expiry = 'erase', due_at = %(now)s
WHERE ns = %(ns)s AND id = ANY (%(ids)s::uuid[]) AND (expires_at IS NULL OR expires_at > %(now)s)

-- item_delete: remove items
DELETE FROM items
WHERE ns = %(ns)s AND (path, key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
RETURNING memory_id::text, expires_at IS NULL OR expires_at > %(now)s AS live

-- item_get: items of some keys that have not expired
SELECT path, key, value::text, memory_id::text, created_at, updated_at, ttl_s, expires_at, seq FROM items
WHERE ns = %(ns)s AND (path, key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
    AND (expires_at IS NULL OR expires_at > %(now)s)

-- item_page: a page of the items below a namespace, last written first
SELECT path, key, value::text, memory_id::text, created_at, updated_at, ttl_s, expires_at, seq FROM items
WHERE ns = %(ns)s AND path >= %(first)s AND path < %(beyond)s
    AND (expires_at IS NULL OR expires_at > %(now)s)
    AND (%(contains)s::jsonb IS NULL OR value::jsonb @> %(contains)s::jsonb)
    AND (NOT %(found)s OR memory_id IS NOT NULL)
    AND seq < %(before)s
ORDER BY seq + 0 DESC LIMIT %(limit)s

-- item_page_of_all: the same of the whole scope, by the index of their order
SELECT path, key, value::text, memory_id::text, created_at, updated_at, ttl_s, expires_at, seq FROM items
WHERE ns = %(ns)s
    AND (expires_at IS NULL OR expires_at > %(now)s)
    AND (%(contains)s::jsonb IS NULL OR value::jsonb @> %(contains)s::jsonb)
    AND (NOT %(found)s OR memory_id IS NOT NULL)
    AND seq < %(before)s
ORDER BY seq DESC LIMIT %(limit)s

-- item_namespaces: the namespaces of items, cut to a depth, in the order of their labels
SELECT DISTINCT labels[1:coalesce(%(depth)s::integer, cardinality(labels))] AS labels
FROM (SELECT DISTINCT string_to_array(left(path, -1), '.') AS labels FROM items
    WHERE ns = %(ns)s AND (expires_at IS NULL OR expires_at > %(now)s)) p
WHERE NOT EXISTS (
    SELECT FROM jsonb_to_recordset(%(conditions)s) AS c (labels text[], at_end boolean)
    WHERE cardinality(p.labels) < cardinality(c.labels) OR EXISTS (
        SELECT FROM unnest(c.labels) WITH ORDINALITY AS w (label, place)
        WHERE w.label <> p.labels[w.place + CASE WHEN c.at_end THEN cardinality(p.labels) - cardinality(c.labels) ELSE 0 END]))
ORDER BY 1 LIMIT %(limit)s OFFSET %(offset)s

-- item_refresh: the time to live of items that were read begins anew, and that of their memories
WITH renewed AS (
    UPDATE items SET expires_at = %(now)s + make_interval(secs => ttl_s)
    WHERE ns = %(ns)s AND (path, key) IN (SELECT * FROM unnest(%(paths)s::text[], %(keys)s::text[]))
        AND expires_at > %(now)s
    RETURNING memory_id, expires_at
)
UPDATE memories m SET expires_at = r.expires_at, due_at = r.expires_at
FROM renewed r WHERE m.id = r.memory_id AND m.ns = %(ns)s AND m.on_expiry = 'erase'

-- item_sweep: remove items that have expired; their memories have, too
DELETE FROM items WHERE expires_at <= %(now)s AND (%(ns)s::text IS NULL OR ns = %(ns)s)
