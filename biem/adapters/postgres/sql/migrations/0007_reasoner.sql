-- What the language model cost each scope on each day, and how much of the day's budget is set aside for running calls.

CREATE TABLE reasoner_usage (
    ns         text NOT NULL REFERENCES scopes (ns) ON DELETE CASCADE, -- erased with its scope
    day        date NOT NULL, -- UTC
    use        text NOT NULL, -- 'total' is the day's sum: the one row that a budget is checked and locked on
    calls      bigint NOT NULL DEFAULT 0,
    failures   bigint NOT NULL DEFAULT 0,
    tokens_in  bigint NOT NULL DEFAULT 0,
    tokens_out bigint NOT NULL DEFAULT 0,
    reserved   bigint NOT NULL DEFAULT 0, -- tokens of calls that run, or whose process died
    PRIMARY KEY (ns, day, use)
) WITH (fillfactor = 50); -- counters move with every call: room for HOT updates

ALTER TABLE reasoner_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY reasoner_usage_scope ON reasoner_usage
    USING (ns = ANY ((SELECT string_to_array(current_setting('biem.ns', true), ','))::text[])
        OR (SELECT current_setting('biem.ns', true)) = '*');
GRANT SELECT, INSERT, UPDATE, DELETE ON reasoner_usage TO biem_service;
