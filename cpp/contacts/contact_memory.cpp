// What contacts remember, in states and files, and what is recorded of them.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "contacts/contacts.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kAtLimit = 1e-8;   // of the limit of s: as near as that it is there
constexpr double kShallow = 1e-12;  // depth by which poses may be off, in sizes (ContactSet)

ContactMemory memory_of(int a, int b, std::uint64_t feature, const Vec3& shear, const Vec3& position,
                        const Vec3& normal, bool slips) {
    return {.shapes = {static_cast<double>(a), static_cast<double>(b)},
            .features = {static_cast<double>(first_feature(feature)), static_cast<double>(second_feature(feature))},
            .shear = shear,
            .position = position,
            .normal = normal,
            .slips = slips ? 1.0 : 0.0};
}

}  // namespace

std::vector<ContactMemory> Contacts::memory(const double* poses) const {
    std::vector<ContactMemory> out;
    for (const Anchor& anchor : anchors_) {
        if (!anchor.touched()) continue;
        const int body = set_.shapes[anchor.b].body;
        const Pose b{pose_position(poses, body), rotation_matrix(pose_rotation(poses, body))};
        out.push_back(memory_of(anchor.a, anchor.b, anchor.feature, anchor.shear, b.point(anchor.mark.on[1].point),
                                b.direction(anchor.mark.on[1].normal), anchor.slips));
    }
    return out;
}

void Contacts::append_records(std::vector<RecordedContact>& records) const {
    for (size_t i = 0; i < contacts_.size(); ++i) {
        const Contact& c = contacts_[i];
        records.push_back({.contact = static_cast<double>(c.group),
                           .memory = memory_of(c.a, c.b, c.feature, forces_[i].shear, c.position, c.normal, !c.sticks),
                           .gap = c.gap,
                           .force = c.force,
                           .slip = c.slip,
                           .approach = c.approach,
                           .moment = c.moment});
    }
}

void Contacts::remember(std::span<const ContactMemory> memory, const double* poses) {
    std::vector<Anchor> read;
    const double shapes = static_cast<double>(set_.shapes.size());
    for (const ContactMemory& point : memory) {
        const std::span numbers(reinterpret_cast<const double*>(&point), sizeof(point) / sizeof(double));
        if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
            throw std::invalid_argument("the memory of contacts must be finite");
        for (int k = 0; k < 2; ++k)
            if (!(point.shapes[k] >= 0.0 && point.shapes[k] < shapes && point.features[k] >= 0.0 &&
                  point.features[k] < 4294967296.0))
                throw std::invalid_argument("the memory of contacts is that of another mechanism");
        const std::uint64_t feature =
            feature_pair(static_cast<Feature>(point.features[0]), static_cast<Feature>(point.features[1]));
        const int a = static_cast<int>(point.shapes[0]), b = static_cast<int>(point.shapes[1]);
        const int group = set_.group_of(a, b);
        if (group < 0) throw std::invalid_argument("the memory of contacts names shapes that do not touch");
        read.push_back(
            anchor_at(poses, group, a, b, feature, point.position, point.normal, point.shear, point.slips != 0.0));
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
