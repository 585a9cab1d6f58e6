"""The plugin's half: what Git holds becomes fluid-enabled manifests. Never touches a cluster."""
