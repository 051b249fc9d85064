#include "geometry/faces.hpp"

#include <array>
#include <cmath>

#include "geometry/support.hpp"

namespace bellcrank {

void place(const Pose& pose, SupportPart& part) {
    for (PolygonVertex& v : part.vertices) v.p = pose.point(v.p);
    part.normal = pose.direction(part.normal);
    part.centre = pose.point(part.centre);
}

// Outwards across side i of a face, not a unit vector.
static Vec3 side_normal(const SupportPart& face, int i) {
    const int next = i + 1 == static_cast<int>(face.vertices.size()) ? 0 : i + 1;
    return cross(face.vertices[next].p - face.vertices[i].p, face.normal);
}

bool clip_line(const SupportPart& area, const Vec3& from, const Vec3& to, double& t0, double& t1) {
    t0 = 0.0, t1 = 1.0;
    if (area.kind == SupportPart::Kind::disc) {
        Vec3 p = from - area.centre, d = to - from;
        p = p - dot(p, area.normal) * area.normal;
        d = d - dot(d, area.normal) * area.normal;
        const double a = dot(d, d), b = dot(p, d), c = dot(p, p) - area.radius * area.radius * (1.0 + 1e-12);
        const double root = b * b - a * c;
        if (!(a > 0.0)) return c <= 0.0;
        if (!(root >= 0.0)) return false;
        t0 = std::max(t0, (-b - std::sqrt(root)) / a), t1 = std::min(t1, (-b + std::sqrt(root)) / a);
        return t0 <= t1;
    }
    for (int r = 0; r < static_cast<int>(area.vertices.size()) && t0 <= t1; ++r) {
        const Vec3 side = side_normal(area, r);
        const double d0 = dot(side, from - area.vertices[r].p), d1 = dot(side, to - area.vertices[r].p);
        if (d0 > 0.0 && d1 > 0.0) return false;
        if (d0 > 0.0) t0 = std::max(t0, d0 / (d0 - d1));
        if (d1 > 0.0) t1 = std::min(t1, d0 / (d0 - d1));
    }
    return t0 <= t1;
}

namespace {

using Kind = SupportPart::Kind;

bool holds(const SupportPart& area, const Vec3& p) {
    if (area.kind == Kind::disc) {
        Vec3 d = p - area.centre;
        d = d - dot(d, area.normal) * area.normal;
        return dot(d, d) <= area.radius * area.radius * (1.0 + 1e-12);
    }
    for (int r = 0; r < static_cast<int>(area.vertices.size()); ++r) {
        const Vec3 side = side_normal(area, r);
        if (dot(side, p - area.vertices[r].p) > 1e-12 * dot(side, side)) return false;
    }
    return true;
}

// The parts as reference, whose plane the gaps are measured from, and incident; `flipped`: the reference is B.
struct Facing {
    const ConvexPair& pair;
    const SupportPart &reference, &incident;
    bool flipped;
    ContactManifold& out;

