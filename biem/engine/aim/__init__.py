"""AIM-Memory: a gate that decides which messages are formed, and routes by inertia, temporal mirror and anchors."""
