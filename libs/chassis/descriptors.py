"""Open files, of which every socket is one."""

import resource


def raise_limit() -> int:
    """Raise this process's limit of open files to the most it may have; returns it.

    Shells and service managers give a thousand by default for the sake of programs that use `select`; ours do not.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most
