"""Writes demo.yaml anew: the complete prosthetic arm taking a book, as a mechanism file."""

from pathlib import Path

import bellcrank as bc
from bellcrank.gallery.prosthetic_tasks import TAKE_A_BOOK, demonstration
from bellcrank.io import Simulation

FILE = Path(__file__).with_name("demo.yaml")

if __name__ == "__main__":
    settings = Simulation(duration=TAKE_A_BOOK.end, step=1e-3, output_step=5e-3)
    bc.save(demonstration(), FILE, settings)
    print(f"written: {FILE.name}")
