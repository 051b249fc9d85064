// Meshes on planes: corners of the mesh.
#include "geometry/mesh.hpp"
#include "geometry/pairs.hpp"

namespace bellcrank {

void plane_mesh(const Shape&, const Pose& pose_a, const Shape& b, const Pose& pose_b, double reach,
                ContactManifold& out) {
    const auto& mesh = static_cast<const Mesh&>(b);
    const Vec3 up = pose_a.direction({0.0, 0.0, 1.0}), n = pose_b.local_direction(up);
    const double level = dot(up, pose_b.p - pose_a.p);  // of the mesh's origin
    const auto lowest = [&](const Bounds& box) {
        return level + n.x * (n.x > 0.0 ? box.lo.x : box.hi.x) + n.y * (n.y > 0.0 ? box.lo.y : box.hi.y) +
               n.z * (n.z > 0.0 ? box.lo.z : box.hi.z);
    };
    out.marks.resize(std::max(out.marks.size(), mesh.vertices.size()), 0);
    const unsigned now = ++out.search;
    mesh.tree.where([&](const Bounds& box) { return lowest(box) < reach; },
                    [&](int i) {
                        for (int v : mesh.triangles[i]) {
                            if (!mesh.corners[v] || out.marks[v] == now) continue;
                            out.marks[v] = now;
                            const Vec3 p = mesh.vertices[v];
                            const double gap = level + dot(n, p);
                            if (gap < reach)
                                out.add(pose_b, p - (0.5 * gap) * n, -n, gap, face_feature(0),
                                        vertex_feature(static_cast<Feature>(v)));
                        }
                    });
}

}  // namespace bellcrank
