"""TablesService by subject: translation between protobuf and the handlers, nothing else. `tables` puts it together."""
