-- Items: JSON documents under a namespace and a key, each of which may be found by the memory made of it.

CREATE SEQUENCE item_writes; -- orders items by their last write

CREATE TABLE items (
    ns         text NOT NULL REFERENCES scopes (ns),
    path       text COLLATE "C" NOT NULL, -- the namespace: each label followed by a dot
    key        text COLLATE "C" NOT NULL,
    value      json NOT NULL, -- as it was written, with the order of its keys
    memory_id  uuid, -- null: no query finds it
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    ttl_s      double precision, -- null: it does not expire
    expires_at timestamptz,
    seq        bigint NOT NULL DEFAULT nextval('item_writes'),
    PRIMARY KEY (ns, path, key),
    CHECK ((ttl_s IS NULL) = (expires_at IS NULL))
);
CREATE INDEX items_written ON items (ns, seq);
CREATE INDEX items_memory ON items (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX items_expires ON items (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE items ENABLE ROW LEVEL SECURITY;
CREATE POLICY items_scope ON items
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON items TO biem_service;
GRANT USAGE ON SEQUENCE item_writes TO biem_service;
