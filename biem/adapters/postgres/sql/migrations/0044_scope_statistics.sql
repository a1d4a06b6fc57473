-- A statement is planned once, for all scopes. Where most scopes have a memory or two, the planner expects as many of any
-- scope: to read all of it seems as cheap as to look up a key, and is not in a large one. With this it expects as many as
-- the largest scope has that stands out, or all there are.
ALTER TABLE memories ALTER COLUMN ns SET (n_distinct = 1);

DO $$
BEGIN
    IF EXISTS (SELECT FROM memories) THEN -- statistics of an empty table would have it expect no rows at all
        ANALYZE memories;
    END IF;
END $$;
