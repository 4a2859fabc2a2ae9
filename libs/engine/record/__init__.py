"""Records of games: one form for all variants (P72), as JSON, as text in the tradition of PBN, and as a link.

What tables keep and players fetch is the JSON of `plain`; `reading.read` takes any of the three, `checking.check` says
where one first differs from the rules and its own secret.
"""
