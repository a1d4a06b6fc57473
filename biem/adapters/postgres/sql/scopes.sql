-- Whose memories there are.

-- scopes_listed: scopes of a tenant and a user, null meaning any, with what they hold and when they were last written to
SELECT s.tenant, s.usr, s.project, held.memories, held.pending, last.created_at
FROM scopes s
CROSS JOIN LATERAL (
    SELECT count(*) AS memories, count(*) FILTER (WHERE m.status = 'pending') AS pending
    FROM memories m WHERE m.ns = s.ns
) held
LEFT JOIN LATERAL (
    SELECT m.created_at FROM memories m WHERE m.ns = s.ns ORDER BY m.write_seq DESC LIMIT 1
) last ON true
WHERE (%(tenant)s::text IS NULL OR s.tenant = %(tenant)s) AND (%(user)s::text IS NULL OR s.usr = %(user)s)
ORDER BY s.tenant, s.usr, s.project

-- scopes_of_user: the projects of a user, of which the empty one is the user's own level
SELECT project FROM scopes WHERE tenant = %s AND usr = %s ORDER BY project
