"""What a name says by itself (P41).

A name that an account holds for itself alone has no space: its claim refuses one. Names that are suggested to guests
and new accounts are an animal, a space and a number, and what stands for an erased name is a sign. So whoever shows a
name can tell whether it may stand with a ✓, from the name that the seat was given and without asking anybody.
"""

ERASED_NAME = "–"  # of a deleted account, where a name must stand


def is_own(name: str) -> bool:
    """Whether an account holds this name for itself alone; never ask it of a bot's."""
    return name[:1].isalnum() and " " not in name
