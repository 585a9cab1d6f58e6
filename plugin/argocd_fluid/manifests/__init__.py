"""Pure: YAML as Kubernetes reads it, quantities, and where each kind keeps its pod templates."""
