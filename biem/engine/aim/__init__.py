"""AIM-Memory: a gate that decides what is formed, and routes by inertia, temporal mirror and anchors."""
