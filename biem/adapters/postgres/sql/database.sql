-- What transactions of all adapters begin with: which scopes they see, and the lock of a scope.

-- see_scopes: which scopes this transaction may touch, comma-separated ('*' for maintenance)
SELECT set_config('biem.ns', %s, true)

-- ensure_scope: insert a scope
INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING

-- lock_scope: one writer a scope at a time, so that the write sequence has no gaps and identity no races
SELECT 1 AS locked FROM scopes WHERE ns = %s FOR NO KEY UPDATE
