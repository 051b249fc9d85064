#include "geometry/box_faces.hpp"

#include <array>
#include <cmath>

#include "geometry/support.hpp"

namespace bellcrank {

namespace {

// What a point of the clipped face lies on, by small numbers: of the incident box its corner c, 4 + the edge from
// there, or the face; of the reference a corner (side of the first axis + 2 sides of the second), 4 + a side, the face.
constexpr std::uint8_t kSide = 4, kWholeFace = 8;

// A point in the plane of the reference, along its two axes and above it, and the edge that leaves it: of the incident
// face, or 4 + a side.
struct PlanePoint {
    double x[2], height;
    std::uint8_t incident, reference, edge;
};

struct Polygon {
    PlanePoint points[12];
    int count = 0;
};

// box_edge() of all pairs of vertices.
constexpr std::array<Feature, 64> edge_table() {
    std::array<Feature, 64> out{};
    for (int i = 0; i < 64; ++i) out[i] = box_edge(i / 8, i % 8);
    return out;
}
constexpr std::array<Feature, 64> kEdges = edge_table();

// Sutherland and Hodgman's, as in faces.cpp. Sides 0 to 3: below −h and above +h along the first axis of the plane,
// then along the second. False where all points are within the side, and `now` is not written. What is on the side
// within `margin` is not cut: of equal boxes on each other rounding would cut edges anywhere along their length.
bool cut(double half, int side, double margin, const Polygon& before, Polygon& now) {
    const int k = side / 2;
    const double sign = side % 2 ? 1.0 : -1.0;
    double d[13];
    bool outside = false;
    for (int i = 0; i < before.count; ++i) {
        d[i] = sign * before.points[i].x[k] - half;
        outside |= d[i] > margin;
    }
    if (!outside) return false;
    d[before.count] = d[0];
    now.count = 0;
    for (int i = 0; i < before.count; ++i) {
        const PlanePoint &from = before.points[i], &to = before.points[i + 1 == before.count ? 0 : i + 1];
        const bool stays = d[i] <= margin;
        if (stays) now.points[now.count++] = from;
        if (stays == (d[i + 1] <= margin)) continue;
        const auto edge = static_cast<std::uint8_t>(stays ? kSide + side : from.edge);
        // Points on the side itself are there once.
        if (stays && d[i] >= -margin) now.points[now.count - 1].edge = edge;
        if (std::abs(stays ? d[i] : d[i + 1]) <= margin) continue;
        const double t = d[i] / (d[i] - d[i + 1]);
        PlanePoint& p = now.points[now.count++];
        p.x[k] = sign * half;
        p.x[1 - k] = from.x[1 - k] + t * (to.x[1 - k] - from.x[1 - k]);
        p.height = from.height + t * (to.height - from.height);
        p.edge = edge;
        if (from.edge < kSide) {
            p.incident = kSide + from.edge;
            p.reference = static_cast<std::uint8_t>(kSide + side);
        } else {
            const int other = from.edge - kSide, first = k == 0 ? side : other, second = (k == 0 ? other : side) - 2;
            p.incident = kWholeFace;
            p.reference = static_cast<std::uint8_t>(first + 2 * second);
        }
    }
    return true;
}

// The incident face most opposed to the reference's, and what its points are. Face numbers are 2 axis + (positive), as
// in support.cpp.
void opposed_face(const BoxFaces& pair, int k, double sign, Polygon& polygon, Feature incident[9]) {
    const int k1 = k == 2 ? 0 : k + 1, k2 = k == 0 ? 2 : k - 1;
    const double* R = pair.rel.R.m;
    int j = 0;
    for (int m = 1; m < 3; ++m)
        if (std::abs(R[3 * k + m]) > std::abs(R[3 * k + j])) j = m;
    const int j1 = j == 2 ? 0 : j + 1, j2 = j == 0 ? 2 : j - 1;
    const bool up = sign * R[3 * k + j] < 0.0;
    const int base = up ? 1 << j : 0;
    const int ring[4] = {base, base | 1 << j1, base | 1 << j1 | 1 << j2, base | 1 << j2};
    incident[kWholeFace] = face_feature(2 * j + up);
    const double h[3] = {pair.incident.half.x, pair.incident.half.y, pair.incident.half.z};
    const double t[3] = {pair.rel.p.x, pair.rel.p.y, pair.rel.p.z}, above = component(pair.reference.half, k);
    const double middle = up ? h[j] : -h[j];
    // Along each axis of the reference: the middle of the face and both its half sides.
    const int axes[3] = {k1, k2, k};
    double along[3][3];
    for (int a = 0; a < 3; ++a) {
        const double* row = R + 3 * axes[a];
        along[a][0] = t[axes[a]] + row[j] * middle, along[a][1] = row[j1] * h[j1], along[a][2] = row[j2] * h[j2];
    }
    for (int c = 0; c < 4; ++c) {
        const double s1 = c == 1 || c == 2 ? 1.0 : -1.0, s2 = c >= 2 ? 1.0 : -1.0;
        auto at = [&](int a) { return along[a][0] + s1 * along[a][1] + s2 * along[a][2]; };
        const auto corner = static_cast<std::uint8_t>(c);
        polygon.points[c] = {{at(0), at(1)}, sign * at(2) - above, corner, kWholeFace, corner};
        incident[c] = vertex_feature(ring[c]);
        incident[kSide + c] = kEdges[8 * ring[c] + ring[(c + 1) % 4]];
    }
    polygon.count = 4;
}

void reference_features(int k, double sign, Feature reference[9]) {
    const int k1 = k == 2 ? 0 : k + 1, k2 = k == 0 ? 2 : k - 1, base = sign > 0.0 ? 1 << k : 0;
    for (int a = 0; a < 2; ++a) {
        for (int b = 0; b < 2; ++b) reference[a + 2 * b] = vertex_feature(base | a << k1 | b << k2);
        const int first = base | a << k1, second = base | a << k2;
        reference[kSide + a] = kEdges[8 * first + (first | 1 << k2)];
        reference[kSide + 2 + a] = kEdges[8 * second + (second | 1 << k1)];
    }
    reference[kWholeFace] = face_feature(2 * k + (sign > 0.0));
}

}  // namespace

void box_faces(const BoxFaces& pair, int k, double reach, ContactManifold& out) {
    const int k1 = k == 2 ? 0 : k + 1, k2 = k == 0 ? 2 : k - 1;
    const double sign = component(pair.rel.p, k) > 0.0 ? 1.0 : -1.0;
    Feature incident[9], reference[9];
    Polygon polygons[2];
    int now = 0;
    opposed_face(pair, k, sign, polygons[0], incident);
    reference_features(k, sign, reference);
    const double halves[2] = {component(pair.reference.half, k1), component(pair.reference.half, k2)};
    const double margin = 1e-10 * (halves[0] + halves[1]);
    for (int side = 0; side < 4; ++side)
        if (cut(halves[side / 2], side, margin, polygons[now], polygons[1 - now])) now = 1 - now;
    const double* R = pair.of_reference.R.m;
    const Vec3 u{R[k1], R[3 + k1], R[6 + k1]}, v{R[k2], R[3 + k2], R[6 + k2]};
    const Vec3 outwards = sign * Vec3{R[k], R[3 + k], R[6 + k]}, normal = pair.flipped ? outwards : -outwards;
    const Vec3 middle = pair.of_reference.p + component(pair.reference.half, k) * outwards;
    for (int i = 0; i < polygons[now].count; ++i) {
        const PlanePoint& p = polygons[now].points[i];
        if (!(p.height < reach)) continue;
        const Feature a = reference[p.reference], b = incident[p.incident];
        out.points.push_back({middle + p.x[0] * u + p.x[1] * v + (0.5 * p.height) * outwards, normal, p.height,
                              pair.flipped ? feature_pair(b, a) : feature_pair(a, b)});
    }
}

}  // namespace bellcrank
