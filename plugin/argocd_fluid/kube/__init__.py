"""The edge to the API server and the kubelets: client, list and watch, patches, wire types."""
