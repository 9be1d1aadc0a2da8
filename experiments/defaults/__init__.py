"""Which default settings suit graphs that nobody has tuned them for."""
