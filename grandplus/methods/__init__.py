"""The methods that can be trained, each a folder of this one, found by its name.

A method ``name`` is ``methods/name/`` with two modules:

- ``settings``: ``Settings``, a ``Section`` in which every value has a default; ``PUBLISHED``, what its authors use
  on a dataset in place of a default; ``NEEDS_ROWS``, whether it trains on rows of Π. It imports no torch.
- ``method``: ``fit`` and ``Model``, see `grandplus.methods.protocol`.
"""
