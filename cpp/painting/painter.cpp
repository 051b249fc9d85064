#include "painting/painter.hpp"

#include <cmath>
#include <limits>

namespace bellcrank {

namespace {

constexpr float kAmbient = 0.60F, kDiffuse = 0.52F, kGloss = 0.16F;
constexpr std::array<float, 3> kKey = {-0.42076F, 0.62112F, 0.66119F};   // light: right, up, towards the eye
constexpr std::array<float, 3> kHalf = {-0.23084F, 0.34076F, 0.91137F};  // between the light and the eye
constexpr float kCrease = 0.80F;                  // cosine; what bends more between samples is drawn as a line
constexpr float kOutline = 0.34F, kEdge = 0.66F;  // of the colour, there
constexpr double kOpaque = 0.995;
constexpr double kNoArea = 1e-12;                 // in samples
constexpr int kCoarse = 4;                        // samples to one of the shadow, each way
constexpr double kBlur = 0.009;                   // of the width, each way
constexpr int kBlurs = 3;                         // of a box: nearly a bell
constexpr int kSide = 32;                         // samples of a tile, about
constexpr std::int32_t kNone = -1, kBeyond = -2;  // the picture
constexpr float kFar = std::numeric_limits<float>::infinity();

template <class T>
float inner(const T& a, const T& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

std::array<float, 3> towards_eye(const std::array<float, 3>& n) {
    const float size = std::max(std::sqrt(inner(n, n)), 1e-12F), to = n[2] < 0.0F ? -1.0F / size : 1.0F / size;
    return {to * n[0], to * n[1], to * n[2]};
}

// Highlights fall off with the 36th power.
float gloss(float cosine) {
    if (!(cosine > 0.0F)) return 0.0F;
    const float p2 = cosine * cosine, p4 = p2 * p2, p16 = p4 * p4 * p4 * p4;
    return kGloss * p16 * p16 * p4;
}

// Samples from one corner to before another.
struct Window {
    int top, left, bottom, right;
};

// Calls f(row, begin, end) for the samples whose middles lie in a triangle.
template <class Place, class F>
void scan(const Place& a, const Place& b, const Place& c, const Window& in, const F& f) {
    const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (!(std::abs(area) > kNoArea)) return;
    const auto [low, high] = std::minmax({a.y, b.y, c.y});
    const int first = static_cast<int>(std::clamp(std::ceil(low - 0.5), double(in.top), double(in.bottom)));
    const int last = static_cast<int>(std::clamp(std::floor(high - 0.5), in.top - 1.0, in.bottom - 1.0));
    // Inside, slope x + rise (y + 1/2) + constant is not negative for all sides.
    struct Side {
        double slope, rise, x, y;
    };
    const double sign = area > 0.0 ? 1.0 : -1.0;
    const auto side = [sign](const Place& from, const Place& to) {
        return Side{sign * (from.y - to.y), sign * (to.x - from.x), from.x, from.y};
    };
    const Side sides[] = {side(a, b), side(b, c), side(c, a)};
    for (int row = first; row <= last; ++row) {
        double left = in.left + 0.5, right = in.right - 0.5;
        for (const Side& s : sides) {
            const double rest = s.rise * (row + 0.5 - s.y) - s.slope * s.x;
            if (s.slope > 0.0)
                left = std::max(left, -rest / s.slope);
            else if (s.slope < 0.0)
                right = std::min(right, -rest / s.slope);
            else if (rest < 0.0)
                right = -HUGE_VAL;
        }
        if (right < left) continue;
        const int begin = static_cast<int>(std::ceil(left - 0.5)), end = static_cast<int>(std::floor(right - 0.5)) + 1;
        if (begin < end) f(row, begin, end);
    }
}

Vec3 vector_at(const double* v) { return {v[0], v[1], v[2]}; }

struct PartPose {
    Mat3 turn;
    Vec3 at;
    double stretch;

    PartPose(const PaintedInstant& instant, int part)
        : turn(rotation_matrix(Quat{instant.rotation[4 * part], instant.rotation[4 * part + 1],
                                    instant.rotation[4 * part + 2], instant.rotation[4 * part + 3]})),
          at(vector_at(instant.position + 3 * part)),
          stretch(instant.stretch[part]) {}

    Vec3 vertex(const double* v) const { return turn * Vec3{v[0], v[1], stretch * v[2]} + at; }
    Vec3 normal(const double* n) const {
        const Vec3 turned = turn * Vec3{stretch * n[0], stretch * n[1], n[2]};
        return (1.0 / std::max(std::sqrt(dot(turned, turned)), 1e-300)) * turned;
    }
};

}  // namespace

Painter::Painter(std::vector<PaintedMesh> meshes, std::vector<std::int32_t> mesh_of_part)
    : meshes_(std::move(meshes)), mesh_of_part_(std::move(mesh_of_part)) {}

// The vertices and normals of a part, and its colours where it has any.
PaintedBend Painter::surface_of(const PaintedInstant& at, int part) const {
    for (const PaintedBend& bend : at.bent)
        if (bend.part == part) return bend;
    const PaintedMesh& mesh = meshes_[mesh_of_part_[part]];
    return {part, mesh.vertices.data(), mesh.normals.data(), nullptr};
}

void Painter::bounds(const PaintedInstant& at, const std::vector<Vec3>& directions, double* out) const {
    for (int part = 0; part < parts(); ++part) {
        double* own = out + 2 * directions.size() * part;
        for (size_t k = 0; k < directions.size(); ++k) own[2 * k] = HUGE_VAL, own[2 * k + 1] = -HUGE_VAL;
        if (!at.drawn[part]) continue;
        const PartPose pose(at, part);
        const double* vertices = surface_of(at, part).vertices;
        for (size_t v = 0; v < meshes_[mesh_of_part_[part]].vertices.size(); v += 3) {
            const Vec3 p = pose.vertex(vertices + v);
            for (size_t k = 0; k < directions.size(); ++k) {
                const double along = dot(directions[k], p);
                own[2 * k] = std::min(own[2 * k], along);
                own[2 * k + 1] = std::max(own[2 * k + 1], along);
            }
        }
    }
}

void Painter::paint(const PaintedView& view, const std::vector<PaintedInstant>& instants, const PaintedFloor* floor,
                    int width, int height, int samples, PaintedPixels out) {
    wide_ = samples * width, high_ = samples * height, samples_ = samples;
    side_ = samples * std::max(1, kSide / samples);
    places_.clear(), normals_.clear(), tints_.clear(), triangles_.clear(), sheets_.clear();
    for (size_t i = 0; i < instants.size(); ++i) place(view, instants[i], i == 0);
    shadow_wide_ = 0;
    if (floor != nullptr) cast_shadow(view, *floor);
    sort_into_tiles();
    const size_t of_tile = stride() * stride();
    depth_.resize(of_tile), behind_.resize(of_tile), nearest_.resize(of_tile);
    seen_.resize(of_tile), colors_.resize(of_tile);
    const size_t pixels = 4 * static_cast<size_t>(width) * height;
    if (out.numbers != nullptr) std::fill_n(out.numbers, pixels, 0.0F);
    if (out.bytes != nullptr) std::fill_n(out.bytes, pixels, std::uint8_t{255});
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
        if (is_empty(tile)) continue;
        paint_tile(tile, view, floor);
        put_pixels(tiles_[tile], out);
    }
}

// Vertices and normals as seen, and the triangles of an instant in two sheets.
void Painter::place(const PaintedView& view, const PaintedInstant& at, bool behind) {
    for (const bool transparent : {false, true}) {
        const size_t begin = triangles_.size();
        for (int part = 0; part < parts(); ++part) {
            const double* color = at.color + 4 * part;
            if (!at.drawn[part] || (color[3] < kOpaque) != transparent) continue;
            const PaintedMesh& mesh = meshes_[mesh_of_part_[part]];
            const auto first = static_cast<std::int32_t>(places_.size());
            const PartPose pose(at, part);
            const PaintedBend surface = surface_of(at, part);
            for (size_t v = 0; v < mesh.vertices.size(); v += 3) {
                const Vec3 p = pose.vertex(surface.vertices + v), n = pose.normal(surface.normals + v);
                places_.push_back({(dot(view.right, p) - view.left) * view.scale,
                                   (view.high - dot(view.up, p)) * view.scale, -dot(view.toward, p) - at.nearer[part]});
                normals_.push_back({static_cast<float>(dot(view.right, n)), static_cast<float>(dot(view.up, n)),
                                    static_cast<float>(dot(view.toward, n))});
            }
            if (surface.colors != nullptr) {
                tints_.resize(places_.size());
                for (size_t v = 0; v < mesh.vertices.size(); ++v)
                    tints_[first + v / 3][v % 3] = static_cast<float>(surface.colors[v]);
            }
            const Color own = {static_cast<float>(color[0]), static_cast<float>(color[1]), static_cast<float>(color[2]),
                               static_cast<float>(color[3])};
            for (size_t k = 0; k < mesh.triangles.size(); k += 3)
                triangles_.push_back(
                    triangle_of(mesh.triangles.data() + k, first, part, own, surface.colors != nullptr));
        }
        sheets_.push_back({begin, triangles_.size(), static_cast<float>(at.strength), transparent, behind});
    }
}

Painter::Triangle Painter::triangle_of(const std::int32_t* corners, std::int32_t first, std::int32_t part,
                                       const Color& color, bool tinted) const {
    Triangle made{{first + corners[0], first + corners[1], first + corners[2]}, part, color, {}, {}, tinted, true, {}};
    const auto [i, j, k] = made.corners;
    const Place &a = places_[i], &b = places_[j], &c = places_[k];
    const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    const double per = std::abs(area) > kNoArea ? 1.0 / area : 0.0;
    const auto linear = [&](double across, double down) -> Float3 {
        return {static_cast<float>(-(across * a.x + down * a.y)), static_cast<float>(across), static_cast<float>(down)};
    };
    made.first = linear(per * (c.y - a.y), per * (a.x - c.x));
    made.second = linear(per * (a.y - b.y), per * (b.x - a.x));
    made.flat = normals_[i] == normals_[j] && normals_[i] == normals_[k];
    made.normal = towards_eye(normals_[i]);
    return made;
}

// Calls f(tile) for those that a triangle touches, by the samples beside them too.
template <class F>
void Painter::for_each_tile(const Triangle& triangle, const F& f) const {
    const Place &a = places_[triangle.corners[0]], &b = places_[triangle.corners[1]], &c = places_[triangle.corners[2]];
    const auto [top, bottom] = std::minmax({a.y, b.y, c.y});
    const auto [left, right] = std::minmax({a.x, b.x, c.x});
    if (!std::isfinite(left + right + top + bottom + a.depth + b.depth + c.depth)) return;
    if (bottom < 0.0 || top > high_ || right < 0.0 || left > wide_) return;
    const auto tile = [this](double place, int size) {
        return static_cast<int>(std::clamp(place, 0.0, size - 1.0)) / side_;
    };
    const double sign = (b.x - a.x) * (c.y - a.y) < (b.y - a.y) * (c.x - a.x) ? -1.0 : 1.0, half = 0.5 * side_ + 2.0;
    // Whether all of a square about a place is beyond a side.
    const auto beyond = [&](const Place& from, const Place& to, double x, double y) {
        const double slope = sign * (from.y - to.y), rise = sign * (to.x - from.x);
        return slope * (x - from.x) + rise * (y - from.y) + half * (std::abs(slope) + std::abs(rise)) < 0.0;
    };
    for (int row = tile(top - 2.0, high_); row <= tile(bottom + 2.0, high_); ++row) {
        for (int column = tile(left - 2.0, wide_); column <= tile(right + 2.0, wide_); ++column) {
            const double x = (column + 0.5) * side_, y = (row + 0.5) * side_;
            if (beyond(a, b, x, y) || beyond(b, c, x, y) || beyond(c, a, x, y)) continue;
            f(static_cast<size_t>(row) * across_ + column);
        }
    }
}

void Painter::sort_into_tiles() {
    tiles_.clear();
    across_ = (wide_ + side_ - 1) / side_;
    for (int top = 0; top < high_; top += side_)
        for (int left = 0; left < wide_; left += side_)
            tiles_.push_back({top, left, std::min(side_, high_ - top), std::min(side_, wide_ - left)});
    const size_t sheets = sheets_.size();
    starts_.assign(tiles_.size() * sheets + 1, 0);
    const auto for_each_entry = [&](const auto& f) {
        for (size_t s = 0; s < sheets; ++s)
            for (size_t i = sheets_[s].begin; i < sheets_[s].end; ++i)
                for_each_tile(triangles_[i], [&](size_t tile) { f(tile * sheets + s, static_cast<std::int32_t>(i)); });
    };
    for_each_entry([&](size_t entry, std::int32_t) { ++starts_[entry + 1]; });
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    in_tiles_.resize(starts_.back());
    for_each_entry([&](size_t entry, std::int32_t triangle) { in_tiles_[starts_[entry]++] = triangle; });
    for (size_t i = starts_.size() - 1; i > 0; --i) starts_[i] = starts_[i - 1];
    starts_[0] = 0;
}

// On a coarser grid, blurred by boxes.
void Painter::cast_shadow(const PaintedView& view, const PaintedFloor& floor) {
    shadow_wide_ = (wide_ + kCoarse - 1) / kCoarse, shadow_high_ = (high_ + kCoarse - 1) / kCoarse;
    shadow_.assign(static_cast<size_t>(shadow_wide_) * shadow_high_, 0.0F);
    const double scale = view.scale / kCoarse;
    std::vector<Place> fallen;
    for (int part = 0; part < parts(); ++part) {
        if (!floor.casting.drawn[part]) continue;
        const PaintedMesh& mesh = meshes_[mesh_of_part_[part]];
        const PartPose pose(floor.casting, part);
        const double* vertices = surface_of(floor.casting, part).vertices;
        fallen.clear();
        for (size_t v = 0; v < mesh.vertices.size(); v += 3) {
            const Vec3 p = pose.vertex(vertices + v);
            const Vec3 on = p - (dot(floor.up, p) - floor.height) * floor.up;
            fallen.push_back({(dot(view.right, on) - view.left) * scale, (view.high - dot(view.up, on)) * scale, 0.0});
        }
        for (size_t k = 0; k < mesh.triangles.size(); k += 3) {
            const Place &a = fallen[mesh.triangles[k]], &b = fallen[mesh.triangles[k + 1]];
            scan(a, b, fallen[mesh.triangles[k + 2]], {0, 0, shadow_high_, shadow_wide_},
                 [&](int row, int begin, int end) {
                     std::fill(shadow_.begin() + static_cast<size_t>(row) * shadow_wide_ + begin,
                               shadow_.begin() + static_cast<size_t>(row) * shadow_wide_ + end, 1.0F);
                 });
        }
    }
    const int reach = std::max(1, static_cast<int>(std::lround(kBlur * shadow_wide_)));
    const float part = 1.0F / static_cast<float>(2 * reach + 1);
    softened_.resize(shadow_.size());
    const auto row_of = [this](std::vector<float>& of, int row) {
        return of.data() + static_cast<size_t>(row) * shadow_wide_;
    };
    for (int blur = 0; blur < kBlurs; ++blur) {
        for (int row = 0; row < shadow_high_; ++row) {
            const float* from = row_of(shadow_, row);
            float* to = row_of(softened_, row);
            float sum = 0.0F;
            for (int x = 0; x < std::min(reach, shadow_wide_); ++x) sum += from[x];
            for (int x = 0; x < shadow_wide_; ++x) {
                if (x + reach < shadow_wide_) sum += from[x + reach];
                if (x - reach > 0) sum -= from[x - reach - 1];
                to[x] = std::max(part * sum, 0.0F);
            }
        }
        sums_.assign(shadow_wide_, 0.0F);
        const auto add = [&](int row, float sign) {
            const float* from = row_of(softened_, row);
            for (int x = 0; x < shadow_wide_; ++x) sums_[x] += sign * from[x];
        };
        for (int row = 0; row < std::min(reach, shadow_high_); ++row) add(row, 1.0F);
        for (int row = 0; row < shadow_high_; ++row) {
            if (row + reach < shadow_high_) add(row + reach, 1.0F);
            if (row - reach > 0) add(row - reach - 1, -1.0F);
            float* to = row_of(shadow_, row);
            for (int x = 0; x < shadow_wide_; ++x) to[x] = std::max(part * sums_[x], 0.0F);
        }
    }
    const auto least = 1e-4F;  // what is fainter is the rounding of sums
    for (float& each : shadow_) each = each > least ? static_cast<float>(floor.dark) * each : 0.0F;
}

// Whether no triangle and no shadow is in it.
bool Painter::is_empty(size_t tile) const {
    if (starts_[tile * sheets_.size()] < starts_[(tile + 1) * sheets_.size()]) return false;
    const Tile& at = tiles_[tile];
    for (int row = at.top / kCoarse; shadow_wide_ > 0 && row * kCoarse < at.top + at.rows; ++row)
        for (int column = at.left / kCoarse; column * kCoarse < at.left + at.columns; ++column)
            if (shadow_[static_cast<size_t>(row) * shadow_wide_ + column] > 0.0F) return false;
    return true;
}

void Painter::paint_tile(size_t number, const PaintedView& view, const PaintedFloor* floor) {
    std::ranges::fill(colors_, Color{});
    for (size_t s = 0; s < sheets_.size(); ++s) {
        if (s == 2 && floor != nullptr) put_shadow(tiles_[number], view, *floor);
        if (find_nearest(number, s)) shade(tiles_[number], sheets_[s]);
    }
}

// The triangle at each sample, if there are any: what is transparent before what is opaque at the same instant, all
// before what lies behind.
bool Painter::find_nearest(size_t number, size_t sheet) {
    const Tile& tile = tiles_[number];
    const bool transparent = sheets_[sheet].transparent, behind = sheets_[sheet].behind;
    const size_t entry = number * sheets_.size() + sheet;
    const bool empty = starts_[entry] == starts_[entry + 1];
    if (empty && transparent) return false;
    if (!transparent && behind) std::ranges::fill(depth_, kFar);
    if (!transparent && !behind) depth_ = behind_;
    std::ranges::fill(nearest_, kBeyond);
    const Window window{std::max(tile.top - 1, 0), std::max(tile.left - 1, 0),
                        std::min(tile.top + tile.rows + 1, high_), std::min(tile.left + tile.columns + 1, wide_)};
    for (int row = window.top; row < window.bottom; ++row)
        std::fill_n(nearest_.begin() + static_cast<std::ptrdiff_t>(at(tile, row, window.left)),
                    window.right - window.left, kNone);
    for (size_t e = starts_[entry]; e < starts_[entry + 1]; ++e) {
        const std::int32_t index = in_tiles_[e];
        const Triangle& triangle = triangles_[index];
        const Place &a = places_[triangle.corners[0]], &b = places_[triangle.corners[1]];
        const Place& c = places_[triangle.corners[2]];
        const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        const double along = ((b.depth - a.depth) * (c.y - a.y) - (c.depth - a.depth) * (b.y - a.y)) / area;
        const double down = ((c.depth - a.depth) * (b.x - a.x) - (b.depth - a.depth) * (c.x - a.x)) / area;
        scan(a, b, c, window, [&](int row, int begin, int end) {
            const size_t first = at(tile, row, begin);
            const double start = a.depth + down * (row + 0.5 - a.y) + along * (0.5 - a.x);
            for (size_t i = 0; i < static_cast<size_t>(end - begin); ++i) {
                const auto depth = static_cast<float>(start + along * (begin + static_cast<double>(i)));
                if (!(depth <= depth_[first + i])) continue;
                depth_[first + i] = depth;
                nearest_[first + i] = index;
            }
        });
    }
    if (behind && !transparent) behind_ = depth_;
    return !empty;
}

// Interpolated between the corners.
Painter::Float3 Painter::between(const Triangle& triangle, const std::vector<Float3>& at_corners, float x,
                                 float y) const {
    const float u = triangle.first[0] + triangle.first[1] * x + triangle.first[2] * y;
    const float v = triangle.second[0] + triangle.second[1] * x + triangle.second[2] * y;
    const auto [i, j, k] = triangle.corners;
    const Float3 &a = at_corners[i], &b = at_corners[j], &c = at_corners[k];
    Float3 found;
    for (int m = 0; m < 3; ++m) found[m] = a[m] + u * (b[m] - a[m]) + v * (c[m] - a[m]);
    return found;
}

// Turned towards the eye.
Painter::Float3 Painter::normal_at(const Triangle& triangle, float x, float y) const {
    return triangle.flat ? triangle.normal : towards_eye(between(triangle, normals_, x, y));
}

// The factor on the colour of a sample, at outlines and bends.
float Painter::light_at(size_t here) const {
    const std::int32_t part = triangles_[nearest_[here]].part;
    float light = 1.0F;
    for (const size_t there : {here + 1, here - 1, here + stride(), here - stride()}) {
        const std::int32_t other = nearest_[there];
        if (other == nearest_[here] || other == kBeyond) continue;
        if (other == kNone || triangles_[other].part != part) return kOutline;
        if (inner(seen_[here], seen_[there]) < kCrease) light = kEdge;
    }
    return light;
}

void Painter::shade(const Tile& tile, const Sheet& sheet) {
    for (int row = tile.top - 1; row <= tile.top + tile.rows; ++row) {
        for (int x = tile.left - 1; x <= tile.left + tile.columns; ++x) {
            const size_t here = at(tile, row, x);
            if (nearest_[here] < 0) continue;
            const auto across = static_cast<float>(x) + 0.5F, down = static_cast<float>(row) + 0.5F;
            seen_[here] = normal_at(triangles_[nearest_[here]], across, down);
        }
    }
    for (int row = tile.top; row < tile.top + tile.rows; ++row) {
        for (int x = tile.left; x < tile.left + tile.columns; ++x) {
            const size_t here = at(tile, row, x);
            if (nearest_[here] < 0) continue;
            const Triangle& triangle = triangles_[nearest_[here]];
            Color own = triangle.color;
            if (triangle.tinted) {
                const Float3 tint =
                    between(triangle, tints_, static_cast<float>(x) + 0.5F, static_cast<float>(row) + 0.5F);
                for (int m = 0; m < 3; ++m) own[m] = std::clamp(tint[m], 0.0F, 1.0F);
            }
            const Float3& n = seen_[here];
            const float light = kAmbient + kDiffuse * std::max(inner(n, kKey), 0.0F), shine = gloss(inner(n, kHalf));
            const float line = light_at(here), opacity = sheet.strength * own[3];
            Color& color = colors_[here];
            for (int m = 0; m < 3; ++m)
                color[m] = opacity * line * std::min(own[m] * light + shine, 1.0F) + (1.0F - opacity) * color[m];
            color[3] = opacity + (1.0F - opacity) * color[3];
        }
    }
}

void Painter::put_shadow(const Tile& tile, const PaintedView& view, const PaintedFloor& floor) {
    const double across = dot(floor.up, view.right) / view.scale, down = -dot(floor.up, view.up) / view.scale;
    const double away = -dot(floor.up, view.toward);
    const double first = dot(floor.up, view.left * view.right + view.high * view.up);
    for (int row = tile.top; row < tile.top + tile.rows; ++row) {
        for (int x = tile.left; x < tile.left + tile.columns; ++x) {
            const float dark = shadow_[static_cast<size_t>(row / kCoarse) * shadow_wide_ + x / kCoarse];
            if (dark == 0.0F) continue;
            const size_t here = at(tile, row, x);
            Color& color = colors_[here];
            const double height = first + across * (x + 0.5) + down * (row + 0.5) + away * behind_[here];
            if (behind_[here] < kFar && height <= floor.height + floor.thick)
                for (int m = 0; m < 3; ++m) color[m] *= 1.0F - dark;
            color[3] += dark * (1.0F - color[3]);
        }
    }
}

// Each the mean of its samples.
void Painter::put_pixels(const Tile& tile, PaintedPixels out) const {
    const float part = 1.0F / static_cast<float>(samples_ * samples_);
    for (int row = tile.top; row < tile.top + tile.rows; row += samples_) {
        for (int x = tile.left; x < tile.left + tile.columns; x += samples_) {
            Color pixel{};
            for (int i = 0; i < samples_; ++i)
                for (int j = 0; j < samples_; ++j)
                    for (int m = 0; m < 4; ++m) pixel[m] += part * colors_[at(tile, row + i, x + j)][m];
            const size_t first = 4 * (static_cast<size_t>(row / samples_) * (wide_ / samples_) + x / samples_);
            if (out.numbers != nullptr) std::ranges::copy(pixel, out.numbers + first);
            for (int m = 0; m < 3 && out.bytes != nullptr; ++m)
                out.bytes[first + m] =
                    static_cast<std::uint8_t>(std::min(255.0F * (pixel[m] + 1.0F - pixel[3]) + 0.5F, 255.0F));
        }
    }
}

}  // namespace bellcrank
