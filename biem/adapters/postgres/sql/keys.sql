-- API keys. They are looked up by id; the caller compares the hashes.

-- key_add: store a new key
INSERT INTO api_keys (id, name, secret_sha, tenant, user_name, project, grants, created_at, expires_at)
VALUES (%(id)s, %(name)s, %(secret_sha)s, %(tenant)s, %(user)s, %(project)s, %(grants)s, %(created_at)s, %(expires_at)s)

-- key_get: one key, with the hash of its secret
SELECT id, name, tenant, user_name, project, grants, created_at, expires_at, last_used_at, revoked_at, secret_sha
FROM api_keys WHERE id = %(id)s

-- key_list: the keys of a tenant, oldest first; those revoked too
SELECT id, name, tenant, user_name, project, grants, created_at, expires_at, last_used_at, revoked_at
FROM api_keys WHERE tenant = %(tenant)s ORDER BY tenant, created_at, id

-- key_revoke: from now on it opens nothing
UPDATE api_keys SET revoked_at = %(at)s WHERE id = %(id)s AND tenant = %(tenant)s AND revoked_at IS NULL

-- key_used: note a use, at most once a minute
UPDATE api_keys SET last_used_at = %(at)s
WHERE id = %(id)s AND (last_used_at IS NULL OR last_used_at < %(at)s::timestamptz - interval '1 minute')
