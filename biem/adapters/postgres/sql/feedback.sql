-- What feedback says about memories, once a turn.

-- feedback_once: the feedback of a turn is taken; no row when it was taken before
INSERT INTO feedbacks (ns, turn, at) SELECT ns, %(turn)s, %(at)s FROM scopes WHERE ns = %(ns)s
ON CONFLICT DO NOTHING RETURNING turn

-- feedback_compact: turns that nobody repeats any more
DELETE FROM feedbacks WHERE (ns, turn) IN (
    SELECT ns, turn FROM feedbacks WHERE ns = %(ns)s AND at < %(before)s ORDER BY at LIMIT %(limit)s)

-- reward: feedback moves energy, counts praise, and lets rise what became hot or was useful often enough
WITH before AS MATERIALIZED (
    SELECT m.id, m.tier, given.mark, m.useful_count + (given.mark > 0)::integer AS useful,
        least(1, greatest(0, energy_at(m.energy_anchor, m.anchor_at, %(at)s, %(decay)s) + given.mark * %(step)s)) AS energy
    FROM memories m JOIN unnest(%(ids)s::uuid[], %(marks)s::double precision[]) AS given (id, mark) USING (id)
    WHERE m.ns = ANY (%(scopes)s) AND m.status <> 'archived'
    ORDER BY m.id FOR NO KEY UPDATE OF m
)
UPDATE memories m
SET energy_anchor = energy, anchor_at = greatest(anchor_at, %(at)s), useful_count = useful,
    tier = CASE WHEN status = 'active' AND energy >= %(promote)s THEN 'L1' ELSE m.tier END,
    layer = CASE WHEN layer = 'short_term' AND useful >= %(useful)s THEN 'long_term' ELSE layer END,
    useful_at = CASE WHEN mark > 0 THEN %(at)s WHEN mark < 0 THEN NULL ELSE useful_at END
FROM before WHERE m.id = before.id
RETURNING m.id::text, m.ns, m.energy_anchor, m.anchor_at, greatest(m.anchor_at, m.accessed_at), m.tier, before.tier
