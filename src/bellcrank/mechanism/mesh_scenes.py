"""glTF scenes without what is no triangle; parts that stand in several places are counted as often."""

from __future__ import annotations

import json
from typing import Any, Final

NODES: Final = 2_000
"""How many nodes, or parts of meshes in nodes, a scene may have."""
_DEPTH: Final = 100
_TRIANGLES: Final = (4, 5, 6)  # modes of primitives: triangles, strips, fans
_DROPPED: Final = (
    "images",
    "textures",
    "materials",
    "samplers",
    "animations",
    "skins",
    "cameras",
    "extensions",
)
_ITEMS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}


def plain(content: bytes, kind: str, most: int) -> bytes:
    """A glTF or GLB file with positions and triangles alone.

    most: vertices, and corners of triangles, that its nodes may show together. Raises ValueError for more,
    and for what is not as glTF demands.
    """
    if kind == "gltf":
        return json.dumps(_checked(_tree(content), most)).encode()
    if content[:4] != b"glTF" or len(content) < 20:
        raise ValueError("this is no GLB file")
    length = int.from_bytes(content[12:16], "little")
    text = json.dumps(_checked(_tree(content[20 : 20 + length]), most)).encode()
    text += b" " * (-len(text) % 4)
    rest = content[20 + length :]
    size = (20 + len(text) + len(rest)).to_bytes(4, "little")
    return content[:8] + size + len(text).to_bytes(4, "little") + content[16:20] + text + rest


def _tree(text: bytes) -> Any:
    if text.count(b"[") + text.count(b"{") + text.count(b",") > 1_000_000:
        raise ValueError("its JSON text has more than 1,000,000 values")
    tree = json.loads(text)
    if not isinstance(tree, dict):
        raise ValueError("its JSON text is no object")
    return tree


def _checked(tree: Any, most: int) -> Any:
    for name in _DROPPED:
        tree.pop(name, None)
    accessors, meshes, nodes = (_objects(tree, name) for name in ("accessors", "meshes", "nodes"))
    if len(nodes) > NODES or len(accessors) > 10 * NODES or len(_objects(tree, "bufferViews")) > 10 * NODES:
        raise ValueError(f"it has more than {NODES} nodes, or {10 * NODES} accessors")
    used = {
        at for mesh in meshes for primitive in _objects(mesh, "primitives") for at in _geometry(primitive)
    }
    for at, accessor in enumerate(accessors):
        if at not in used:  # what is not used is not read
            accessor.clear()
            accessor.update({"componentType": 5126, "count": 0, "type": "SCALAR"})
        elif accessor.get("type") not in _ITEMS or not 0 <= _whole(accessor.get("count")) <= most:
            raise ValueError(f"accessor {at} has no type, or more than {most} items")
    sizes = []
    for mesh in meshes:
        mesh["primitives"] = [one for one in mesh["primitives"] if one.get("mode", 4) in _TRIANGLES]
        counts = [_count(primitive, accessors) for primitive in mesh["primitives"]]
        sizes.append((len(counts), sum(counts)))
    _check_tree(nodes)
    shown = [sizes[_place(node["mesh"], sizes)] for node in nodes if "mesh" in node] + sizes
    if sum(parts for parts, _ in shown) > 2 * NODES or sum(count for _, count in shown) > 4 * most:
        raise ValueError(f"its nodes show more than {NODES} parts or {most} corners of triangles")
    return tree


def _objects(holder: Any, name: str) -> list[Any]:
    found = holder.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError(f"{name!r} must be a list of objects")
    return found


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _place(value: Any, values: list[Any]) -> int:
    if not 0 <= _whole(value) < len(values):
        raise ValueError(f"there is no part {value!r}")
    return int(value)


def _geometry(primitive: Any) -> list[int]:
    """The accessors of a primitive that are read; all else is taken out of it."""
    packed = primitive.pop("extensions", {})
    if packed and any("compression" in name for name in packed):
        raise ValueError("its triangles are compressed, which is not read: save it without compression")
    attributes = primitive.get("attributes", {})
    if "POSITION" not in attributes:
        raise ValueError("a part of a mesh has no POSITION")
    primitive["attributes"] = {"POSITION": attributes["POSITION"]}
    for name in ("material", "targets"):
        primitive.pop(name, None)
    return [_whole(attributes["POSITION"]), _whole(primitive.get("indices", attributes["POSITION"]))]


def _count(primitive: Any, accessors: list[Any]) -> int:
    """Vertices, and corners of triangles, of a primitive."""
    positions = accessors[_place(primitive["attributes"]["POSITION"], accessors)]["count"]
    if "indices" not in primitive:
        return 2 * int(positions)
    return int(positions) + int(accessors[_place(primitive["indices"], accessors)]["count"])


def _check_tree(nodes: list[Any]) -> None:
    """Each node has one parent, as glTF demands, and lies not too deep."""
    parents: dict[int, int] = {}
    for at, node in enumerate(nodes):
        for child in node.get("children", []):
            if parents.setdefault(_place(child, nodes), at) != at:
                raise ValueError(f"node {child} is part of two others")
    for at in range(len(nodes)):
        depth = 0
        while at in parents:
            at, depth = parents[at], depth + 1
            if depth > _DEPTH:
                raise ValueError(f"its nodes lie in each other more than {_DEPTH} deep")
