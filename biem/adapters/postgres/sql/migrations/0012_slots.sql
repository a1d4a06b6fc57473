-- When feedback last called a memory useful: the newest few of each kind stay in view (G27, G28). Only feedback moves it,
-- so that counting an access touches no index still.
ALTER TABLE memories ADD COLUMN useful_at timestamptz;
CREATE INDEX memories_useful ON memories (ns, kind, useful_at DESC) WHERE useful_at IS NOT NULL;
