-- The vectors of the statements of a text that has several, one after the other, each number in two bytes.
ALTER TABLE embeddings ADD COLUMN parts bytea;
