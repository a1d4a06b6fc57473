"""Items: JSON documents under a namespace and a key."""
