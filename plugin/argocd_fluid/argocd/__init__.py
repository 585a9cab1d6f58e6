"""What an administrator applies so that Argo CD and the cluster work with argocd-fluid."""
