"""The bytes between client, gateway and table worker: socket frames (JSON) and the link between the two servers.

Clients see `libs.wire.frames`; gateway and workers also `libs.wire.link`. AsyncAPI, SDK and servers use the same types.
"""
