// Forces of contact along motions of the bodies (docs/theory/derivatives.md, section 8). Where surfaces are tangent to
// each other, the gap changes as the points of the bodies that lie there do along the normal: by how much the surfaces
// curve does not matter. The normal and the place change with that, and surfaces of all kinds are asked for it by
// differences; what acts along them is differentiated exactly.
#include <algorithm>
#include <cmath>
#include <optional>

#include "contacts/meeting.hpp"
#include "spatial/dual.hpp"

namespace bellcrank {

namespace {

// Steps of differences, by the size of a pair (ContactSet), and how far two may be apart that agree.
constexpr double kSteps[] = {1e-4, 1e-5, 1e-6, 1e-7};
constexpr double kAgree = 1e-5;
constexpr double kFar = 10.0;      // way of a point by that of its body
constexpr double kTangent = 1e-8;  // slope of a gap, beside that of the bodies' points, that is an error of differences
constexpr double kAboutToTouch = 1e-9;  // gap or depth at which a point is about to touch or to lift off, in sizes

Mat3 turning(const Vec3& axis, double angle) {
    const double half = 0.5 * angle, s = std::sin(half);
    return rotation_matrix(Quat{std::cos(half), s * axis.x, s * axis.y, s * axis.z});
}

constexpr int kMoves = 6;
constexpr Vec3 kAxes[] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// Number k of a body in four directions of `from` on.
Vec3T<Four> seeded(int first, int from) {
    Vec3T<Four> out{};
    Four* const parts[] = {&out.x, &out.y, &out.z};
    for (int i = 0; i < 3; ++i)
        if (const int k = first + i - from; k >= 0 && k < kDirections) (*parts[i])[k] = 1.0;
    return out;
}

Vec3T<Dual4> along(const Vec3& value, const Vec3T<Four>& change) {
    return {{value.x, change.x}, {value.y, change.y}, {value.z, change.z}};
}

Vec3T<Dual4> in_duals(const Vec3& v) { return {v.x, v.y, v.z}; }

}  // namespace

// Where two surfaces touch while a moves beside b: shifts, and rotations about a point next to where they touch, world
// axes. Differences of order four.
class Contacts::SurfaceSlopes {
  public:
    struct Slopes {
        Vec3 about, position[kMoves], normal[kMoves];
        double gap[kMoves];  // beside that of the bodies' points: of rims that are cut aside of their deepest point
    };
    explicit SurfaceSlopes(const ContactSet& set) : set_(set), shapes_(set.shapes.size()) {}

    void begin(const double* poses, const double* twists) {
        body_poses_ = poses, twists_ = twists;
        shapes_.place(set_, poses);
        a_ = b_ = -1;
    }

    // By the largest step that a smaller one agrees with, where that may be in doubt: points that go far, as on the rim
    // of a disc that lies almost flat, and those of no feature in particular.
    std::optional<Slopes> find(const Contact& c) {
        if (c.a != a_ || c.b != b_) {
            a_ = c.a, b_ = c.b, about_ = c.position;
            for (Moved& moved : moved_) moved.found = false;
        }
        std::optional<Slopes> found;
        for (size_t step = 0; step < std::size(kSteps); ++step) {
            const std::optional<Slopes> finer = difference(c, step);
            if (finer && is_plain(c, *finer)) return finer;
            if (found && finer && agree(*found, *finer)) return found;
            found = finer;
        }
        return {};
    }

