"""English."""

from typing import Final

from services.coach.domain.languages import Language

ENGLISH: Final = Language(
    plural=lambda n: "one" if n == 1 else "other",
    categories=("one", "other"),
    player="player {number}",
    own="{player} (you)",
    joined=" and ",
    space=" ",
    decimal=".",
    texts={
        "won": {
            "one": "{player} won with {points} points, {n} point ahead of {other}.",
            "other": "{player} won with {points} points, {n} points ahead of {other}.",
        },
        "won_level": {
            "other": "{player} and {other} were level at {points} points; the tie-break gave {player} the game."
        },
        "won_plain": {"one": "{players} won the game.", "other": "{players} won the game together."},
        "led_throughout": {"other": "{player} took the lead in the first round and never gave it up."},
        "lead_taken": {
            "one": "The lead changed hands once: {player} took it in round {round} and kept it.",
            "other": "The lead changed hands {n} times, until {player} took it for good in round {round}.",
        },
        "turning_point": {
            "other": "The turning point was round {round}: {score} for {player}, {other_score} for {other}."
        },
        "made_streak": {
            "one": "The best run was one contract, by {player} (round {first} to {last}).",
            "other": "The best run was {n} contracts made in a row, by {player} in rounds {first} to {last}.",
        },
        "missed_streak": {
            "one": "The worst run was one missed contract, by {player} (round {first} to {last}).",
            "other": "The worst run was {n} contracts missed in a row, by {player} in rounds {first} to {last}.",
        },
        "barred": {
            "one": "The barred bid cost a dealer the contract once: in round {round} {player} could not bid {barred}, "
            "bid {bid} and took {barred} all the same.",
            "other": "The barred bid cost the dealer the contract {n} times; dearest in round {round}: {player} could "
            "not bid {barred}, bid {bid} and took {barred} all the same.",
        },
        "last_climb": {
            "one": "The last round, of {n} card, still changed the order: with {score} {player} rose from place "
            "{before} to {after}.",
            "other": "The last round, of {n} cards, still changed the order: with {score} {player} rose from place "
            "{before} to {after}.",
        },
        "last_made": {
            "one": "In the last round, of {n} card, {player} bid {bid} and made it.",
            "other": "In the last round, of {n} cards, {player} bid {bid} and made it.",
        },
        "last_missed": {
            "one": "In the last round, of {n} card, {player} bid {bid} and took {taken}, and won nevertheless.",
            "other": "In the last round, of {n} cards, {player} bid {bid} and took {taken}, and won nevertheless.",
        },
        "own_grade": {"other": "Your own play is graded {grade}: it cost {loss} expected points a round."},
        "own_dearest_bid": {
            "other": "Your dearest decision was in round {round}: you bid {made} where {best} promised {loss} "
            "points more."
        },
        "own_dearest_play": {
            "other": "Your dearest decision was in round {round}: you played {made} where {best} promised {loss} "
            "points more."
        },
    },
)
