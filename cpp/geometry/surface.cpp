#include "geometry/surface.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace bellcrank {

namespace {

constexpr std::size_t kLongest = 200;  // of a list of faults

std::string triangle_name(int i) { return "triangle " + std::to_string(i); }

std::string missing_vertices(std::size_t points, const std::vector<std::array<int, 3>>& triangles) {
    std::string faults;
    for (std::size_t i = 0; i < triangles.size() && faults.size() < kLongest; ++i)
        for (int v : triangles[i])
            if (v < 0 || v >= static_cast<int>(points))
                faults += " " + triangle_name(static_cast<int>(i)) + " refers to vertex " + std::to_string(v) + " of " +
                          std::to_string(points) + ";";
    if (triangles.empty()) faults += " there is no triangle;";
    return faults;
}

// A surface with vertices at the same place joined.
class Joined {
  public:
    Joined(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles) {
        number_ = joined_points(points, distinct_);
        name_.resize(distinct_.size());
        for (int i = static_cast<int>(points.size()) - 1; i >= 0; --i) name_[number_[i]] = i;
        for (int i = 0; i < static_cast<int>(triangles.size()); ++i) {
            const std::array<int, 3> v{number_[triangles[i][0]], number_[triangles[i][1]], number_[triangles[i][2]]};
            if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) {
                note_flat(i);
                continue;
            }
            add_triangle(i, v);
        }
        std::sort(halves_.begin(), halves_.end(), [](const Half& a, const Half& b) {
            return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
        });
        look_at_edges();
        look_for_doubles();
    }

    std::string faults(bool solid) const {
        std::string out = doubled_ + turned_;
        if (solid) out += flat_ + open_ + crowded_;
        if (!turned_.empty() || !open_.empty() || !crowded_.empty()) return out;
        const double size = std::sqrt(area_);
        if (std::abs(volume_) <= 1e-12 * area_ * size) {
            if (solid) out += " the surface has no thickness: it encloses no volume;";
        } else if (volume_ < 0.0) {
            out += " all triangles face inwards: turn two vertices of each;";
        }
        return out;
    }

  private:
    struct Half {
        int low, high, triangle;
        bool forwards;
    };
    std::vector<int> number_, name_;
    std::vector<Vec3> distinct_;
    std::vector<Half> halves_;
    std::vector<std::array<int, 4>> corners_;  // of each triangle, in order, and its number
    std::string doubled_, flat_, open_, turned_, crowded_;
    double volume_ = 0.0, area_ = 0.0;

    void note_flat(int i) {
        if (flat_.size() < kLongest) flat_ += " " + triangle_name(i) + " has no area;";
    }

    void add_triangle(int i, const std::array<int, 3>& v) {
        corners_.push_back({v[0], v[1], v[2], i});
        std::sort(corners_.back().begin(), corners_.back().begin() + 3);
        const Vec3 o = distinct_[0], a = distinct_[v[0]] - o, b = distinct_[v[1]] - o, c = distinct_[v[2]] - o;
        const Vec3 twice = cross(b - a, c - a);
        const double longest = std::max({dot(b - a, b - a), dot(c - b, c - b), dot(a - c, a - c)});
        if (norm(twice) <= 1e-12 * longest) note_flat(i);
        area_ += 0.5 * norm(twice);
        volume_ += dot(a, cross(b, c)) / 6.0;
        for (int e = 0; e < 3; ++e) {
            const int from = v[e], to = v[(e + 1) % 3];
            halves_.push_back({std::min(from, to), std::max(from, to), i, from < to});
        }
    }

    // A surface that is there twice has edges within its faces at which a body is pushed aside.
    void look_for_doubles() {
        std::sort(corners_.begin(), corners_.end());
        for (std::size_t i = 1; i < corners_.size() && doubled_.size() < kLongest; ++i)
            if (std::equal(corners_[i].begin(), corners_[i].begin() + 3, corners_[i - 1].begin()))
                doubled_ += " triangles " + std::to_string(corners_[i - 1][3]) + " and " +
                            std::to_string(corners_[i][3]) + " have the same corners: remove one of them;";
    }

    std::string edge_name(const Half& h) const {
        const auto [first, second] = std::minmax(name_[h.low], name_[h.high]);
        return "the edge between vertices " + std::to_string(first) + " and " + std::to_string(second);
    }

    void look_at_edges() {
        for (std::size_t i = 0, end = 0; i < halves_.size(); i = end) {
            while (end < halves_.size() && halves_[end].low == halves_[i].low && halves_[end].high == halves_[i].high)
                ++end;
            const std::size_t count = end - i;
            if (count == 1 && open_.size() < kLongest)
                open_ += " it is open at " + edge_name(halves_[i]) + " of " + triangle_name(halves_[i].triangle) + ";";
            if (count > 2 && crowded_.size() < kLongest)
                crowded_ += " " + std::to_string(count) + " triangles meet at " + edge_name(halves_[i]) + ";";
            if (count == 2 && halves_[i].forwards == halves_[i + 1].forwards && turned_.size() < kLongest)
                turned_ += " triangles " + std::to_string(halves_[i].triangle) + " and " +
                           std::to_string(halves_[i + 1].triangle) + " face opposite ways at " + edge_name(halves_[i]) +
                           ";";
        }
    }
};

}  // namespace

std::string point_faults(const std::vector<Vec3>& points) {
    std::string faults;
    Bounds all;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (std::isfinite(points[i].x + points[i].y + points[i].z))
            all.add(points[i]);
        else if (faults.size() < kLongest)
            faults += " vertex " + std::to_string(i) + " is not finite;";
    }
    const double size = points.empty() ? 0.0 : norm(all.hi - all.lo), far = norm(all.hi) + norm(all.lo);
    if (faults.empty() && !points.empty() && !(size >= kLeastSize && far <= kLargestSize)) {
        char text[160];
        std::snprintf(text, sizeof text,
                      " points reach over %g m at up to %g m from the origin, of %g to %g m allowed;", size, far,
                      kLeastSize, kLargestSize);
        faults += text;
    }
    return faults;
}

std::vector<int> joined_points(const std::vector<Vec3>& points, std::vector<Vec3>& distinct) {
    std::vector<int> by_place(points.size()), number(points.size());
    std::iota(by_place.begin(), by_place.end(), 0);
    auto key = [&](int i) { return std::tie(points[i].x, points[i].y, points[i].z); };
    std::sort(by_place.begin(), by_place.end(),
              [&](int a, int b) { return std::tuple_cat(key(a), std::tie(a)) < std::tuple_cat(key(b), std::tie(b)); });
    distinct.clear();
    for (std::size_t i = 0; i < by_place.size(); ++i) {
        if (i == 0 || key(by_place[i]) != key(by_place[i - 1])) distinct.push_back(points[by_place[i]]);
        number[by_place[i]] = static_cast<int>(distinct.size()) - 1;
    }
    return number;
}

std::string surface_faults(const std::vector<Vec3>& points, const std::vector<std::array<int, 3>>& triangles,
                           bool solid) {
    const std::string faults = point_faults(points) + missing_vertices(points.size(), triangles);
    return faults.empty() ? Joined(points, triangles).faults(solid) : faults;
}

}  // namespace bellcrank
