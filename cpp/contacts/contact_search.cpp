#include "contacts/contact_search.hpp"

#include <algorithm>

namespace bellcrank {

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
