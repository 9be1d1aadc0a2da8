"""How much memory the limits of a container or a batch system leave."""

import os
import resource
from pathlib import Path

import pytest

from grandplus.runtime.environment import memory
from grandplus.runtime.free_memory import left_by_control_groups, left_by_resource_limits


@pytest.mark.parametrize(
    ("own", "files"),
    [
        (  # version 2: what is left to the group and to the one around it
            "0::/batch/job",
            {
                "batch/job": {"memory.max": "max", "memory.current": "50", "memory.stat": "anon 20\nfile 30"},
                "batch": {"memory.max": "1000", "memory.current": "600", "memory.stat": "anon 500\nfile 100"},
                ".": {"memory.stat": "file 1"},  # as at the root, which has no limit
            },
        ),
        (  # version 1, in a container, which sees its own group as the root
            "5:cpu:/x\n4:memory,hugetlb:/docker/0123\n0::/",
            {
                "memory": {
                    "memory.limit_in_bytes": "1000",
                    "memory.usage_in_bytes": "600",
                    "memory.stat": "cache 1\ntotal_cache 100",
                }
            },
        ),
    ],
)
def test_limits_of_control_groups_leave_what_is_not_in_use_but_for_files(tmp_path, own, files):
    for folder, contents in files.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (tmp_path / folder / name).write_text(content + "\n")
    assert list(left_by_control_groups(own.splitlines(), tmp_path)) == [500]


@pytest.mark.parametrize(("kind", "size"), [(resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")])
def test_limits_of_the_process_leave_what_it_has_not_taken(monkeypatch, kind, size):
    limits = {resource.RLIMIT_AS: resource.RLIM_INFINITY, resource.RLIMIT_DATA: resource.RLIM_INFINITY}
    monkeypatch.setattr(resource, "getrlimit", lambda asked: (limits[asked], resource.RLIM_INFINITY))
    status = ["Name:\tpython", "VmSize:\t    1000 kB", "VmData:\t    1000 kB", "VmRSS:\t     500 kB"]
    assert not list(left_by_resource_limits(status))
    limits[kind] = 3000 * 1024
    assert list(left_by_resource_limits(status)) == [2000 * 1024]
    assert not list(left_by_resource_limits([line for line in status if size not in line]))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not say what a process has taken")
def test_memory_heeds_ulimit(monkeypatch):
    monkeypatch.delenv("GRANDPLUS_MEMORY", raising=False)
    taken = int(Path(f"/proc/{os.getpid()}/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + 2**28, before[1]))
    try:
        assert 2**27 < memory() <= 2**28
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
