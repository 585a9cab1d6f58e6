"""What the parts of the bench are made of: versions, Go packages, flags."""

from dataclasses import dataclass

GO_VERSION = "1.27.3"
KUBERNETES_VERSION = "v1.37.2"
ARGOCD_VERSION = "3.6.1"

_COMMANDS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet")
_BASE = "k8s.io/component-base/version"
_CLIENT = "k8s.io/client-go/pkg/version"
_STAMP = " ".join(
    f"-X {variable}={value}"
    for variable, value in (
        (f"{_BASE}.gitVersion", KUBERNETES_VERSION),
        (f"{_BASE}.gitMajor", "1"),
        (f"{_BASE}.gitMinor", "37"),
        (f"{_BASE}.gitTreeState", "clean"),
        (f"{_BASE}.gitCommit", KUBERNETES_VERSION),
        (f"{_CLIENT}.gitVersion", KUBERNETES_VERSION),
        (f"{_CLIENT}.gitMajor", "1"),
        (f"{_CLIENT}.gitMinor", "37"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one part is made of. `crds` are files or folders of a Go module, kept beside it."""

    name: str
    module: str
    packages: tuple[str, ...]
    ldflags: str = "-s -w"
    links: tuple[str, ...] = ()
    renamed: str = ""
    crds: tuple[str, str] = ("", "")


PARTS = {
    part.name: part
    for part in (
        Part(
            name="kubernetes",
            module="go/kubernetes",
            packages=("./multi",),
            ldflags=f"-s -w {_STAMP}",
            links=(*_COMMANDS, "kubectl"),
        ),
        Part(
            name="jobset",
            module="go/kubernetes",
            packages=("sigs.k8s.io/jobset", "sigs.k8s.io/jobset/cmd/in-place-restart-agent"),
            crds=("sigs.k8s.io/jobset", "config/components/crd/bases"),
        ),
        Part(
            name="node",
            module="go/node",
            packages=(
                "github.com/containerd/containerd/v2/cmd/containerd",
                "github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
                "github.com/containerd/containerd/v2/cmd/ctr",
                "github.com/containernetworking/plugins/plugins/ipam/host-local",
                "github.com/containernetworking/plugins/plugins/main/bridge",
                "github.com/containernetworking/plugins/plugins/main/loopback",
            ),
        ),
        Part(
            name="argocd",
            module="go/argocd",
            packages=("github.com/argoproj/argo-cd/v3/cmd",),
            ldflags=f"-s -w -X github.com/argoproj/argo-cd/v3/common.version={ARGOCD_VERSION}",
            renamed="argocd",
            crds=("github.com/argoproj/argo-cd/v3", "manifests/crds"),
        ),
        Part(name="kwok", module="go/kubernetes", packages=("sigs.k8s.io/kwok/cmd/kwok",)),
        Part(
            name="rollouts",
            module="go/kubernetes",
            packages=("github.com/argoproj/argo-rollouts/cmd/rollouts-controller",),
            crds=("github.com/argoproj/argo-rollouts", "manifests/crds"),
        ),
        Part(name="load", module="load", packages=(".",)),
    )
}
