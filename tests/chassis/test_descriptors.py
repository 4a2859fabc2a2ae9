"""A process may have as many sockets as its hard limit allows, whatever its shell gave it."""

import resource

from libs.chassis.descriptors import raise_limit


def test_n3_the_limit_of_open_files_is_raised_to_the_most_that_is_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert raise_limit() == before[1]
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
