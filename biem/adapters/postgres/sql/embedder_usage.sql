-- Calls of the server of an embedder, counted for its quota.

-- count_embedder_calls: add calls of today (UTC); returns all of this model
WITH today AS (
    INSERT INTO embedder_usage AS u (model, day, calls, texts)
    VALUES (%(model)s, (now() AT TIME ZONE 'UTC')::date, %(calls)s, %(texts)s)
    ON CONFLICT (model, day) DO UPDATE SET calls = u.calls + EXCLUDED.calls, texts = u.texts + EXCLUDED.texts
)
SELECT coalesce(sum(calls), 0)::bigint + %(calls)s AS calls FROM embedder_usage WHERE model = %(model)s

-- embedder_calls: calls of a model, all and the mean of a day among the last thirty since its first
SELECT coalesce(sum(calls), 0)::bigint AS calls,
    (coalesce(sum(calls) FILTER (WHERE day > today - 30), 0) / greatest(1, least(30, today - min(day) + 1)))::float8 AS a_day
FROM embedder_usage, (SELECT (now() AT TIME ZONE 'UTC')::date AS today) t WHERE model = %(model)s GROUP BY today
