-- tombstones_due: what was erased and is to be looked for again, longest due first
SELECT memory_id::text, ns FROM tombstones WHERE look_at <= clock_timestamp() ORDER BY look_at LIMIT %(limit)s

-- tombstones_void: what is a memory again, as after a backup was brought back, is not looked for
DELETE FROM tombstones t WHERE look_at <= clock_timestamp() AND EXISTS (SELECT FROM memories m WHERE m.id = t.memory_id)

-- tombstones_looked: look once more when twice the time has passed, so that what a sleeper left stays no longer than he slept
UPDATE tombstones SET look_at = clock_timestamp() + (clock_timestamp() - erased_at) WHERE memory_id = ANY (%(ids)s::uuid[])

-- tombstones_forget: nobody sleeps for so long
DELETE FROM tombstones WHERE memory_id IN (
    SELECT memory_id FROM tombstones WHERE memory_id = ANY (%(ids)s::uuid[])
        AND erased_at < clock_timestamp() - make_interval(secs => %(kept_s)s))