    // The point along four directions of ContactSlopes' inputs.
    Meeting<Dual4> met(const Contact& c, const Slopes& surface, int from) const {
        constexpr int n = ContactSlopes::kOfBody;
        const int numbers[] = {set_.shapes[c.a].body, set_.shapes[c.b].body};
        const Vec3 on[] = {c.position + 0.5 * c.gap * c.normal, c.position - 0.5 * c.gap * c.normal};
        Meeting<Dual4> now;
        Vec3T<Four> moved[2], turned[2], gap[2];  // of the bodies; of their surfaces where they touch
        for (int side = 0; side < 2; ++side) {
            const Pose pose = pose_of(body_poses_, numbers[side]);
            const Vec3T<Four> shift = seeded(n * side, from);
            turned[side] = pose.R * seeded(n * side + 3, from);
            moved[side] = shift + cross(turned[side], surface.about - pose.p);
            gap[side] = shift + cross(turned[side], on[side] - pose.p);
            now.bodies[side].p = along(pose.p, shift);
            for (int j = 0; j < 3; ++j) {  // columns of R
                const Vec3T<Dual4> column = along(pose.R * kAxes[j], cross(turned[side], pose.R * kAxes[j]));
                Dual4* const m = now.bodies[side].R.m;
                m[j] = column.x, m[3 + j] = column.y, m[6 + j] = column.z;
            }
        }
        Vec3T<Four> at = moved[1] + cross(turned[1], c.position - surface.about);
        Vec3T<Four> normal = cross(turned[1], c.normal);
        const Vec3T<Four> shift = moved[0] - moved[1], turn = turned[0] - turned[1];
        Four beside{};
        const Four relative[] = {shift.x, shift.y, shift.z, turn.x, turn.y, turn.z};
        for (int k = 0; k < kMoves; ++k) {
            const auto times = [&](const Vec3& v) {
                return Vec3T<Four>{relative[k] * v.x, relative[k] * v.y, relative[k] * v.z};
            };
            at += times(surface.position[k]), normal += times(surface.normal[k]);
            beside += surface.gap[k] * relative[k];
        }
        now.position = along(c.position, at);
        now.normal = now.acting = along(c.normal, normal);
        now.gap = {c.gap, dot(c.normal, gap[0] - gap[1]) + beside};
        const auto velocity = [&](int side) {
            const Vec3T<Dual4> linear = along(twist_linear(twists_, numbers[side]), seeded(n * side + 6, from)),
                               omega = along(twist_angular(twists_, numbers[side]), seeded(n * side + 9, from));
            return linear + cross(now.bodies[side].R * omega, now.position - now.bodies[side].p);
        };
        now.velocity = velocity(0) - velocity(1);
        return now;
    }

  private:
    static constexpr int kPlaces = 4;
    static constexpr double kPlace[kPlaces] = {-2.0, -1.0, 1.0, 2.0};
    static constexpr double kWeight[kPlaces] = {1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0};

    struct Moved {
        bool found = false;
        std::vector<ContactPoint> points[kMoves][kPlaces];
    };

    double size() const { return set_.size(a_, b_); }
    double unit(int k, size_t step) const { return kSteps[step] * (k < 3 ? size() : 1.0); }

    const Moved& moved(size_t step) {
        Moved& out = moved_[step];
        if (out.found) return out;
        out.found = true;
        for (int k = 0; k < kMoves; ++k)
            for (int i = 0; i < kPlaces; ++i) {
                Pose a = shapes_.poses[a_];
                const double by = kPlace[i] * unit(k, step);
                if (k < 3) {
                    a.p += by * kAxes[k];
                } else {
                    const Mat3 turn = turning(kAxes[k - 3], by);
                    a = {about_ + turn * (a.p - about_), turn * a.R};
                }
                collide(*set_.shapes[a_].shape, a, *set_.shapes[b_].shape, shapes_.poses[b_], kNearGap * size(),
                        manifold_);
                out.points[k][i] = manifold_.points;
            }
        return out;
    }

    std::optional<Slopes> difference(const Contact& c, size_t step) {
        const Moved& at = moved(step);
        Slopes out;
        out.about = about_;
        for (int k = 0; k < kMoves; ++k) {
            out.position[k] = out.normal[k] = {0.0, 0.0, 0.0};
            double gap = 0.0;
            for (int i = 0; i < kPlaces; ++i) {
                const auto& points = at.points[k][i];
                const auto found = std::ranges::find(points, c.feature, &ContactPoint::feature);
                if (found == points.end()) return {};
                const double weight = kWeight[i] / unit(k, step);
                out.position[k] += weight * (found->position - c.position);
                out.normal[k] += weight * (found->normal - c.normal);
                gap += weight * (found->gap - c.gap);
            }
            const Vec3 arm = c.position + 0.5 * c.gap * c.normal - about_;
            const double left = gap - dot(c.normal, k < 3 ? kAxes[k] : cross(kAxes[k - 3], arm));
            out.gap[k] = std::abs(left) > kTangent * (k < 3 ? 1.0 : size()) ? left : 0.0;
        }
        return out;
    }

    bool is_plain(const Contact& c, const Slopes& slopes) const {
        if (first_feature(c.feature) >= kWitness || second_feature(c.feature) >= kWitness) return false;
        for (int k = 0; k < kMoves; ++k)
            if (!(norm(slopes.position[k]) < kFar * (k < 3 ? 1.0 : size()))) return false;
        return true;
    }

