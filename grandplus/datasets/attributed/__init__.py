"""Graphs whose nodes and edges have named attributes, as GML, GraphML and others hold them -> raw graphs."""
