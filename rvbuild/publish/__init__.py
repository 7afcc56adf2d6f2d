"""Getting wheels to people: static indexes, serving them, uploading, credentials."""
