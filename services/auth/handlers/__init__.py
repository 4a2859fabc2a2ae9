"""Use cases of auth, one transaction each.

A refusal that must be remembered (a wrong code, a token that came back) is committed first and raised afterwards.
"""
