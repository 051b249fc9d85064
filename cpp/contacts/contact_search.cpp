#include "contacts/contact_search.hpp"

#include <algorithm>
#include <tuple>

#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kMargin = 0.1;  // by which bounds are wider, in sizes of a shape

bool contains(const Bounds& outer, const Bounds& inner, double reach) {
    return outer.lo.x <= inner.lo.x - reach && outer.lo.y <= inner.lo.y - reach && outer.lo.z <= inner.lo.z - reach &&
           outer.hi.x >= inner.hi.x + reach && outer.hi.y >= inner.hi.y + reach && outer.hi.z >= inner.hi.z + reach;
}

double margin_of(const Shape& shape) { return shape.reach_out < Bounds::kInfinity ? kMargin * shape.reach_out : 0.0; }

}  // namespace

void PlacedShapes::place(const ContactSet& set, const double* body_poses) {
    for (size_t i = 0; i < set.shapes.size(); ++i) {
        const BodyShape& s = set.shapes[i];
        const Mat3 R = rotation_matrix(pose_rotation(body_poses, s.body));
        poses[i] = {pose_position(body_poses, s.body) + R * s.on_body.p, R * s.on_body.R};
        bounds[i] = bounds_of(*s.shape, poses[i]);
    }
}

double stride(const ContactSet& set, int a, int b) {
    return kStride * std::min(thickness(*set.shapes[a].shape), thickness(*set.shapes[b].shape));
}

NearPairs::NearPairs(const ContactSet& set) : set_(set), wide_(set.shapes.size()), phases_(set.groups.size()) {}

bool NearPairs::left(const std::vector<Bounds>& bounds, double reach) const {
    if (reach > reach_) return true;
    for (size_t i = 0; i < bounds.size(); ++i)
        if (!contains(wide_[i], bounds[i], 0.5 * reach)) return true;
    return false;
}

bool NearPairs::may_touch(const ContactGroup& group, int a, int b) const {
    const int i = set_.shapes[a].body, j = set_.shapes[b].body;
    if (group.of_tyre && a != group.shapes[0] && b != group.shapes[0]) return false;
    return i != j &&
           !std::binary_search(group.apart.begin(), group.apart.end(), std::pair(std::min(i, j), std::max(i, j)));
}

bool NearPairs::update(const std::vector<Bounds>& bounds, double reach) {
    if (!left(bounds, reach)) return false;
    reach_ = reach;
    pairs_.clear();
    // Each of two shapes has half of the reach.
    for (size_t i = 0; i < wide_.size(); ++i)
        wide_[i] = bounds[i].grown(0.5 * reach + margin_of(*set_.shapes[i].shape));
    for (size_t g = 0; g < set_.groups.size(); ++g) {
        const ContactGroup& group = set_.groups[g];
        members_.clear();
        for (const int shape : group.shapes) members_.push_back(wide_[shape]);
        for (const auto& [i, j] : phases_[g].pairs(members_)) {
            const auto [a, b] = std::minmax(group.shapes[i], group.shapes[j]);
            if (may_touch(group, a, b)) pairs_.push_back({static_cast<int>(g), a, b});
        }
    }
    // Mostly they are: those of a group come by its numbers, not by those of the set.
    const auto before = [](const ShapePair& p, const ShapePair& q) {
        return std::tie(p.group, p.a, p.b) < std::tie(q.group, q.a, q.b);
    };
    if (!std::is_sorted(pairs_.begin(), pairs_.end(), before)) std::sort(pairs_.begin(), pairs_.end(), before);
    return true;
}

namespace {

const Tyre& tyre_of(const ContactSet& set, int group) {
    return static_cast<const Tyre&>(*set.shapes[set.groups[group].shapes[0]].shape);
}

}  // namespace

ContactSearch::ContactSearch(const ContactSet& set) : set_(set), shapes_(set.shapes.size()), near_(set) {
    for (int g = 0; g < static_cast<int>(set.groups.size()); ++g)
        if (set.groups[g].of_tyre) tread_ = std::max(tread_, tyre_of(set, g).spacing());
    for (int i = 0; i < static_cast<int>(set.shapes.size()); ++i)
        if (set.size(i) < ContactSet::kBoundless) widest_ = std::max(widest_, set.size(i));
}

const std::vector<FoundContact>& ContactSearch::find(const double* poses, double way) {
    shapes_.place(set_, poses);
    near_.update(shapes_.bounds, std::max(kNearGap * widest_ + way, tread_));
    found_.clear();
    pressed_.clear();
    lost_ = -1;
    const auto& pairs = near_.list();
    for (size_t k = 0; k < pairs.size();) {
        const ShapePair& pair = pairs[k];
        if (set_.groups[pair.group].of_tyre) {
            k = find_on_tread(k);
            continue;
        }
        ++k;
        const double size = set_.size(pair.a, pair.b), reach = kNearGap * size + way;
        if (!overlap(shapes_.bounds[pair.a].grown(reach), shapes_.bounds[pair.b])) continue;
        collide(*set_.shapes[pair.a].shape, shapes_.poses[pair.a], *set_.shapes[pair.b].shape, shapes_.poses[pair.b],
                reach, manifold_);
        for (const ContactPoint& point : manifold_.points)
            found_.push_back({pair.group, pair.a, pair.b, point, size, set_.speed(pair.a, pair.b)});
    }
    return found_;
}

size_t ContactSearch::find_on_tread(size_t first) {
    const auto& pairs = near_.list();
    const int group = pairs[first].group, wheel = set_.groups[group].shapes[0];
    const Tyre& tyre = tyre_of(set_, group);
    scan_.begin(tyre, shapes_.poses[wheel], tyre.spacing());
    size_t k = first;
    for (; k < pairs.size() && pairs[k].group == group; ++k) {
        const int other = pairs[k].a == wheel ? pairs[k].b : pairs[k].a;
        if (overlap(shapes_.bounds[wheel].grown(tyre.spacing()), shapes_.bounds[other]) &&
            scan_.meet(*set_.shapes[other].shape, shapes_.poses[other], other))
            pressed_.emplace_back(pairs[k].a, pairs[k].b);
    }
    if (scan_.lost()) lost_ = group;
    scan_.finish([&](int other, ContactPoint point) {
        if (wheel < other) {
            point.feature = feature_pair(static_cast<Feature>(point.feature), 0);
            found_.push_back({group, wheel, other, point, set_.size(wheel, other), set_.speed(wheel, other)});
        } else {
            point.normal = -point.normal, point.tilt = -point.tilt;
            found_.push_back({group, other, wheel, point, set_.size(wheel, other), set_.speed(wheel, other)});
        }
    });
    return k;
}

}  // namespace bellcrank
