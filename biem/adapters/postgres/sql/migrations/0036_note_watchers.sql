-- Notes: when a watcher of a folder was last seen alive; null where none is, as after a regular end.
ALTER TABLE note_libraries ADD COLUMN watched_at timestamptz;
