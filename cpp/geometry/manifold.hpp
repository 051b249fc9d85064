// Contact points of a pair of shapes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "geometry/pose.hpp"

namespace bellcrank {

// A part of a shape, the same from step to step: a vertex, an edge or a face, by number.
using Feature = std::uint32_t;
inline constexpr Feature kVertexFeature = 0u << 30, kEdgeFeature = 1u << 30, kFaceFeature = 2u << 30;
// Added to a face or edge: the ends of what is left of an edge that it cuts off.
inline constexpr Feature kFirstEnd = 1u << 28, kSecondEnd = 1u << 29;
inline constexpr Feature kWitness = 3u << 30;  // the nearest points, of no feature in particular
constexpr Feature vertex_feature(std::uint32_t i) { return kVertexFeature | i; }
constexpr Feature edge_feature(std::uint32_t i) { return kEdgeFeature | i; }
constexpr Feature face_feature(std::uint32_t i) { return kFaceFeature | i; }

// The normal points from b to a, gap = n · (pₐ − p_b) with the points of the surfaces pₐ, p_b = position ± ½ gap n.
struct ContactPoint {
    Vec3 position, normal;
    double gap;
    std::uint64_t feature;  // of a (upper half) and of b
    // Tyres only: the gap changes by (normal + tilt) · displacement of a, and that is where force acts.
    Vec3 tilt{0.0, 0.0, 0.0};
};
constexpr std::uint64_t feature_pair(Feature a, Feature b) { return std::uint64_t{a} << 32 | b; }
constexpr Feature first_feature(std::uint64_t pair) { return static_cast<Feature>(pair >> 32); }
constexpr Feature second_feature(std::uint64_t pair) { return static_cast<Feature>(pair & 0xffffffffu); }

// A vertex of a face, with the number of the edge that leaves it.
struct PolygonVertex {
    Vec3 p;
    Feature vertex, edge;
};

// The part of a convex shape that supports a direction: a point, a segment, a face or a disc.
struct SupportPart {
    enum class Kind : std::uint8_t { point, segment, face, disc } kind = Kind::point;
    std::vector<PolygonVertex> vertices;  // counterclockwise about the normal; of a disc four points of the rim
    Vec3 normal{0.0, 0.0, 1.0};           // of a face or disc, outwards
    Vec3 centre{0.0, 0.0, 0.0};           // of a disc
    double radius = 0.0;
    Feature feature = 0;
};

// A vertex of a face that is clipped by another, the reference: what of either it lies on.
struct ClipVertex {
    Vec3 p;
    Feature incident, reference;
    int edge;  // that leaves it: of the incident face, or −1 − the number of the reference's side
};

// What two surfaces may touch at, in the axes of the second one: a point of the first one, pₐ, with p_b = pₐ − gap n.
struct SurfacePoint {
    enum class Kind : std::uint8_t { corner_of_a, corner_of_b, ridges, open };
    // Whether it lies beyond a concave edge of either surface, behind the other side.
    enum class Groove : std::uint8_t { none, of_a, of_b };

    Kind kind = Kind::open;
    Groove groove = Groove::none;
    int corner = 0, facet = 0;  // by their numbers, of kinds with them
    Vec3 on_a{0.0, 0.0, 0.0}, normal{0.0, 0.0, 1.0};
    double gap = 0.0;
    std::uint64_t feature = 0;
    bool doubtful = false;          // overlapping ridges that have no part of either within the other's sides
    Vec3 to_groove{0.0, 0.0, 0.0};  // from the point of the other surface to the edge
    // Where ridges overlap: the ends of the part of either that is behind the sides of the other one.
    Vec3 in_a[2], in_b[2];

    Vec3 on_b() const { return on_a - gap * normal; }
    Vec3 middle() const { return on_a - (0.5 * gap) * normal; }
    // A point of both solids, where they overlap.
    Vec3 inside() const { return kind == Kind::ridges ? 0.5 * (in_a[0] + in_b[0]) : middle(); }
};

class TreadScan;

// Filled anew by each query. It keeps its memory: with the first calls behind it a query allocates nothing.
struct ContactManifold {
    std::vector<ContactPoint> points;
    double uncertainty = 0.0;  // by which gaps of overlapping curved shapes may be off, where the search did not settle
    SupportPart part_a, part_b;
    std::vector<ClipVertex> clipped, previous;
    std::vector<int> found, triangles;
    std::vector<char> in_groove;  // beside the points
    std::vector<Vec3> spokes;
    std::vector<std::array<int, 2>> near_pairs, crossings;  // triangles of two surfaces
    std::vector<SurfacePoint> candidates, companions, rejected;
    std::vector<unsigned> marks;  // what a search has visited carries its number
    unsigned search = 0;
    std::shared_ptr<TreadScan> tread;  // of tyres

    void clear() {
        points.clear();
        uncertainty = 0.0;
    }
    // A point given in axes `frame`, midway between the surfaces.
    void add(const Pose& frame, const Vec3& position, const Vec3& normal, double gap, Feature a, Feature b) {
        points.push_back({frame.point(position), frame.direction(normal), gap, feature_pair(a, b)});
    }
};

}  // namespace bellcrank
