"""Romanian."""

from typing import Final

from services.coach.domain.languages import Language


def _plural(n: int) -> str:
    """CLDR's rule for whole numbers: from 20 on with "de", except 101 to 119 and the like."""
    if n == 1:
        return "one"
    return "few" if n == 0 or 1 <= n % 100 <= 19 else "other"


ROMANIAN: Final = Language(
    plural=_plural,
    categories=("one", "few", "other"),
    player="jucătorul {number}",
    own="{player} (tu)",
    joined=" și ",
    space=" ",
    decimal=",",
    texts={
        "won": {
            "one": "{player} a câștigat, scor {points}, cu {n} punct înaintea celui de pe locul doi: {other}.",
            "few": "{player} a câștigat, scor {points}, cu {n} puncte înaintea celui de pe locul doi: {other}.",
            "other": "{player} a câștigat, scor {points}, cu {n} de puncte înaintea celui de pe locul doi: {other}.",
        },
        "won_level": {
            "other": "{player} și {other} au terminat la egalitate, scor {points}; departajarea i-a dat câștig de "
            "cauză celui dintâi: {player}."
        },
        "won_plain": {
            "one": "{players} a câștigat partida.",
            "few": "{players} au câștigat partida împreună.",
            "other": "{players} au câștigat partida împreună.",
        },
        "led_throughout": {"other": "{player} a preluat conducerea din prima rundă și nu a mai cedat-o."},
        "lead_taken": {
            "one": "Conducerea s-a schimbat o singură dată: {player} a preluat-o în runda {round} și a păstrat-o.",
            "few": "Conducerea s-a schimbat de {n} ori, până când {player} a preluat-o definitiv în runda {round}.",
            "other": "Conducerea s-a schimbat de {n} de ori, până când {player} a preluat-o definitiv în runda "
            "{round}.",
        },
        "turning_point": {"other": "Momentul decisiv a fost runda {round}: {player} {score}, {other} {other_score}."},
        "made_streak": {
            "one": "Cea mai bună serie: un contract reușit, {player} (rundele {first}-{last}).",
            "few": "Cea mai bună serie: {n} contracte reușite la rând, {player} în rundele {first}-{last}.",
            "other": "Cea mai bună serie: {n} de contracte reușite la rând, {player} în rundele {first}-{last}.",
        },
        "missed_streak": {
            "one": "Cea mai slabă serie: un contract ratat, {player} (rundele {first}-{last}).",
            "few": "Cea mai slabă serie: {n} contracte ratate la rând, {player} în rundele {first}-{last}.",
            "other": "Cea mai slabă serie: {n} de contracte ratate la rând, {player} în rundele {first}-{last}.",
        },
        "barred": {
            "one": "Licitația interzisă l-a costat o dată contractul pe cel care a împărțit: în runda {round} {player} "
            "nu a putut licita {barred}, a licitat {bid} și a luat totuși {barred}.",
            "few": "Licitația interzisă l-a costat de {n} ori contractul pe cel care a împărțit; cel mai scump în "
            "runda {round}: {player} nu a putut licita {barred}, a licitat {bid} și a luat totuși {barred}.",
            "other": "Licitația interzisă l-a costat de {n} de ori contractul pe cel care a împărțit; cel mai scump în "
            "runda {round}: {player} nu a putut licita {barred}, a licitat {bid} și a luat totuși {barred}.",
        },
        "last_climb": {
            "one": "Ultima rundă, de {n} carte, a mai schimbat ordinea: cu {score}, {player} a urcat de pe locul "
            "{before} pe locul {after}.",
            "few": "Ultima rundă, de {n} cărți, a mai schimbat ordinea: cu {score}, {player} a urcat de pe locul "
            "{before} pe locul {after}.",
            "other": "Ultima rundă, de {n} de cărți, a mai schimbat ordinea: cu {score}, {player} a urcat de pe locul "
            "{before} pe locul {after}.",
        },
        "last_made": {
            "one": "În ultima rundă, de {n} carte, {player} a licitat {bid} și a reușit.",
            "few": "În ultima rundă, de {n} cărți, {player} a licitat {bid} și a reușit.",
            "other": "În ultima rundă, de {n} de cărți, {player} a licitat {bid} și a reușit.",
        },
        "last_missed": {
            "one": "În ultima rundă, de {n} carte, {player} a licitat {bid}, a luat {taken} și a câștigat totuși.",
            "few": "În ultima rundă, de {n} cărți, {player} a licitat {bid}, a luat {taken} și a câștigat totuși.",
            "other": "În ultima rundă, de {n} de cărți, {player} a licitat {bid}, a luat {taken} și a câștigat totuși.",
        },
        "own_grade": {"other": "Jocul tău are nota {grade}: a costat {loss} puncte așteptate pe rundă."},
        "own_dearest_bid": {
            "other": "Cea mai scumpă decizie a ta, în runda {round}: ai licitat {made}, iar {best} promitea cu {loss} "
            "puncte mai mult."
        },
        "own_dearest_play": {
            "other": "Cea mai scumpă decizie a ta, în runda {round}: ai jucat {made}, iar {best} promitea cu {loss} "
            "puncte mai mult."
        },
    },
)
