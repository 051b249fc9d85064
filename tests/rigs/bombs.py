"""Small files that expand to very large ones; their names end in their suffixes, and n is an exponent."""

import io
import json
import struct
import zipfile
import zlib


def packed(name, content):
    """An archive of one file."""
    with io.BytesIO() as made:
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, content)
        return made.getvalue()


def png(n):
    """A black picture of 10^(n + 3) samples."""
    wide = int(10 ** ((n + 3) / 2))
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(wide + 1)) for _ in range(wide)) + packer.flush() if n < 6 else b""
    parts = {b"IHDR": struct.pack(">IIBBBBB", wide, wide, 8, 0, 0, 0, 0), b"IDAT": rows, b"IEND": b""}
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts.items()
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def zipped(n):
    """A mesh of 10^(n + 1) lines in an archive."""
    return packed("a.obj", b"v 0 0 0\n" * 10 ** (n + 1) + b"f 1 2 3\n")


def doubling(n):
    """A 3MF mesh that is repeated 2^(10 n) times."""
    mesh = (
        "<mesh><vertices>" + "".join(f'<vertex x="{x}" y="{x * x}" z="1"/>' for x in range(3)) + "</vertices>"
        '<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh>'
    )
    objects = f'<object id="0" type="model">{mesh}</object>' + "".join(
        f'<object id="{k}" type="model"><components>'
        + f'<component objectid="{k - 1}"/>' * 2
        + "</components></object>"
        for k in range(1, 10 * n + 1)
    )
    space = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
    text = f'<model unit="millimeter" xmlns="{space}"><resources>{objects}</resources>'
    text += f'<build><item objectid="{10 * n}"/></build></model>'
    return packed("3D/3dmodel.model", text.encode())


def zeros(n):
    """A glTF mesh of 10^(n + 3) vertices that no buffer holds."""
    count = 10 ** (n + 3)
    tree = {
        "asset": {"version": "2.0"},
        "bufferViews": [],
        "accessors": [{"componentType": 5126, "count": count, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}] * 3,
        "scenes": [{"nodes": [0, 1, 2]}],
        "scene": 0,
    }
    return json.dumps(tree).encode()


def collada(n):
    """A COLLADA node that holds itself twice, 10 n times over."""
    nodes = '<node id="n0"><instance_geometry url="#g"/></node>' + "".join(
        f'<node id="n{k}">' + f'<instance_node url="#n{k - 1}"/>' * 2 + "</node>"
        for k in range(1, 10 * n + 1)
    )
    source = (
        '<source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>'
        '<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/>'
        '<param name="Y" type="float"/>'
        '<param name="Z" type="float"/></accessor></technique_common></source>'
    )
    mesh = (
        f'<mesh>{source}<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>'
        '<triangles count="1">'
        '<input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles></mesh>'
    )
    return (
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        f'<library_geometries><geometry id="g">{mesh}</geometry></library_geometries>'
        f'<library_nodes>{nodes}</library_nodes><library_visual_scenes><visual_scene id="s"><node id="r">'
        f'<instance_node url="#n{10 * n}"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    ).encode()


BOMBS = {
    "black png": png,
    "lines in a zip": zipped,
    "components of a 3mf": doubling,
    "zeros of a gltf": zeros,
    "nodes of a dae": collada,
    "solids of an stl": lambda n: b"solid a\nendsolid\n" * min(10**n, 10**6),
    "materials of an obj": lambda n: (
        b"v 0 0 1\n" * 10**n + b"usemtl a\nf 1 2 3\nusemtl b\nf 1 2 3\n" * 10 ** (n // 2)
    ),
    "counts of a ply": lambda n: (
        b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nend_header\n"
        % 10 ** (2 * n)
    ),
    "counts of an off": lambda n: b"OFF\n%d 1 0\n0 0 0\n3 0 0 0\n" % 10 ** (2 * n),
}
"""By name: functions of n, from 1 to 6."""
