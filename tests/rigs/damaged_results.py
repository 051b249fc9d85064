"""Files of runs with something wrong, at random: doctored, with bytes changed, cut off."""

import json
import shutil

import h5py
import numpy as np

import bellcrank as bc
from bellcrank.trajectory.recorder import Recorder

HUGE = 10**12


def crank(spin=3.0):
    """A geared, driven slider with a stop: something in every section of a file."""
    mech = bc.Mechanism("crank")
    inertia = (0.01, 0.02, 0.02)
    wheel = mech.add_body("wheel", 1.0, inertia, com=(0.05, 0, 0))
    other = mech.add_body("other", 2.0, inertia, position=(0.3, 0, 0))
    slider = mech.add_body("slider", 0.5, inertia, position=(0, 1, 0))
    mech.add_joint("axle", bc.Revolute(), mech.ground, wheel, velocity=spin)
    mech.add_joint("bearing", bc.Revolute(), mech.ground.marker((0.3, 0, 0)), other)
    guide = bc.Prismatic()
    mech.add_joint("guide", guide, mech.ground.marker((0, 1, 0)), slider, limits=bc.Limit(-0.5, 0.5))
    mech.add_constraint("mesh", bc.Gear(radii=(0.1, 0.2)), wheel, other)
    mech.add_drive("motor", "axle", velocity=spin)
    return mech


def whole(path, frames=30):
    """A finished run, with an event, in a file."""
    at = bc.Event("a radian", "axle - 1.0")
    return bc.simulate(
        crank(), 1.0, output_step=1.0 / frames, method="dopri5", accelerations=True, events=at, path=path
    )


def unfinished(path, run):
    """The same as left by a process that was killed."""
    growing = path.with_name("growing.h5")
    recorder = Recorder(run.layout, growing)
    sections = [run.store.read(name).reshape(len(run), -1) for name in run.layout.shapes]
    recorder.on_block(np.concatenate(sections, axis=1))
    shutil.copy(growing, path)
    recorder.finish({})


def cut(rng, content):
    """The first bytes of a file, with a preference for the beginning."""
    return content[: int(len(content) * rng.random() ** 2)], "cut off"


def overwritten(rng, content):
    """Some bytes changed, mostly near the beginning, where HDF5 keeps what it needs to find the rest."""
    raw = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        reach = int(rng.choice([64, 2048, 20_000, len(raw)]))
        at, length = int(rng.integers(min(reach, len(raw)))), int(rng.choice([1, 1, 4, 64]))
        raw[at : at + length] = bytes([int(rng.choice([0, 255, rng.integers(256)]))]) * length
    return bytes(raw[: len(content)]), "bytes changed"


def doctored(rng, path):
    """Change something in the structure of the file at `path`; say what."""
    with h5py.File(path, "r+", libver="latest") as file:
        names: list[str] = []
        file.visit(names.append)
        sets = [name for name in names if isinstance(file[name], h5py.Dataset)]
        how = CHANGES[int(rng.integers(len(CHANGES)))]
        target = str(rng.choice(names if how in OF_ANYTHING else sets))
        try:
            how(rng, file, target)
        except (ValueError, TypeError, OSError, KeyError, RuntimeError) as error:  # not with this one
            return f"{how.__name__} {target}, refused by h5py: {error}"
    return f"{how.__name__} {target}"


def _replace(file, name, **made):
    attributes = dict(file[name].attrs)
    del file[name]
    file.create_dataset(name, **made).attrs.update(attributes)


def removed(rng, file, name):
    del file[name]


def made_a_group(rng, file, name):
    del file[name]
    file.create_group(name)


def made_a_set(rng, file, name):
    del file[name]
    file[name] = np.arange(3.0)


def of_another_shape(rng, file, name):
    shape = list(file[name].shape)
    change = rng.integers(4)
    if change == 0 or not shape:
        shape.append(2)
    elif change == 1:
        shape.pop()
    else:
        axis = int(rng.integers(len(shape)))
        shape[axis] = max(0, shape[axis] + int(rng.choice([-1, 1, 5])))
    _replace(file, name, shape=tuple(shape), dtype=file[name].dtype)


def of_another_type(rng, file, name):
    kinds = ["f4", "i8", "u1", "S5", "c16", h5py.string_dtype(), h5py.ref_dtype, [("a", "f8"), ("b", "i4")]]
    kinds += [h5py.vlen_dtype("f8"), h5py.enum_dtype({"A": 1}, "i4"), "V7", np.dtype(("f8", (3,)))]
    kind = kinds[int(rng.integers(len(kinds)))]
    _replace(file, name, shape=file[name].shape, dtype=kind)


