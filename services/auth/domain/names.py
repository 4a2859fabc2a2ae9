"""Suggested names: an animal of Romania's woods and waters, and a number."""

# Each fits P41's sixteen characters together with a space and four digits.
ANIMALS = (
    "Acvilă", "Arici", "Barză", "Bizon", "Bufniță", "Bursuc", "Castor", "Căprioară", "Cerb", "Cocor", "Cocoș",
    "Corb", "Delfin", "Dihor", "Egretă", "Fazan", "Jder", "Lebădă", "Licurici", "Liliac", "Lup", "Mierlă",
    "Mistreț", "Morun", "Nurcă", "Lăstun", "Păstrăv", "Pelican", "Pisică", "Popândău", "Râs", "Rândunică",
    "Sturion", "Șoim", "Țestoasă", "Urs", "Veveriță", "Viezure", "Vidră", "Vulpe", "Vultur", "Zimbru",
)  # fmt: skip

GUEST_NUMBERS = 99
ACCOUNT_NUMBERS = 9999  # with the animals some 400,000 names, so that few accounts share one before they claim theirs


def suggested_name(animal: int, number: int) -> str:
    """``Vulpe 42``; `animal` indexes ANIMALS, `number` counts from 0 and is shown from 1."""
    return f"{ANIMALS[animal]} {number + 1}"
