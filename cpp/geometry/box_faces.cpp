#include "geometry/box_faces.hpp"

#include <cmath>

#include "geometry/support.hpp"

namespace bellcrank {

namespace {

// A point in the plane of the reference: along its two axes, and above it.
struct PlanePoint {
    double x[2], height;
    Feature incident, reference;
    Feature edge;  // that leaves it, of the incident box; of the reference 1 + the number of the side
    bool on_reference;
};

struct Quad {
    PlanePoint points[12];
    int count = 0;
};

// Sides 0 to 3: below −h and above +h along the first axis of the plane, then along the second.
struct Sides {
    double half[2];
    Feature edges[4], face_of_incident;
    Feature corner(int side, int other) const {
        const int first = side < 2 ? side : other, second = (side < 2 ? other : side) - 2;
        return corners[first][second];
    }
    Feature corners[2][2];
};

// Sutherland and Hodgman's, as in faces.cpp.
void cut(const Sides& sides, int side, const Quad& before, Quad& now) {
    const int k = side / 2;
    const double sign = side % 2 ? 1.0 : -1.0, half = sides.half[k];
    now.count = 0;
    for (int i = 0; i < before.count; ++i) {
        const PlanePoint &from = before.points[i], &to = before.points[i + 1 == before.count ? 0 : i + 1];
        const double d0 = sign * from.x[k] - half, d1 = sign * to.x[k] - half;
        if (d0 <= 0.0) now.points[now.count++] = from;
        if ((d0 <= 0.0) == (d1 <= 0.0)) continue;
        const double t = d0 / (d0 - d1);
        PlanePoint p;
        for (int m = 0; m < 2; ++m) p.x[m] = from.x[m] + t * (to.x[m] - from.x[m]);
        p.x[k] = sign * half;
        p.height = from.height + t * (to.height - from.height);
        p.incident = from.on_reference ? sides.face_of_incident : from.edge;
        p.reference = from.on_reference ? sides.corner(static_cast<int>(from.edge), side) : sides.edges[side];
        p.edge = d0 <= 0.0 ? static_cast<Feature>(side) : from.edge;
        p.on_reference = d0 <= 0.0 || from.on_reference;
        if (d0 == 0.0)  // on the side itself: not cut off a second time
            now.points[now.count - 1].edge = p.edge, now.points[now.count - 1].on_reference = true;
        else
            now.points[now.count++] = p;
    }
}

// Face numbers are 2 axis + (positive), as in support.cpp.
void opposed_face(const BoxFaces& pair, int k, double sign, Quad& quad, Sides& sides) {
    const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    const double* R = pair.rel.R.m;
    int j = 0;
    for (int m = 1; m < 3; ++m)
        if (std::abs(R[3 * k + m]) > std::abs(R[3 * k + j])) j = m;
    const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    const bool up = sign * R[3 * k + j] < 0.0;
    sides.face_of_incident = face_feature(2 * j + up);
    const int base = up ? 1 << j : 0;
    const int ring[4] = {base, base | 1 << j1, base | 1 << j1 | 1 << j2, base | 1 << j2};
    const double above = component(pair.reference.half, k);
    const double t[3] = {pair.rel.p.x, pair.rel.p.y, pair.rel.p.z};
    for (int c = 0; c < 4; ++c) {
        const Vec3 v = box_vertex(pair.incident.half, ring[c]);
        auto along = [&](int m) { return t[m] + R[3 * m] * v.x + R[3 * m + 1] * v.y + R[3 * m + 2] * v.z; };
        quad.points[c] = {{along(k1), along(k2)},
                          sign * along(k) - above,
                          vertex_feature(ring[c]),
                          face_feature(2 * k + (sign > 0.0)),
                          box_edge(ring[c], ring[(c + 1) % 4]),
                          false};
    }
    quad.count = 4;
}

}  // namespace

void box_faces(const BoxFaces& pair, int k, double reach, ContactManifold& out) {
    const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    const double sign = component(pair.rel.p, k) > 0.0 ? 1.0 : -1.0;
    Sides sides;
    sides.half[0] = component(pair.reference.half, k1), sides.half[1] = component(pair.reference.half, k2);
    const int base = sign > 0.0 ? 1 << k : 0;
    for (int a = 0; a < 2; ++a)
        for (int b = 0; b < 2; ++b) sides.corners[a][b] = vertex_feature(base | a << k1 | b << k2);
    for (int a = 0; a < 2; ++a) {
        sides.edges[a] = box_edge(base | a << k1, base | a << k1 | 1 << k2);
        sides.edges[2 + a] = box_edge(base | a << k2, base | a << k2 | 1 << k1);
    }
    Quad quads[2];
    opposed_face(pair, k, sign, quads[0], sides);
    for (int side = 0; side < 4; ++side) cut(sides, side, quads[side % 2], quads[(side + 1) % 2]);
    Vec3 n{0.0, 0.0, 0.0};
    component(n, k) = sign;
    const Vec3 outwards = pair.of_reference.direction(n), normal = pair.flipped ? outwards : -outwards;
    const double above = component(pair.reference.half, k);
    for (int i = 0; i < quads[0].count; ++i) {
        const PlanePoint& q = quads[0].points[i];
        if (!(q.height < reach)) continue;
        Vec3 p{0.0, 0.0, 0.0};
        component(p, k) = sign * (above + 0.5 * q.height);
        component(p, k1) = q.x[0];
        component(p, k2) = q.x[1];
        out.points.push_back(
            {pair.of_reference.point(p), normal, q.height,
             pair.flipped ? feature_pair(q.incident, q.reference) : feature_pair(q.reference, q.incident)});
    }
}

}  // namespace bellcrank
