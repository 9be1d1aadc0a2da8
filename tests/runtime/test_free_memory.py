"""How much memory the limits of a container or a batch system leave."""

import pytest

from grandplus.runtime.free_memory import left_by_control_groups


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
