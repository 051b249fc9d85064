"""Pictures as arrays."""

import numpy as np


def imread(file):
    """The pixels of a picture (height, width, 3 or 4), or of a film (frames, height, width, 3)."""
    from PIL import Image, ImageSequence

    with Image.open(file) as picture:
        if getattr(picture, "n_frames", 1) == 1:
            return np.asarray(picture)
        return np.stack([np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(picture)])