    // Positions in sizes, shifts too.
    bool agree(const Slopes& one, const Slopes& other) const {
        for (int k = 0; k < kMoves; ++k) {
            const double length = k < 3 ? 1.0 : size(), turn = k < 3 ? size() : 1.0;
            const double off =
                std::max({norm(one.position[k] - other.position[k]) / length,
                          std::abs(one.gap[k] - other.gap[k]) / length, norm(one.normal[k] - other.normal[k]) * turn});
            if (!(off < kAgree)) return false;
        }
        return true;
    }

    const ContactSet& set_;
    const double *body_poses_ = nullptr, *twists_ = nullptr;
    PlacedShapes shapes_;
    ContactManifold manifold_;
    int a_ = -1, b_ = -1;
    Vec3 about_{0.0, 0.0, 0.0};
    Moved moved_[std::size(kSteps)];
};

void Contacts::find_slopes(const double* poses, const double* twists, std::vector<ContactSlopes>& out) {
    out.clear();
    if (leaves_out_ || set_.empty()) return;
    evaluate(poses, twists);
    add_slopes(poses, twists, out);
}

std::vector<ContactSlopes> Contacts::kinks(const double* poses, const double* twists) {
    std::vector<ContactSlopes> out;
    evaluate_within(kAboutToTouch, true, poses, twists);
    add_slopes(poses, twists, out);
    std::erase_if(out, [](const ContactSlopes& one) { return one.kink == ContactSlopes::Kink::none; });
    return out;
}

void Contacts::add_slopes(const double* poses, const double* twists, std::vector<ContactSlopes>& out) {
    if (!surfaces_) surfaces_ = std::make_shared<SurfaceSlopes>(set_);
    surfaces_->begin(poses, twists);
    for (size_t i = 0; i < contacts_.size(); ++i)
        if (!of_tyre(contacts_[i].group)) out.push_back(slopes_of(i, *surfaces_));
}

ContactSlopes Contacts::slopes_of(size_t point, SurfaceSlopes& surfaces) const {
    using enum ContactSlopes::Kink;
    const Contact& c = contacts_[point];
    const ContactLaw& law = law_of(c.group, c.feature);
    const Anchor* const anchor = matched_[point];
    const bool starts =
        anchor != nullptr && anchor->slips && !(norm(anchor->shear) > 0.0) && law.kinetic_friction > 0.0;
    const bool touches = std::abs(c.gap) < kAboutToTouch * set_.size(c.a, c.b);
    ContactSlopes out{.group = c.group,
                      .a = set_.shapes[c.a].body,
                      .b = set_.shapes[c.b].body,
                      .kink = touches  ? touch
                              : starts ? start
                                       : none,
                      .force = c.force,
                      .position = c.position};
    const auto surface = surfaces.find(c);
    if (!surface) {
        out.kink = edge;
        return out;
    }
    ContactLawT<Dual4> numbers;
    Dual4* const number = reinterpret_cast<Dual4*>(&numbers);
    static_assert(sizeof numbers == kContactNumbers * sizeof(Dual4));
    std::copy_n(reinterpret_cast<const double*>(&law), kContactNumbers, number);
    const auto store = [](const Vec3T<Dual4>& v, auto& to, int from) {
        for (int k = 0; k < kDirections; ++k)
            to[0][from + k] = v.x.d[k], to[1][from + k] = v.y.d[k], to[2][from + k] = v.z.d[k];
    };
    const auto exerted = [&](const TouchingPointT<Dual4>& at, const Vec3T<Dual4>& normal) {
        const ContactForceT<Dual4> f = contact_force(numbers, at);
        return f.normal * normal + f.friction;
    };
    for (int from = 0; from < ContactSlopes::kInputs; from += kDirections) {
        const Meeting<Dual4> now = surfaces.met(c, *surface, from);
        store(exerted(touching(now, anchor), now.normal), out.of_force, from);
        store(now.position, out.of_position, from);
    }
    const TouchingPoint& at = touching_[point];
    const TouchingPointT<Dual4> still{at.depth,         at.approach,       in_duals(at.shear),
                                      in_duals(at.way), in_duals(at.slip), at.slips};
    static_assert(kContactNumbers % kDirections == 0);
    for (int from = 0; from < kContactNumbers; from += kDirections) {
        for (int k = 0; k < kDirections; ++k) number[from + k].d[k] = 1.0;
        store(exerted(still, in_duals(c.normal)), out.by_law, from);
        for (int k = 0; k < kDirections; ++k) number[from + k].d = Four{};
    }
    return out;
}

}  // namespace bellcrank
