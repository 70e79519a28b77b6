"""The model of an agent: the seam that a loop plugs into, a model that follows rules, and recording and replaying.

`seam` is the contract, `rules` a deterministic model, `loop` the smallest loop; `scripts` records and replays model
calls, `golden` holds a whole tree of agents against its golden folder. Nothing here knows of a provider.
"""
