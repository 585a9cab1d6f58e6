"""Every kind of source through a real Argo CD: the programs, the parameters, and the errors."""

from urllib.parse import quote

import pytest
import requests
from argocd_fluid.render.parameters import PARAMETERS

from tests.bench import helm
from tests.conftest import available

pytestmark = [pytest.mark.bench, pytest.mark.usefixtures("governed", "programs")]

JOBSET = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
  annotations: {argocd-fluid.io/enabled: "true"}
spec:
  replicatedJobs:
  - name: workers
    template:
      spec:
        template:
          spec:
            containers:
            - name: trainer
              image: none
              resources:
                requests: {cpu: 500m, memory: 1Gi}
"""
CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: shown
data:
"""
KUSTOMIZE = {
    "app/kustomization.yaml": "namePrefix: big-\nresources: [jobset.yaml, ../base]\n",
    "app/jobset.yaml": JOBSET,
    "base/kustomization.yaml": "configMapGenerator: [{name: shown, literals: [from=kustomize]}]\n"
    "generatorOptions: {disableNameSuffixHash: true}\n",
}
HELM = {
    "app/Chart.yaml": "apiVersion: v2\nname: training\nversion: 1.0.0\n",
    "app/values.yaml": "cpu: 1m\nfrom: nobody\n",
    "app/large.yaml": "cpu: 700m\n",
    "app/templates/jobset.yaml": JOBSET.replace("500m", "{{ .Values.cpu }}"),
    "app/templates/shown.yaml": CONFIG_MAP
    + "  from: {{ .Values.from }}\n"
    + "  release: {{ .Release.Name }}\n"
    + "  namespace: {{ .Release.Namespace }}\n",
}
HELM_PARAMETERS = (
    {"name": "helm.releaseName", "string": "night"},
    {"name": "helm.valueFiles", "array": ["large.yaml"]},
    {"name": "helm.parameters", "map": {"from": "helm"}},
)
TEMPLATES = {
    "app/jobset.yaml.j2": JOBSET.replace("500m", "{{ params.cpu }}"),
    "app/shown.yaml.j2": CONFIG_MAP
    + "  from: {{ params.from }}\n"
    + "  name: {{ argocd.name }}\n"
    + "  path: {{ argocd.path }}\n",
}
TEMPLATE_PARAMETERS = ({"name": "params", "map": {"cpu": "900m", "from": "jinja"}},)


@pytest.fixture(scope="module")
def programs(request, argocd):
    """helm and kubectl where the plugin finds them."""
    with available(request.config):
        folder = helm.ensure()
    for name in ("helm", "kubectl"):
        argocd.install(folder / name)


@pytest.fixture
def repository(argocd, namespace):
    return argocd.repository(namespace)


@pytest.fixture
def deploy(argocd, namespace, repository):
    """Commit files, and let an Application render `app` with parameters."""
    made = []

    def deploy(files, parameters=()):
        repository.commit(files, "run")
        source = argocd.source(repository, "app", parameters)
        made.append(
            argocd.application(
                namespace, repo=repository, path="app", namespace=namespace, source=source
            )
        )
        return made[-1]

    yield deploy
    for application in made:
        application.delete()


@pytest.fixture
def live(governed, namespace):
    """Give a live object's data, or its intent."""
    api = governed.client()

    def live(kind, name):
        version = {"ConfigMap": "v1", "JobSet": "jobset.x-k8s.io/v1alpha2"}[kind]
        return api.get(version, kind, name, namespace)

    return live


def _intent(jobset):
    return jobset["metadata"]["annotations"]["argocd-fluid.io/intent"]


def test_a_kustomization_is_synced(deploy, live):
    deploy(KUSTOMIZE).wait(sync="Synced")
    assert live("ConfigMap", "big-shown")["data"] == {"from": "kustomize"}
    assert '"500m"' in _intent(live("JobSet", "big-train"))


def test_a_chart_is_synced_with_its_parameters(deploy, live, namespace):
    deploy(HELM, HELM_PARAMETERS).wait(sync="Synced")
    shown = live("ConfigMap", "shown")["data"]
    assert shown == {"from": "helm", "release": "night", "namespace": namespace}
    assert '"700m"' in _intent(live("JobSet", "train"))


def test_templates_are_synced_with_their_parameters(deploy, live, namespace):
    deploy(TEMPLATES, TEMPLATE_PARAMETERS).wait(sync="Synced")
    assert live("ConfigMap", "shown")["data"] == {"from": "jinja", "name": namespace, "path": "app"}
    assert '"900m"' in _intent(live("JobSet", "train"))


def _said(application):
    """Give what the plugin wrote to stderr, as people see it in the Application's condition."""
    status = application.wait(sync="Unknown", until=lambda status: status.get("conditions"))
    (condition,) = status["conditions"]
    _, _, said = condition["message"].partition("`argocd-fluid generate` failed exit status 1: ")
    return said


def test_an_error_in_a_template_is_one_line_with_its_place(deploy):
    said = _said(deploy({"app/shown.yaml.j2": CONFIG_MAP + "  from: {{ params.absent }}\n"}))
    assert said.startswith("argocd-fluid: shown.yaml.j2:6: ")
    assert "absent" in said
    assert len(said.splitlines()) == 1


def test_an_error_in_a_chart_is_one_line(deploy):
    broken = HELM | {"app/templates/shown.yaml": CONFIG_MAP + '  from: {{ fail "no such day" }}\n'}
    said = _said(deploy(broken))
    assert said.startswith("argocd-fluid: helm template failed: ")
    assert "no such day" in said
    assert len(said.splitlines()) == 1


def test_an_unknown_parameter_is_one_line_that_names_the_right_one(deploy):
    said = _said(deploy(TEMPLATES, [{"name": "param", "map": {"cpu": "900m"}}]))
    assert said.startswith("argocd-fluid: parameter param: is unknown (did you mean params?")


def test_the_server_lists_our_parameters(argocd, deploy, repository, namespace):
    deploy(TEMPLATES, TEMPLATE_PARAMETERS).wait(sync="Synced")
    url = argocd.start_server()
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(
            f"{url}/api/v1/repositories/{quote(repository.url, safe='')}/appdetails",
            json={
                "source": argocd.source(repository, "app", TEMPLATE_PARAMETERS),
                "appName": namespace,
                "appProject": "default",
            },
            timeout=20,
        )
    assert answer.ok, answer.text
    announced = answer.json()["plugin"]["parametersAnnouncement"]
    assert [each["name"] for each in announced] == [each.name for each in PARAMETERS]
    assert {each["name"]: each["collectionType"] for each in announced} == {
        each.name: each.form.value for each in PARAMETERS
    }
    assert all(each["title"] and each["tooltip"] for each in announced)
