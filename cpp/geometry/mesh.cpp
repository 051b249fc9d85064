// Convex and open edges of meshes, from corner to corner.
#include "geometry/mesh.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>

#include "geometry/surface.hpp"

namespace bellcrank {

namespace {

class MeshBuilder {
  public:
    MeshBuilder(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles) {
        number_vertices(points, triangles);
        find_normals();
        find_neighbours();
        join_facets();
        find_kinds();
        find_spokes();
        find_ridges(*mesh);
        find_thickness();
        mesh->tree.build(mesh->vertices, mesh->triangles);
    }
    std::shared_ptr<Mesh> mesh = std::make_shared<Mesh>();

  private:
    std::vector<Vec3> areas_;  // normals as long as twice the areas
    double size_ = 0.0;

    void number_vertices(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles) {
        const std::vector<int> number = joined_points(points, mesh->vertices);
        for (const auto& t : triangles) {
            const std::array<int, 3> v{number[t[0]], number[t[1]], number[t[2]]};
            if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0]) mesh->triangles.push_back(v);
        }
        for (const Vec3& p : mesh->vertices) {
            mesh->bounds.add(p);
            mesh->reach_out = std::max(mesh->reach_out, norm(p));
        }
        size_ = norm(mesh->bounds.hi - mesh->bounds.lo);
    }

    void find_thickness() {
        double area = 0.0, volume = 0.0;
        for (std::size_t i = 0; i < areas_.size(); ++i) {
            area += 0.5 * norm(areas_[i]);
            volume += dot(areas_[i], mesh->vertices[mesh->triangles[i][0]] - mesh->vertices[0]) / 6.0;
            for (EdgeKind kind : mesh->kinds[i])
                if (kind == EdgeKind::open) mesh->mean_thickness = Bounds::kInfinity;
        }
        if (mesh->mean_thickness == 0.0) mesh->mean_thickness = 2.0 * volume / area;
    }

    void find_normals() {
        for (const auto& t : mesh->triangles) {
            const Vec3 a = mesh->vertices[t[0]];
            areas_.push_back(cross(mesh->vertices[t[1]] - a, mesh->vertices[t[2]] - a));
        }
    }

