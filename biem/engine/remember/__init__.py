"""The write path up to the acknowledgement: check, commit, keep at hand."""
