#include "geometry/hull.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>

#include "geometry/surface.hpp"

namespace bellcrank {

int Hull::farthest(const Vec3& d, int start) const {
    int best = start;
    double top = dot(d, vertices[best]);
    for (bool climbs = true; climbs;) {
        climbs = false;
        for (int k = first_neighbour[best], end = first_neighbour[best + 1]; k < end; ++k) {
            const double height = dot(d, vertices[neighbours[k]]);
            if (height > top) top = height, best = neighbours[k], climbs = true;
        }
    }
    return best;
}

namespace {

[[noreturn]] void refuse_hull(const std::string& fault) {
    throw std::invalid_argument("hull: " + fault + "; pass the points to a convex hull routine first");
}

struct Side {
    int from, to, triangle;
};

// Groups of triangles in one plane, found across their common edges.
struct Groups {
    std::vector<int> parent;
    explicit Groups(std::size_t n) : parent(n) { std::iota(parent.begin(), parent.end(), 0); }
    int root(int i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    }
};

class HullBuilder {
  public:
    HullBuilder(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles)
        : triangles_(triangles) {
        if (std::string faults = point_faults(points); !faults.empty()) {
            faults.pop_back();
            refuse_hull(faults.substr(1));
        }
        number_vertices(points);
        wind();
        merge();
        for (int i = 0; i < static_cast<int>(triangles_.size()); ++i)
            if (groups_.root(i) == i) add_face(i);
        add_edges();
        add_neighbours();
        check();
    }
    std::shared_ptr<Hull> hull = std::make_shared<Hull>();

  private:
    std::vector<std::array<int, 3>> triangles_;
    std::vector<Vec3> normals_;  // of the triangles, as long as twice their areas
    std::map<std::pair<int, int>, int> sides_;
    Groups groups_{0};
    double size_ = 0.0;

    void number_vertices(const std::vector<Vec3>& points) {
        std::vector<int> number(points.size(), -1);
        Vec3 sum{0.0, 0.0, 0.0};
        for (auto& triangle : triangles_)
            for (int& v : triangle) {
                if (v < 0 || v >= static_cast<int>(points.size()))
                    refuse_hull("a triangle refers to vertex " + std::to_string(v) + " of " +
                                std::to_string(points.size()));
                const Vec3& p = points[v];
                if (number[v] < 0) {
                    number[v] = static_cast<int>(hull->vertices.size());
                    hull->vertices.push_back(p);
                    sum += p;
                }
                v = number[v];
            }
        if (hull->vertices.size() < 4) refuse_hull("at least four vertices are needed");
        hull->inside = (1.0 / static_cast<double>(hull->vertices.size())) * sum;
        for (const Vec3& p : hull->vertices) {
            hull->bounds.add(p);
            hull->reach_out = std::max(hull->reach_out, norm(p));
            size_ = std::max(size_, norm(p - hull->inside));
        }
    }

    // All outwards.
    void wind() {
        for (auto& t : triangles_) {
            const Vec3 a = hull->vertices[t[0]];
            Vec3 n = cross(hull->vertices[t[1]] - a, hull->vertices[t[2]] - a);
            if (dot(n, a - hull->inside) < 0.0) std::swap(t[1], t[2]), n = -n;
            normals_.push_back(n);
        }
        for (int i = 0; i < static_cast<int>(triangles_.size()); ++i)
            for (int e = 0; e < 3; ++e)
                if (!sides_.emplace(std::pair(triangles_[i][e], triangles_[i][(e + 1) % 3]), i).second)
                    refuse_hull("more than two triangles meet at an edge");
    }

    int beyond(int triangle, int e) const {
        const auto found = sides_.find({triangles_[triangle][(e + 1) % 3], triangles_[triangle][e]});
        if (found == sides_.end()) refuse_hull("the surface is open");
        return found->second;
    }