    void find_neighbours() {
        const std::size_t n = mesh->triangles.size();
        struct Half {
            std::pair<int, int> ends;
            int triangle, edge;
        };
        std::vector<Half> halves;
        for (std::size_t i = 0; i < n; ++i)
            for (int e = 0; e < 3; ++e)
                halves.push_back(
                    {std::minmax(mesh->triangles[i][e], mesh->triangles[i][(e + 1) % 3]), static_cast<int>(i), e});
        std::sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
            return std::tie(a.ends, a.triangle, a.edge) < std::tie(b.ends, b.triangle, b.edge);
        });
        mesh->across.assign(n, {-1, -1, -1});
        mesh->edges.assign(n, {0, 0, 0});
        int number = 0;
        for (std::size_t i = 0; i < halves.size(); ++number) {
            std::size_t end = i + 1;
            while (end < halves.size() && halves[end].ends == halves[i].ends) ++end;
            for (std::size_t k = i; k < end; ++k) mesh->edges[halves[k].triangle][halves[k].edge] = number;
            // Where more than two meet, or two that are wound against each other, the edge stays open.
            if (end - i == 2 && mesh->triangles[halves[i].triangle][halves[i].edge] !=
                                    mesh->triangles[halves[i + 1].triangle][halves[i + 1].edge]) {
                mesh->across[halves[i].triangle][halves[i].edge] = halves[i + 1].triangle;
                mesh->across[halves[i + 1].triangle][halves[i + 1].edge] = halves[i].triangle;
            }
            i = end;
        }
    }

    // Height of the vertex of `other` that is not on edge e of triangle i above the plane of the larger of the two, and
    // whether they face the same way.
    bool flat(int i, int other, int e) const {
        const bool larger = dot(areas_[i], areas_[i]) >= dot(areas_[other], areas_[other]);
        const Vec3 n = unit(areas_[larger ? i : other], {0.0, 0.0, 0.0}), a = mesh->vertices[mesh->triangles[i][e]];
        for (int t : {i, other})
            for (int v : mesh->triangles[t])
                if (std::abs(dot(n, mesh->vertices[v] - a)) > 1e-10 * size_) return false;
        return dot(areas_[i], areas_[other]) >= 0.0;
    }

    int root(int i) {
        while (mesh->facets[i] != i) i = mesh->facets[i] = mesh->facets[mesh->facets[i]];
        return i;
    }

    // A facet's normal is the mean of its triangles' by area: slivers have few digits of their own.
    void join_facets() {
        const int n = static_cast<int>(mesh->triangles.size());
        mesh->facets.resize(n);
        std::iota(mesh->facets.begin(), mesh->facets.end(), 0);
        mesh->kinds.assign(n, {EdgeKind::open, EdgeKind::open, EdgeKind::open});
        for (int i = 0; i < n; ++i)
            for (int e = 0; e < 3; ++e) {
                const int other = mesh->across[i][e];
                if (other < 0) continue;
                mesh->kinds[i][e] = EdgeKind::convex;
                if (!flat(i, other, e)) continue;
                mesh->kinds[i][e] = EdgeKind::flat;
                mesh->facets[root(i)] = root(other);
            }
        std::vector<Vec3> sums(n, {0.0, 0.0, 0.0});
        for (int i = 0; i < n; ++i) sums[root(i)] += areas_[i];
        for (int i = 0; i < n; ++i) {
            mesh->facets[i] = root(i);
            const Vec3 mean = unit(sums[mesh->facets[i]], {0.0, 0.0, 1.0}), own = unit(areas_[i], mean);
            // A round surface may be made of many almost flat edges in a row.
            const Vec3 off = mean - own;
            const double thin = 1e-12 * size_ * size_;
            mesh->normals.push_back(dot(off, off) < 1e-14 || dot(areas_[i], areas_[i]) < thin * thin ? mean : own);
        }
    }

    void find_kinds() {
        for (std::size_t i = 0; i < mesh->triangles.size(); ++i)
            for (int e = 0; e < 3; ++e) {
                if (mesh->kinds[i][e] != EdgeKind::convex) continue;
                const auto& t = mesh->triangles[i];
                const Vec3 along = mesh->vertices[t[(e + 1) % 3]] - mesh->vertices[t[e]];
                const Vec3 bend = cross(mesh->normals[i], mesh->normals[mesh->across[i][e]]);
                if (dot(bend, along) < 0.0) mesh->kinds[i][e] = EdgeKind::concave;
            }
    }

    // Neighbours, mean normals by angle (J. Bærentzen, H. Aanæs 2005), and which vertices are corners: those where
    // other than no or two edges are not flat, or where these two are at an angle.
    void find_spokes() {
        const std::size_t n = mesh->vertices.size();
        std::vector<std::vector<int>> ends(n), sharp(n);
        mesh->vertex_normals.assign(n, {0.0, 0.0, 0.0});
        mesh->open.assign(n, 0);
        for (std::size_t i = 0; i < mesh->triangles.size(); ++i)
            for (int e = 0; e < 3; ++e) {
                const auto& t = mesh->triangles[i];
                const int v = t[e], w = t[(e + 1) % 3], last = t[(e + 2) % 3];
                const Vec3 a = unit(mesh->vertices[w] - mesh->vertices[v], {0.0, 0.0, 0.0});
                const Vec3 b = unit(mesh->vertices[last] - mesh->vertices[v], {0.0, 0.0, 0.0});
                mesh->vertex_normals[v] += std::acos(std::clamp(dot(a, b), -1.0, 1.0)) * mesh->normals[i];
                if (mesh->across[i][e] < 0) mesh->open[v] = mesh->open[w] = 1, mesh->closed = false;
                // An edge with two triangles is met twice.
                if (mesh->across[i][e] >= 0 && mesh->across[i][e] < static_cast<int>(i)) continue;
                ends[v].push_back(w);
                ends[w].push_back(v);
                if (mesh->kinds[i][e] == EdgeKind::flat) continue;
                sharp[v].push_back(w);
                sharp[w].push_back(v);
            }
        mesh->first_spoke.push_back(0);
        mesh->corners.assign(n, 0);
        for (std::size_t v = 0; v < n; ++v) {
            mesh->vertex_normals[v] = unit(mesh->vertex_normals[v], {0.0, 0.0, 1.0});
            mesh->spoke_ends.insert(mesh->spoke_ends.end(), ends[v].begin(), ends[v].end());
            mesh->first_spoke.push_back(static_cast<int>(mesh->spoke_ends.size()));
            if (sharp[v].empty()) continue;
            mesh->corners[v] = 1;
            if (sharp[v].size() != 2) continue;
            const Vec3 a = unit(mesh->vertices[sharp[v][0]] - mesh->vertices[v], {0.0, 0.0, 0.0});
            const Vec3 b = unit(mesh->vertices[sharp[v][1]] - mesh->vertices[v], {0.0, 0.0, 0.0});
            if (norm(a + b) < 1e-9) mesh->corners[v] = 0;
        }
    }
};

}  // namespace

void Mesh::triangle(int i, SurfaceTriangle& out) const {
    out.facet = facets[i];
    out.normal = normals[i];
    for (int k = 0; k < 3; ++k) {
        out.vertex[k] = triangles[i][k];
        out.edge[k] = edges[i][k];
        out.p[k] = vertices[triangles[i][k]];
        out.kind[k] = kinds[i][k];
        out.beyond[k] = across[i][k] >= 0 ? normals[across[i][k]] : out.normal;
        out.corner[k] = corners[triangles[i][k]];
    }
}

