"""Flexible solids, reduced to the frames of their interfaces and a few modes between them."""
