// Convex and open edges of meshes, from corner to corner.
#include "geometry/mesh.hpp"

namespace bellcrank {

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

    // From an edge on beyond its vertex v, as far as it is straight: the corner at its end.
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
