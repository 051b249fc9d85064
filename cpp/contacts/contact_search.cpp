#include "contacts/contact_search.hpp"

namespace bellcrank {

const std::vector<FoundContact>& ContactSearch::find(const double* poses, double reach) {
    shapes_.place(set_, poses);
    near_.update(shapes_.bounds, reach);
    found_.clear();
    for (const ShapePair& pair : near_.list()) {
        if (!overlap(shapes_.bounds[pair.a].grown(reach), shapes_.bounds[pair.b])) continue;
        collide(*set_.shapes[pair.a].shape, shapes_.poses[pair.a], *set_.shapes[pair.b].shape, shapes_.poses[pair.b],
                reach, manifold_);
        for (const ContactPoint& point : manifold_.points) found_.push_back({pair.group, pair.a, pair.b, point});
    }
    return found_;
}

}  // namespace bellcrank
