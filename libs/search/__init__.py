"""Bots of every game, and the coach of Romanian Whist: what a seat can expect, from its own view (P60-P63).

    from libs.search import advise, choose, compiled, grade

    choose("romanian", view, "sharp", seed=7)      # a legal move: calm, keen or sharp
    advise(view, samples=1000, seed=7)             # each legal move's expected points, with standard error
    grade(record, seat=0)                          # a finished game: losses, bands, marks, dearest mistakes

The work is done by three modules of one source each (`playouts`, `rollouts`, and `family.rollouts` for the games of 52
cards): machine code where a C compiler was at install, else the same source interpreted, with the same answers for the
same seed and a hundred times slower.
It stands beside `libs.engine`, not inside: the engine imports the standard library alone.
"""

from libs.search.advising import ADVISED, Advice, advise
from libs.search.bots import STRENGTHS, choose, strongest
from libs.search.grading import MARKS, Band, Decision, GameGrade, Marks, RoundGrade, grade, graded, judge, moments
from libs.search.playouts import compiled

__all__ = [
    "ADVISED",
    "MARKS",
    "STRENGTHS",
    "Advice",
    "Band",
    "Decision",
    "GameGrade",
    "Marks",
    "RoundGrade",
    "advise",
    "choose",
    "compiled",
    "grade",
    "graded",
    "judge",
    "moments",
    "strongest",
]
