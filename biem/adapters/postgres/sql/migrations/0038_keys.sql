-- Keys of the HTTP server. Only hashes of secrets are stored. A key is found by its id before its scope is known: the
-- table is for the server and its administration, which see all scopes.
CREATE TABLE api_keys (
    id           text PRIMARY KEY,
    name         text NOT NULL DEFAULT '',
    secret_sha   bytea NOT NULL,
    tenant       text NOT NULL,
    user_name    text, -- null: every user of the tenant
    project      text, -- null: every project of the user
    grants       text[] NOT NULL,
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX api_keys_tenant ON api_keys (tenant, created_at, id);
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY api_keys_service ON api_keys USING ((SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON api_keys TO biem_service;
