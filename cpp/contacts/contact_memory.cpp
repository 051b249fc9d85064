// What contacts remember, as numbers: in states and files, and in records.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "contacts/contacts.hpp"
#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr double kAtLimit = 1e-8;   // of the limit of s: as near as that it is there
constexpr double kShallow = 1e-12;  // depth by which poses may be off, in sizes (ContactSet)

void append(std::vector<double>& out, int a, int b, std::uint64_t feature, const std::array<Vec3, 3>& vectors,
            bool slips) {
    out.insert(out.end(), {static_cast<double>(a), static_cast<double>(b), static_cast<double>(feature >> 32),
                           static_cast<double>(feature & 0xffffffffu)});
    for (const Vec3& v : vectors) out.insert(out.end(), {v.x, v.y, v.z});
    out.push_back(slips ? 1.0 : 0.0);
}

}  // namespace

std::vector<double> Contacts::memory(const double* poses) const {
    std::vector<double> out;
    for (const Anchor& anchor : anchors_) {
        if (!anchor.touched()) continue;
        const int body = set_.shapes[anchor.b].body;
        const Pose b{pose_position(poses, body), rotation_matrix(pose_rotation(poses, body))};
        append(out, anchor.a, anchor.b, anchor.feature,
               {anchor.shear, b.point(anchor.mark.on[1].point), b.direction(anchor.mark.on[1].normal)}, anchor.slips);
    }
    return out;
}

void Contacts::append_rows(std::vector<double>& rows) const {
    for (size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        rows.push_back(c.group);
        append(rows, c.a, c.b, c.feature, {forces_[i].shear, c.position, c.normal}, !c.sticks);
        rows.insert(rows.end(), {c.gap, c.force.x, c.force.y, c.force.z, c.slip.x, c.slip.y, c.slip.z, c.approach,
                                 c.moment.x, c.moment.y, c.moment.z});
    }
}

void Contacts::remember(std::span<const double> numbers, const double* poses) {
    if (numbers.size() % kMemory != 0)
        throw std::invalid_argument("the memory of contacts has " + std::to_string(kMemory) +
                                    " numbers for each point, got " + std::to_string(numbers.size()));
    std::vector<Anchor> read;
    const double shapes = static_cast<double>(set_.shapes.size());
    for (size_t i = 0; i < numbers.size(); i += kMemory) {
        const double* p = numbers.data() + i;
        if (!std::all_of(p, p + kMemory, [](double x) { return std::isfinite(x); }))
            throw std::invalid_argument("the memory of contacts must be finite");
        for (int k = 0; k < 2; ++k)
            if (!(p[k] >= 0.0 && p[k] < shapes && p[2 + k] >= 0.0 && p[2 + k] < 4294967296.0))
                throw std::invalid_argument("the memory of contacts is that of another mechanism");
        const std::uint64_t feature = feature_pair(static_cast<Feature>(p[2]), static_cast<Feature>(p[3]));
        const int a = static_cast<int>(p[0]), b = static_cast<int>(p[1]), group = set_.group_of(a, b);
        if (group < 0) throw std::invalid_argument("the memory of contacts names shapes that do not touch");
        read.push_back(anchor_at(poses, group, a, b, feature, load(p + 7), load(p + 10), load(p + 4), p[13] != 0.0));
    }
    search_.find(poses);
    for (Anchor& anchor : read) anchor.slips = anchor.slips && spring_slips(anchor);
    mark_ahead(poses, read);
    take(read);
}

// Whether s of a point that is said to slip is where it is while a point slips, or begins to: at the limit of kinetic
// friction, or past that of static friction.
bool Contacts::spring_slips(const Anchor& anchor) const {
    const double size = norm(anchor.shear);
    if (!(size > 0.0)) return true;  // it has just touched, or is rigid
    for (const FoundContact& found : search_.listed()) {
        if (found.a != anchor.a || found.b != anchor.b || found.point.feature != anchor.feature) continue;
        const ContactLaw& law = law_of(anchor.group, anchor.feature);
        const double depth = std::max(0.0, -found.point.gap), per_friction = depth / (law.shear_ratio * law.exponent);
        const double open = kAtLimit + kShallow * found.size / std::max(depth, kShallow * found.size);
        return std::abs(size - law.kinetic_friction * per_friction) <= open * size ||
               size >= (kReach - kReached - open) * law.static_friction * per_friction;
    }
    return true;
}

}  // namespace bellcrank
