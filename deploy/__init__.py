"""How the services run on Kubernetes, and what is checked about it without a cluster."""
