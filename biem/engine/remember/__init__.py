"""The write path up to the acknowledgement: validate, commit, update HotKV."""
