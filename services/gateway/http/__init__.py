"""REST for clients and SDKs, and the pages served by the gateway itself."""
