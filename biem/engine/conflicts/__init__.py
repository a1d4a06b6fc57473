"""Detection and resolution of conflicts between memories."""