    double gap(const Vec3& p) const { return dot(reference.normal, p - reference.vertices[0].p); }
    // A point of the incident part, against the plane of the reference.
    void add(const Vec3& p, Feature of_incident, Feature of_reference) const {
        const double d = gap(p);
        const Vec3 other = p - d * reference.normal;
        if (flipped)
            pair.add(p, other, reference.normal, d, of_incident, of_reference, out);
        else
            pair.add(other, p, -reference.normal, d, of_reference, of_incident, out);
    }
    // A point of the rim or corners of the reference: where the incident part is below it.
    void add_below(const Vec3& p, Feature of_incident, Feature of_reference, bool on_rim = false) const {
        const double slope = dot(reference.normal, incident.normal);
        const Vec3 below = p + (dot(incident.vertices[0].p - p, incident.normal) / slope) * reference.normal;
        if (on_rim || holds(incident, below)) add(below, of_incident, of_reference);
    }
};

Feature corner_of(const SupportPart& reference, int first, int second) {
    const bool wraps = first == 0 && second + 1 == static_cast<int>(reference.vertices.size()) && second > 1;
    return reference.vertices[wraps ? 0 : second].vertex;
}

// I. Sutherland, G. Hodgman, Reentrant polygon clipping (1974).
void clip_face(const Facing& f) {
    std::vector<ClipVertex>&now = f.out.clipped, &before = f.out.previous;
    now.clear();
    const auto& edges = f.incident.vertices;
    for (std::size_t i = 0; i < edges.size(); ++i)
        now.push_back({edges[i].p, edges[i].vertex, f.reference.feature, static_cast<int>(i)});
    for (int r = 0; r < static_cast<int>(f.reference.vertices.size()); ++r) {
        std::swap(now, before);
        now.clear();
        const Vec3 side = side_normal(f.reference, r), corner = f.reference.vertices[r].p;
        const double margin = 1e-10 * dot(side, side);  // on the side: rounding does not cut there, as in box_faces()
        for (std::size_t i = 0; i < before.size(); ++i) {
            const ClipVertex &from = before[i], &to = before[i + 1 == before.size() ? 0 : i + 1];
            const double d0 = dot(side, from.p - corner), d1 = dot(side, to.p - corner);
            const bool stays = d0 <= margin;
            if (stays) now.push_back(from);
            if (stays == (d1 <= margin)) continue;
            if (stays && d0 >= -margin) now.back().edge = -1 - r;
            if (std::abs(stays ? d0 : d1) <= margin) continue;
            ClipVertex cut{from.p + (d0 / (d0 - d1)) * (to.p - from.p), f.incident.feature,
                           f.reference.vertices[r].edge, from.edge};
            if (from.edge >= 0)
                cut.incident = edges[from.edge].edge;
            else
                cut.reference = corner_of(f.reference, -1 - from.edge, r);
            if (stays) cut.edge = -1 - r;
            now.push_back(cut);
        }
    }
    for (const ClipVertex& v : now) f.add(v.p, v.incident, v.reference);
}

void clip_segment(const Facing& f) {
    const PolygonVertex &from = f.incident.vertices[0], &to = f.incident.vertices[1];
    double t0, t1;
    if (!clip_line(f.reference, from.p, to.p, t0, t1)) return;
    auto add = [&](double t, bool end, const PolygonVertex& vertex, Feature cut) {
        f.add(from.p + t * (to.p - from.p), end ? vertex.vertex : from.edge, f.reference.feature + (end ? 0 : cut));
    };
    add(t0, t0 == 0.0, from, kFirstEnd);
    if (t1 > t0) add(t1, t1 == 1.0, to, kSecondEnd);
}

// A face and a disc, either being the reference: points of the rim within the face, of the face's corners within the
// disc, and where its sides cross the rim.
void clip_with_disc(const Facing& f) {
    for (const PolygonVertex& v : f.incident.vertices)
        if (holds(f.reference, v.p)) f.add(v.p, v.vertex, f.reference.feature);
    for (const PolygonVertex& v : f.reference.vertices) f.add_below(v.p, f.incident.feature, v.vertex);
    const bool flat_reference = f.reference.kind == Kind::face;
    const SupportPart &face = flat_reference ? f.reference : f.incident,
                      &round = flat_reference ? f.incident : f.reference;
    if (face.kind != Kind::face) return;
    for (std::size_t i = 0; i < face.vertices.size(); ++i) {
        const PolygonVertex &from = face.vertices[i], &to = face.vertices[i + 1 == face.vertices.size() ? 0 : i + 1];
        double t[2];
        if (!clip_line(round, from.p, to.p, t[0], t[1])) continue;
        for (int end = 0; end < 2; ++end) {
            if (t[end] == end) continue;  // a corner
            const Vec3 p = from.p + t[end] * (to.p - from.p);
            const Feature rim = round.feature + (end ? kSecondEnd : kFirstEnd);
            if (flat_reference)
                f.add_below(p, rim, from.edge, true);
            else
                f.add(p, from.edge, rim);
        }
    }
}

// Two discs: the points where their rims cross beside those of either within the other.
void clip_discs(const Facing& f) {
    clip_with_disc(f);
    const SupportPart &a = f.reference, &b = f.incident;
    Vec3 d = b.centre - a.centre;
    d = d - dot(d, a.normal) * a.normal;
    const double length = norm(d);
    if (!(length > 1e-9 * (a.radius + b.radius)) || length >= a.radius + b.radius) return;
    const double x = 0.5 * (length + (a.radius * a.radius - b.radius * b.radius) / length);
    const double square = a.radius * a.radius - x * x;
    if (!(square > 0.0)) return;
    const Vec3 u = (1.0 / length) * d, v = cross(a.normal, u);
    for (int side = 0; side < 2; ++side)
        f.add_below(a.centre + x * u + (side ? -std::sqrt(square) : std::sqrt(square)) * v,
                    b.feature + (side ? kSecondEnd : kFirstEnd), a.feature + (side ? kSecondEnd : kFirstEnd), true);
}

// Two segments that are nearly parallel: the ends of what they have in common.
void facing_segments(const ConvexPair& pair, const Separation& s, ContactManifold& out) {
    const SupportPart &A = out.part_a, &B = out.part_b;
    const Vec3 a0 = A.vertices[0].p, da = A.vertices[1].p - a0, b0 = B.vertices[0].p, db = B.vertices[1].p - b0;
    const double aa = dot(da, da), ab = dot(da, db), bb = dot(db, db);
    if (ab * ab < kAligned * kAligned * aa * bb) return;
    auto pair_up = [&](const Vec3& a, const Vec3& b, Feature of_a, Feature of_b) {
        pair.add(a, b, s.normal, dot(s.normal, a - b), of_a, of_b, out);
    };
    for (int end = 0; end < 2; ++end) {
        const double of_b = dot(A.vertices[end].p - b0, db) / bb, of_a = dot(B.vertices[end].p - a0, da) / aa;
        if (of_b >= 0.0 && of_b <= 1.0) pair_up(A.vertices[end].p, b0 + of_b * db, A.vertices[end].vertex, B.feature);
        if (of_a > 0.0 && of_a < 1.0) pair_up(a0 + of_a * da, B.vertices[end].p, A.feature, B.vertices[end].vertex);
    }
}

// Turns the four points of a disc's rim so that the first is the one farthest along d.
void aim_rim(SupportPart& disc, const Vec3& d) {
    const Vec3 along = d - dot(d, disc.normal) * disc.normal;
    const double across = norm(along);
    if (!(across > 1e-9)) return;
    const Vec3 x = disc.vertices[0].p - disc.centre, y = disc.vertices[1].p - disc.centre;
    const Vec3 u = (disc.radius / across) * along, v = (1.0 / (disc.radius * disc.radius)) * cross(cross(x, y), u);
    const Vec3 arms[4] = {u, v, -u, -v};
    for (int k = 0; k < 4; ++k) disc.vertices[k].p = disc.centre + arms[k];
}

bool is_area(const SupportPart& part) { return part.kind == Kind::face || part.kind == Kind::disc; }

void face_each_other(const ConvexPair& pair, const Separation& s, ContactManifold& out) {
    SupportPart &A = out.part_a, &B = out.part_b;
    const CorePair& cores = pair.cores;
    support_part(cores.A, -s.normal, A);
    support_part(cores.B, cores.pose.local_direction(s.normal), B);
    place(cores.pose, B);
    const double of_a = is_area(A) ? -dot(A.normal, s.normal) : -1.0,
                 of_b = is_area(B) ? dot(B.normal, s.normal) : -1.0;
    if (std::max(of_a, of_b) < kAligned) {
        if (A.kind == Kind::segment && B.kind == Kind::segment) facing_segments(pair, s, out);
        return;
    }
    const bool flipped = of_b > of_a;
    // The deepest points of round shapes depend on the exact normal.
    if (flipped) {
        support_part(cores.A, -B.normal, A);
    } else {
        support_part(cores.B, cores.pose.local_direction(-A.normal), B);
        place(cores.pose, B);
    }
    SupportPart& round = flipped ? B : A;
    if (round.kind == Kind::disc && is_area(flipped ? A : B)) aim_rim(round, -(flipped ? A : B).normal);
    const Facing f{pair, flipped ? B : A, flipped ? A : B, flipped, out};
    const Kind incident = f.incident.kind, reference = f.reference.kind;
    if (incident == Kind::segment) return clip_segment(f);
    if (incident == Kind::point) {
        if (holds(f.reference, f.incident.vertices[0].p))
            f.add(f.incident.vertices[0].p, f.incident.feature, f.reference.feature);
        return;
    }
    if (dot(f.reference.normal, f.incident.normal) > -0.1) return;  // seen from its edge
    if (reference == Kind::disc && incident == Kind::disc) return clip_discs(f);
    if (reference == Kind::disc || incident == Kind::disc) return clip_with_disc(f);
    clip_face(f);
}

}  // namespace

void add_facing_parts(const ConvexPair& pair, const Separation& s, ContactManifold& out) {
    const std::size_t before = out.points.size();
    out.uncertainty = std::max(out.uncertainty, s.uncertainty);
    face_each_other(pair, s, out);
    double least = Bounds::kInfinity;
    for (std::size_t i = before; i < out.points.size(); ++i) least = std::min(least, out.points[i].gap);
    const double scale = norm(s.a) + norm(s.b);
    if (s.gap - pair.rounding < least - 1e-12 * scale) pair.add(s.a, s.b, s.normal, s.gap, kWitness, kWitness, out);
}

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
    // The middle of the face and both its half sides, along each axis of the reference.
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
