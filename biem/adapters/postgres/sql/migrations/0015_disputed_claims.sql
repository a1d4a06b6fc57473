-- Of a conflict about a part of what the older memory says, that part: a question about the rest is not disputed.
ALTER TABLE conflicts ADD COLUMN claim text NOT NULL DEFAULT '';
