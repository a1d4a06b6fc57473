-- Memories that few conditions of a search meet are found by these conditions: by mood, and by energy.
CREATE INDEX memories_mood ON memories (ns, sentiment) WHERE sentiment <> 0;

-- An energy moves with accesses, and counting an access is a HOT update. A BRIN index leaves it one, but only from
-- PostgreSQL 16 on; before, the memories of a scope are read one by one.
DO $$ BEGIN
    IF current_setting('server_version_num')::integer >= 160000 THEN
        CREATE INDEX memories_warm ON memories USING brin (energy_anchor, anchor_at) WITH (pages_per_range = 8, autosummarize = on);
    END IF;
END $$;
