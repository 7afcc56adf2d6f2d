"""What a recipe says, as values; how it is read from YAML, described as a schema, and begun."""
