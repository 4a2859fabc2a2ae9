"""A second model of each game, written from the rules' words alone: slow, plain lists of card texts, no masks.

It shares no line with the engine. Each model asks for a draw (`draw`, `take_draw`), says who is to act and what is
legal, and takes moves (`act`); the test plays both side by side.
"""
