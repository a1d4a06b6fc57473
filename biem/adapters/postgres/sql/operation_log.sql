-- How long operations took, as AIMate's table of metrics has it.

-- metrics_add: some operations at once
INSERT INTO metrics (operation, layer, duration_ms, breakdown, timestamp, context)
SELECT operation, layer, duration_ms, breakdown, "timestamp", context
FROM jsonb_to_recordset(%s) AS r (operation text, layer text, duration_ms double precision, breakdown jsonb,
    "timestamp" timestamptz, context jsonb)

-- metrics_drop: a bounded number of rows that are too old
DELETE FROM metrics WHERE id IN (
    SELECT id FROM metrics WHERE timestamp < %(before)s ORDER BY timestamp LIMIT %(limit)s)

-- metrics_table: percentiles of every operation and of its steps since an instant, of all processes
SELECT stage, count(*) AS operations, percentile_disc(ARRAY[0.5, 0.9, 0.99, 1]) WITHIN GROUP (ORDER BY ms) AS percentiles
FROM (
    SELECT operation AS stage, duration_ms AS ms FROM metrics WHERE timestamp >= %(since)s
    UNION ALL
    SELECT operation || ' ' || step.key, step.value::double precision
    FROM metrics, jsonb_each_text(breakdown) AS step WHERE timestamp >= %(since)s
) AS durations
GROUP BY stage ORDER BY stage