    bool coplanar(int i, int j) const {
        const Vec3 n = unit(normals_[dot(normals_[i], normals_[i]) > dot(normals_[j], normals_[j]) ? i : j], {0, 0, 0});
        const Vec3 a = hull->vertices[triangles_[i][0]];
        for (int t : {i, j})
            for (int v : triangles_[t])
                if (std::abs(dot(n, hull->vertices[v] - a)) > 1e-10 * size_) return false;
        return true;
    }

    void merge() {
        groups_ = Groups(triangles_.size());
        for (int i = 0; i < static_cast<int>(triangles_.size()); ++i)
            for (int e = 0; e < 3; ++e)
                if (const int j = beyond(i, e); coplanar(i, j)) groups_.parent[groups_.root(i)] = groups_.root(j);
    }

    // The rim of a group, and its plane: the normal is the sum of the triangles'.
    void add_face(int group) {
        std::map<int, int> next;
        Vec3 n{0.0, 0.0, 0.0};
        for (int i = 0; i < static_cast<int>(triangles_.size()); ++i) {
            if (groups_.root(i) != group) continue;
            n += normals_[i];
            for (int e = 0; e < 3; ++e)
                if (groups_.root(beyond(i, e)) != group) next[triangles_[i][e]] = triangles_[i][(e + 1) % 3];
        }
        Hull::Face face{static_cast<int>(hull->corners.size()), 0, unit(n, {0.0, 0.0, 1.0}), -Bounds::kInfinity};
        if (next.empty()) refuse_hull("all points lie in one plane");
        const int start = next.begin()->first;
        int v = start;
        do {
            hull->corners.push_back(v);
            face.offset = std::max(face.offset, dot(face.normal, hull->vertices[v]));
            const auto found = next.find(v);
            if (found == next.end() || ++face.count > static_cast<int>(next.size()))
                refuse_hull("a face is not convex");
            v = found->second;
        } while (v != start);
        hull->faces.push_back(face);
    }

    void add_edges() {
        std::map<std::pair<int, int>, int> numbers;
        hull->corner_edges.resize(hull->corners.size());
        for (int f = 0; f < static_cast<int>(hull->faces.size()); ++f) {
            const Hull::Face& face = hull->faces[f];
            for (int i = 0; i < face.count; ++i) {
                const int v = hull->corners[face.first + i], w = hull->corners[face.first + (i + 1) % face.count];
                const auto [place, fresh] = numbers.emplace(std::minmax(v, w), static_cast<int>(hull->edges.size()));
                if (fresh)
                    hull->edges.push_back({v, w, f, -1});
                else
                    hull->edges[place->second][3] = f;
                hull->corner_edges[face.first + i] = place->second;
            }
        }
    }

    void add_neighbours() {
        const std::size_t n = hull->vertices.size();
        std::vector<std::vector<int>> near(n), faces(n);
        for (const auto& edge : hull->edges) {
            near[edge[0]].push_back(edge[1]);
            near[edge[1]].push_back(edge[0]);
        }
        for (int f = 0; f < static_cast<int>(hull->faces.size()); ++f)
            for (int i = 0; i < hull->faces[f].count; ++i) faces[hull->corners[hull->faces[f].first + i]].push_back(f);
        hull->first_neighbour.push_back(0);
        hull->first_face.push_back(0);
        for (std::size_t v = 0; v < n; ++v) {
            hull->neighbours.insert(hull->neighbours.end(), near[v].begin(), near[v].end());
            hull->vertex_faces.insert(hull->vertex_faces.end(), faces[v].begin(), faces[v].end());
            hull->first_neighbour.push_back(static_cast<int>(hull->neighbours.size()));
            hull->first_face.push_back(static_cast<int>(hull->vertex_faces.size()));
        }
    }

    void check() const {
        for (const Hull::Face& face : hull->faces)
            for (const Vec3& p : hull->vertices)
                if (dot(face.normal, p) > face.offset + 1e-7 * size_) refuse_hull("the surface is not convex");
    }
};

}  // namespace

SharedShape make_hull(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles) {
    return HullBuilder(vertices, triangles).hull;
}

}  // namespace bellcrank