def huge(rng, file, name):
    shape = (HUGE, *file[name].shape[1:])
    _replace(file, name, shape=shape, maxshape=(None, *shape[1:]), dtype=file[name].dtype, chunks=True)


def packed(rng, file, name):
    shape = (int(rng.choice([10**6, 10**9])), *file[name].shape[1:])
    _replace(file, name, shape=shape, dtype=file[name].dtype, chunks=True, compression="gzip")


def empty(rng, file, name):
    dtype = file[name].dtype
    _replace(file, name, data=h5py.Empty(dtype))


def shorter(rng, file, name):
    data = file[name]
    data.resize(int(rng.integers(data.len() + 3)), axis=0)


def of_odd_numbers(rng, file, name):
    data = file[name]
    flat = data[...].reshape(-1)
    odd = [np.nan, np.inf, -np.inf, 1e300, -1.0, 0.0] if data.dtype.kind == "f" else [-1, -2, 7, 10**9 % 256]
    for _ in range(int(rng.integers(1, 4))):
        flat[int(rng.integers(flat.size))] = rng.choice(odd)
    data[...] = flat.reshape(data.shape)


def of_odd_texts(rng, file, name):
    data = file[name]
    odd = ["", "x" * 100_000, "\0", "ground", "ä\u202e", b"\xff\xfe", "drive"]
    values = data[...]
    values[int(rng.integers(len(values)))] = odd[int(rng.integers(len(odd)))]
    data[...] = values


def of_an_odd_attribute(rng, file, name):
    holder = file if rng.random() < 0.7 else file[name]
    attributes = list(holder.attrs)
    odd = [1, -1, 2, 1.5, "x", "", np.arange(3), np.nan, h5py.Empty("f8"), True, b"\xff", "y" * 60_000]
    odd += [["a", "b"]]
    holder.attrs[str(rng.choice([*attributes, "status"]))] = odd[int(rng.integers(len(odd)))]


def without_an_attribute(rng, file, name):
    holder = file if rng.random() < 0.7 else file[name]
    del holder.attrs[str(rng.choice(list(holder.attrs)))]


def swapped(rng, file, name):
    names: list[str] = []
    file.visit(names.append)
    other = str(rng.choice(names))
    file.move(name, "aside")
    file.move(other, name)
    file.move("aside", other)


def linked(rng, file, name):
    del file[name]
    link = [h5py.SoftLink("/none"), h5py.SoftLink(f"/{name}"), h5py.SoftLink("/time"), h5py.SoftLink("/")]
    link += [h5py.ExternalLink("/dev/zero", "/time"), h5py.ExternalLink("none.h5", "/time")]
    file[name] = link[int(rng.integers(len(link)))]


def the_whole_again(rng, file, name):
    del file[name]
    file[name] = file["/"]


def kept_elsewhere(rng, file, name):
    shape, dtype = file[name].shape, file[name].dtype
    del file[name]
    if rng.random() < 0.5:
        layout = h5py.VirtualLayout(shape, dtype)
        layout[...] = h5py.VirtualSource("/dev/zero", name, shape)
        file.create_virtual_dataset(name, layout)
    else:
        file.create_dataset(name, shape, dtype, external=[("/dev/zero", 0, h5py.h5f.UNLIMITED)])


def with_another_end(rng, file, name):
    texts = ["", "{", "[]", "null", '{"status": 1}', "[" * 100_000, '{"status": "x"}', "\0" * 9]
    told = {"status": "finished", "message": "", "statistics": {}, "events": []}
    texts += [json.dumps(told | {key: 5}) for key in told]
    texts += [json.dumps(told | {"events": [1]}), json.dumps(told | {"events": ["a"] * 1000})]
    texts += [json.dumps(told | {"statistics": {"a": [1]}}), '{"statistics": {"a": 1e999}}', "9" * 10_000]
    raw = [text.encode() for text in texts] + [b"\xff\xfe", b'"\xed\xa0\x80"']
    chosen = raw[int(rng.integers(len(raw)))]
    file["end"].resize(len(chosen), axis=0)
    file["end"][:] = np.frombuffer(chosen, np.uint8)


OF_ANYTHING = (removed, made_a_group, made_a_set, swapped, linked, the_whole_again)
CHANGES = (
    *OF_ANYTHING,
    of_another_shape,
    of_another_type,
    huge,
    packed,
    empty,
    shorter,
    of_odd_numbers,
    of_odd_texts,
    of_an_odd_attribute,
    without_an_attribute,
    kept_elsewhere,
    with_another_end,
)
