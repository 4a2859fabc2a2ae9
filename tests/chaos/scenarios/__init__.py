"""The scenarios, a module a kind of fault; importing this package registers them all."""
