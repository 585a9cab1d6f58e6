module argocd-fluid.io/bench/load

go 1.26
