#include "model/observation.hpp"

#include <cstdlib>

namespace bellcrank {

namespace {

struct Declaration {
    const char* name;
    int FrameCounts::* count;  // null: one number
    int width = 1;
    bool FrameCounts::* recorded = nullptr;  // null: always
};

using F = FrameCounts;
constexpr Declaration kDeclarations[kSections] = {
    {"position", &F::bodies, 3},
    {"rotation", &F::bodies, 4},
    {"velocity", &F::bodies, 3},
    {"angular_velocity", &F::bodies, 3},
    {"coordinates", &F::coordinates},
    {"angles", &F::angles},
    {"force_coordinates", &F::force_coordinates},
    {"rates", &F::coordinates},
    {"angle_rates", &F::angles},
    {"force_rates", &F::force_coordinates},
    {"multipliers", &F::multipliers},
    {"reactions", &F::reactions, 6},
    {"unique_multipliers", &F::multipliers},
    {"unique_reactions", &F::reactions, 2},
    {"force_efforts", &F::efforts},
    {"force_potentials", &F::potentials},
    {"kinetic", nullptr},
    {"potential", nullptr},
    {"position_violation", nullptr},
    {"velocity_violation", nullptr},
    {"acceleration", &F::bodies, 3, &F::accelerations},
    {"angular_acceleration", &F::bodies, 3, &F::accelerations},
    {"coordinate_accelerations", &F::coordinates, 1, &F::accelerations},
    {"inputs", &F::inputs},
    {"contact_points", nullptr, 1, &F::contacts},
    {"works", &F::works},
};

}  // namespace

FrameCounts FrameCounts::of(const Observation& what, int bodies) {
    const auto count = [](const auto& list) { return static_cast<int>(list.size()); };
    return {.bodies = bodies,
            .coordinates = count(what.coordinates) - what.angles - what.force_coordinates,
            .angles = what.angles,
            .force_coordinates = what.force_coordinates,
            .multipliers = count(what.rows),
            .reactions = count(what.reactions),
            .efforts = count(what.efforts),
            .potentials = count(what.potentials),
            .accelerations = what.accelerations,
            .inputs = what.inputs,
            .contacts = what.contacts,
            .works = what.works};
}

FrameLayout::Shape FrameLayout::shape(Section section, const FrameCounts& counts) {
    const Declaration& d = kDeclarations[static_cast<int>(section)];
    return {d.name, d.recorded == nullptr || counts.*d.recorded, d.count == nullptr ? -1 : counts.*d.count, d.width};
}

FrameLayout::FrameLayout(const FrameCounts& counts) {
    int end = 0;
    for (int k = 0; k < kSections; ++k) {
        const Shape s = shape(static_cast<Section>(k), counts);
        begin_[k] = end;
        end += s.recorded ? std::abs(s.count) * s.width : 0;
    }
    begin_[kSections] = end;
}

}  // namespace bellcrank
