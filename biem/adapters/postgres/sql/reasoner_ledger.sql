-- Costs of the language model. Both writers lock the day's total first, so that they never deadlock.

-- reserve_reasoner_call: count a call and reserve tokens for it, unless the daily budget would be exceeded; then no row
WITH total AS (
    INSERT INTO reasoner_usage AS u (ns, day, use, calls, reserved)
    SELECT ns, %(day)s, 'total', 1, %(tokens)s FROM scopes
    WHERE ns = %(ns)s AND %(daily_calls)s::bigint >= 1 AND %(tokens)s::bigint <= %(daily_tokens)s::bigint
    ON CONFLICT (ns, day, use) DO UPDATE SET calls = u.calls + 1, reserved = u.reserved + excluded.reserved
    WHERE u.calls < %(daily_calls)s::bigint
        AND u.tokens_in + u.tokens_out + u.reserved + excluded.reserved <= %(daily_tokens)s::bigint
    RETURNING ns, day
)
INSERT INTO reasoner_usage AS u (ns, day, use, calls, reserved)
SELECT ns, day, %(use)s, 1, %(tokens)s FROM total
ON CONFLICT (ns, day, use) DO UPDATE SET calls = u.calls + 1, reserved = u.reserved + excluded.reserved
RETURNING calls

-- settle_reasoner_call: replace the reserved tokens by those used
WITH total AS (
    UPDATE reasoner_usage
    SET reserved = greatest(0, reserved - %(reserved)s), tokens_in = tokens_in + %(tokens_in)s,
        tokens_out = tokens_out + %(tokens_out)s, failures = failures + %(failed)s
    WHERE ns = %(ns)s AND day = %(day)s AND use = 'total'
    RETURNING ns, day
)
UPDATE reasoner_usage u
SET reserved = greatest(0, u.reserved - %(reserved)s), tokens_in = u.tokens_in + %(tokens_in)s,
    tokens_out = u.tokens_out + %(tokens_out)s, failures = u.failures + %(failed)s
FROM total WHERE u.ns = total.ns AND u.day = total.day AND u.use = %(use)s

-- reasoner_spent: costs since a day, by day and use
SELECT day, use, calls, failures, tokens_in, tokens_out FROM reasoner_usage
WHERE ns = %(ns)s AND day >= %(since)s AND use <> 'total' ORDER BY day, use

-- forget_reasoner_usage: drop the counts of days long past
DELETE FROM reasoner_usage WHERE ns = %(ns)s AND day < %(before)s
