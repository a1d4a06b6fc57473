-- Short-term memories with a category are shown for some days, limited in number, and stay when they are promoted.

CREATE INDEX memories_short_term ON memories (ns, at DESC, write_seq DESC)
    WHERE layer = 'short_term' AND metadata ? 'category' AND status <> 'archived';

-- Every statement that raises a layer ends the expiry that the category set. What is to be erased at its expiry is.
CREATE FUNCTION stay_when_promoted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.expires_at := NULL;
    RETURN NEW;
END $$;
CREATE TRIGGER memories_promoted BEFORE UPDATE OF layer ON memories FOR EACH ROW
    WHEN (OLD.layer = 'short_term' AND NEW.layer IN ('long_term', 'core') AND OLD.expires_at IS NOT NULL
        AND NEW.expires_at = OLD.expires_at AND NEW.on_expiry = 'archive' AND NEW.metadata ? 'category')
    EXECUTE FUNCTION stay_when_promoted();
