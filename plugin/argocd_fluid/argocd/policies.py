"""The admission policies, with the bindings that shard size-pods.

A pod is compared with every FluidWorkload that a binding selects, which takes a pod create 0.8 s
at 3,000 of them in one namespace. One binding per last hex digit of the JobSet's uid divides that
by sixteen. A pod without the digit, of a Job that is older than the policies, is compared with all.
"""

from typing import Final

from argocd_fluid.argocd import data
from argocd_fluid.constants import SHARD

SHARDS: Final = "0123456789abcdef"
POLICIES: Final = ("keep-template", "shard-jobs", "size-pods")

_BINDING = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: argocd-fluid-size-pods-{name}
  labels: {{app.kubernetes.io/part-of: argocd-fluid}}
spec:
  policyName: argocd-fluid-size-pods
  paramRef:
    selector: {params}
    parameterNotFoundAction: Allow
  matchResources:
    objectSelector: {pods}
"""


def policies(api: str = "v1") -> str:
    """Give all policies and bindings as YAML; `api` is the version the server has (v1: 1.36+)."""
    documents = [data.text(f"policies/{name}.yaml") for name in POLICIES]
    documents += [_shard_binding(digit) for digit in SHARDS]
    documents.append(_unsharded_binding())
    joined = "---\n".join(documents)
    return joined.replace(
        "admissionregistration.k8s.io/v1\n", f"admissionregistration.k8s.io/{api}\n"
    )


def _shard_binding(digit: str) -> str:
    selector = f'{{matchLabels: {{{SHARD}: "{digit}"}}}}'
    return _BINDING.format(name=digit, params=selector, pods=selector)


def _unsharded_binding() -> str:
    without = f"{{matchExpressions: [{{key: {SHARD}, operator: DoesNotExist}}]}}"
    return _BINDING.format(name="unsharded", params="{}", pods=without)
