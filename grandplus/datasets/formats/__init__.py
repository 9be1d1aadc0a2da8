"""One module a file format, named as in a card (``csr-npz`` is ``csr_npz.py``): all there is to add for a further one.

Each has ``read(folder, files, source, order) -> RawGraph``, where ``files`` are names in ``folder`` and ``order`` is
a file of node order or None; and, where a user may bring such files, ``recognise(files, asked) -> Reading | None``:
how to read these files (paths), given what the user asked for, or None if they are of another format. ``GENERAL``
is true of a format that takes what no other wants.
"""