void Mesh::near(const Bounds& bounds_, ContactManifold&, std::vector<int>& found) const {
    found.clear();
    tree.overlapping(bounds_, [&](int i) {
        Bounds own;
        for (int v : triangles[i]) own.add(vertices[v]);
        if (overlap(own, bounds_)) found.push_back(i);
    });
}

void Mesh::spokes(int vertex, std::vector<Vec3>& out) const {
    out.clear();
    for (int k = first_spoke[vertex]; k < first_spoke[vertex + 1]; ++k)
        out.push_back(vertices[spoke_ends[k]] - vertices[vertex]);
}

bool Mesh::ray(const LocalRay& ray, RayHit& hit) const {
    const int nearest = tree.enter(ray, hit.distance);
    if (nearest >= 0) hit = {hit.distance, normals[nearest], face_feature(facets[nearest])};
    return nearest >= 0;
}

SharedShape make_mesh(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles, bool solid) {
    if (const std::string faults = surface_faults(vertices, triangles, solid); !faults.empty())
        throw std::invalid_argument("mesh:" + faults +
                                    " give finite vertices in m, and triangles counterclockwise from outside");
    return MeshBuilder(vertices, triangles).mesh;
}

namespace {

constexpr double kInto = 0.1;  // sine of the angle by which a line enters the solid

class RidgeFinder {
  public:
    explicit RidgeFinder(Mesh& mesh) : mesh_(mesh) {
        gather();
        mesh_.ridge_of.assign(ends_.size(), -1);
        for (int e = 0; e < static_cast<int>(ends_.size()); ++e)
            if (sharp_[e] && mesh_.ridge_of[e] < 0) add(e);
    }

  private:
    struct Groove {
        Vec3 normals[2];
    };
    Mesh& mesh_;
    std::vector<std::array<int, 2>> ends_;     // vertices of each edge
    std::vector<char> sharp_;                  // convex or open
    std::vector<std::vector<int>> at_;         // those edges at each vertex
    std::vector<std::vector<Groove>> groove_;  // concave edges there

    void gather() {
        int count = 0;
        for (const auto& edges : mesh_.edges)
            for (int e : edges) count = std::max(count, e + 1);
        ends_.resize(count);
        sharp_.assign(count, 0);
        at_.resize(mesh_.vertices.size());
        groove_.resize(mesh_.vertices.size());
        for (std::size_t i = 0; i < mesh_.triangles.size(); ++i)
            for (int k = 0; k < 3; ++k) {
                const int edge = mesh_.edges[i][k], v = mesh_.triangles[i][k], w = mesh_.triangles[i][(k + 1) % 3];
                ends_[edge] = {v, w};
                const EdgeKind kind = mesh_.kinds[i][k];
                if (is_ridge(kind) && !sharp_[edge]) {
                    sharp_[edge] = 1;
                    for (int end : {v, w}) at_[end].push_back(edge);
                }
                if (kind == EdgeKind::concave)
                    for (int end : {v, w})
                        groove_[end].push_back({{mesh_.normals[i], mesh_.normals[mesh_.across[i][k]]}});
            }
    }

    // The corner at the end of an edge that is followed beyond its vertex v as far as it is straight.
    int follow(int edge, int v, int number) {
        const int first = edge;
        while (!mesh_.corners[v] && at_[v].size() == 2) {
            const int next = at_[v][at_[v][0] == edge];
            if (next == first) break;
            edge = next;
            mesh_.ridge_of[edge] = number;
            v = ends_[edge][ends_[edge][0] == v];
        }
        return v;
    }

    void add(int edge) {
        const int number = static_cast<int>(mesh_.ridges.size());
        mesh_.ridge_of[edge] = number;
        int v = follow(edge, ends_[edge][0], number), w = follow(edge, ends_[edge][1], number);
        if (v > w) std::swap(v, w);
        const Vec3 from = mesh_.vertices[v], to = mesh_.vertices[w], along = unit(to - from, {0.0, 0.0, 0.0});
        mesh_.ridges.push_back(
            {edge_feature(static_cast<Feature>(edge)), from, to, {beyond(v, -along), beyond(w, along)}});
    }

    // The normal of the side of a groove that a line from vertex v goes through, zero where it does not.
    Vec3 beyond(int v, const Vec3& along) const {
        Vec3 into{0.0, 0.0, 0.0};
        double most = -kInto;
        for (const Groove& groove : groove_[v])
            for (const Vec3& normal : groove.normals)
                if (dot(normal, along) < most) most = dot(normal, along), into = normal;
        return into;
    }
};

}  // namespace

void find_ridges(Mesh& mesh) { RidgeFinder find(mesh); }

}  // namespace bellcrank
