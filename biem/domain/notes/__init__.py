"""Values of notes as they are stored, found and counted; `biem.domain.note` has those of a file that is read."""
