-- What is written to a backup, and what a restore asks. Run by the owner of the schema, or by the service.

-- backup_tables: our tables, which are those that the service may write, with their stored columns; without durations
SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'metrics'
    AND has_table_privilege('biem_service', c.oid, 'INSERT')
GROUP BY c.relname ORDER BY c.relname

-- backup_parents: which table must be filled before which
SELECT child.relname AS child, parent.relname AS parent
FROM pg_constraint k JOIN pg_class child ON child.oid = k.conrelid JOIN pg_class parent ON parent.oid = k.confrelid
WHERE k.contype = 'f' AND k.conrelid <> k.confrelid AND child.relnamespace = current_schema()::regnamespace

-- backup_sequences: how far each sequence is
SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = current_schema() AND last_value IS NOT NULL

-- all_sequences: the names of sequences, used or not
SELECT sequencename AS name FROM pg_sequences WHERE schemaname = current_schema()

-- backup_schema: the migrations that were applied
SELECT number, sha256 FROM schema_migrations ORDER BY number

-- owned_sequences: sequences with the column that they number
SELECT s.relname AS sequence, t.relname AS table_name, a.attname AS column_name
FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    JOIN pg_class t ON t.oid = d.refobjid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
    AND t.relnamespace = current_schema()::regnamespace

-- other_programs: other processes of biem that are connected to this database
SELECT count(*) AS programs FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = 'biem'
