-- Jobs that were tried before are found without reading the outbox: every worker asks for one after every batch, and
-- nearly always there is none, however many fresh ones wait.

CREATE INDEX outbox_retried ON outbox (due_at) WHERE dead_at IS NULL AND attempts > 0;
