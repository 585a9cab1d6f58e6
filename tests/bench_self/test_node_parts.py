"""The parts of a real node that need neither root nor the built components."""

import json
import tarfile

import pytest

from tests.bench.cgroups import CgroupRoot, parse_hierarchies, read_v1
from tests.bench.images import LOAD, LOAD_OTHER, write_archive
from tests.bench.sysctls import NAMES, SavedSysctls

SEPARATE_V1 = """\
tmpfs /sys/fs/cgroup tmpfs rw,relatime,mode=755 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
JOINT_V1 = """\
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,nodev,noexec,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,nosuid,nodev,noexec,relatime,memory 0 0
"""
UNIFIED = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n"


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


@pytest.mark.parametrize(
    ("mounts", "version", "expected"),
    [
        (SEPARATE_V1, 1, ["cpu", "memory", "systemd"]),
        (JOINT_V1, 1, ["cpu,cpuacct", "memory"]),
        (UNIFIED, 2, [""]),
    ],
    ids=["v1", "v1-joint", "v2"],
)
def test_a_node_has_its_cgroup_in_each_hierarchy(mounts, version, expected):
    hierarchies = parse_hierarchies(mounts)
    assert hierarchies.version == version
    names = [str(mount).removeprefix("/sys/fs/cgroup").lstrip("/") for mount in hierarchies.roots()]
    assert names == expected


def test_a_cgroup_of_somebody_else_is_refused():
    with pytest.raises(ValueError, match="not a cgroup of the bench"):
        CgroupRoot("system.slice", parse_hierarchies(UNIFIED))


def test_v1_limits_are_read(tmp_path):
    write(
        tmp_path / "cpu",
        cpu__cfs_quota_us="50000\n",
        cpu__cfs_period_us="100000\n",
        cpu__shares="512\n",
    )
    write(tmp_path / "memory", memory__limit_in_bytes="9223372036854771712\n")
    assert read_v1(cpu=tmp_path / "cpu", memory=tmp_path / "memory") == {
        "cpu_quota_us": 50000,
        "cpu_period_us": 100000,
        "cpu_shares": 512,
        "memory_limit_bytes": -1,
    }


def test_a_container_is_found_in_its_pods_qos_folder_on_v2(tmp_path):
    root = CgroupRoot("fluid-bench-1", parse_hierarchies(f"cgroup2 {tmp_path} cgroup2 rw 0 0\n"))
    write(
        tmp_path / "fluid-bench-1/kubepods/burstable/podu1/c1",
        cpu__max="max 100000\n",
        cpu__weight="20\n",
        memory__max="1073741824\n",
    )
    assert root.container("u1", "containerd://c1") == {
        "cpu_quota_us": -1,
        "cpu_period_us": 100000,
        "cpu_weight": 20,
        "memory_limit_bytes": 1 << 30,
    }


def test_an_image_has_the_binary_and_all_its_names(tmp_path):
    (tmp_path / "load").write_bytes(b"\x7fELF")
    write_archive(tmp_path / "load", tmp_path / "image.tar", names=[LOAD, LOAD_OTHER])
    with tarfile.open(tmp_path / "image.tar") as image:
        (manifest,) = json.load(image.extractfile("manifest.json"))
        config = json.load(image.extractfile(manifest["Config"]))
        with tarfile.open(fileobj=image.extractfile("layer.tar")) as layer:
            assert layer.extractfile("load").read() == b"\x7fELF"
            assert layer.getmember("load").mode == 0o755
    assert manifest["RepoTags"] == [LOAD, LOAD_OTHER]
    assert config["config"]["Entrypoint"] == ["/load"]


def test_settings_of_the_machine_come_back_after_two_nodes(tmp_path):
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("0\n")
    first = SavedSysctls(tmp_path / "saved.json", base=tmp_path)
    first.save()
    (tmp_path / NAMES[0]).write_text("1\n")
    # A second node, or the run after a crash, must not take the changed value for the old one.
    second = SavedSysctls(tmp_path / "saved.json", base=tmp_path)
    second.save()
    second.restore()
    assert (tmp_path / NAMES[0]).read_text().strip() == "0"
    assert not (tmp_path / "saved.json").exists()
