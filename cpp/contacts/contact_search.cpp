#include "contacts/contact_search.hpp"

#include <algorithm>
#include <numbers>

#include "geometry/tyre.hpp"

namespace bellcrank {

namespace {

constexpr int kNone = -1;

// The tread between two slices: so far ahead of it is the ground looked at.
double slice_length(const Tyre& tyre) {
    return 2.0 * std::numbers::pi * tyre.half.x / static_cast<double>(tyre.radials.size());
}

}  // namespace

ContactSearch::ContactSearch(const ContactSet& set)
    : set_(set), shapes_(set.shapes.size()), near_(set), first_met_(set.groups.size()) {
    for (size_t g = 0; g < set.groups.size(); ++g) {
        const ContactGroup& group = set.groups[g];
        double reach = 0.0;
        if (group.of_tyre) {
            const auto& tyre = static_cast<const Tyre&>(*set.shapes[group.shapes[0]].shape);
            first_met_[g].resize(tyre.radials.size(), kNone);
            reach = slice_length(tyre);
        }
        reaches_.push_back(reach);
        farthest_ = std::max(farthest_, reach);
    }
}

const std::vector<FoundContact>& ContactSearch::find(const double* poses, double reach) {
    shapes_.place(set_, poses);
    near_.update(shapes_.bounds, std::max(reach, farthest_));
    found_.clear();
    const auto& pairs = near_.list();
    for (size_t k = 0, begin = 0; k < pairs.size(); ++k) {
        const ShapePair& pair = pairs[k];
        const double within = std::max(reach, reaches_[pair.group]);
        if (overlap(shapes_.bounds[pair.a].grown(within), shapes_.bounds[pair.b])) {
            collide(*set_.shapes[pair.a].shape, shapes_.poses[pair.a], *set_.shapes[pair.b].shape,
                    shapes_.poses[pair.b], within, manifold_);
            for (const ContactPoint& point : manifold_.points) found_.push_back({pair.group, pair.a, pair.b, point});
        }
        if (k + 1 < pairs.size() && pairs[k + 1].group == pair.group) continue;
        if (set_.groups[pair.group].of_tyre) keep_first_met(pair.group, begin);
        begin = found_.size();
    }
    return found_;
}

void ContactSearch::keep_first_met(int group, size_t begin) {
    std::vector<int>& first = first_met_[group];
    const auto slice_of = [&](const FoundContact& found) -> int& {
        const bool leads = found.a == set_.groups[group].shapes[0];
        return first[static_cast<Feature>(leads ? found.point.feature >> 32 : found.point.feature)];
    };
    for (size_t i = begin; i < found_.size(); ++i) {
        int& met = slice_of(found_[i]);
        if (met == kNone || found_[i].point.gap < found_[met].point.gap) met = static_cast<int>(i);
    }
    size_t kept = begin;
    for (size_t i = begin; i < found_.size(); ++i) {
        int& met = slice_of(found_[i]);
        if (met != static_cast<int>(i)) continue;
        met = kNone;
        found_[kept++] = found_[i];
    }
    found_.resize(kept);
}

}  // namespace bellcrank
