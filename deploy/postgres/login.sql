-- The login of workers and programs: no superuser, owner of nothing, bound by row-level security whatever it runs, also
-- after RESET ROLE. Run by the owner after `biem migrate`, which made biem_service; safe to repeat, and a changed
-- password takes effect.
--   POSTGRES_LOGIN_PASSWORD=… psql -v ON_ERROR_STOP=1 -f login.sql
\getenv password POSTGRES_LOGIN_PASSWORD
SELECT 'CREATE ROLE biem_login' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'biem_login') \gexec
ALTER ROLE biem_login LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
GRANT biem_service TO biem_login;
