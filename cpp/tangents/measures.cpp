#include "tangents/measures.hpp"

#include "tangents/frame_motion.hpp"

namespace bellcrank {

void measured_along(const Model& model, EquationsTangent& equations, const MotionPoint& at,
                    const EquationsTangent::Directions& d, const ModelTangent& numbers,
                    EquationsTangent::Changes& changes, Derivatives::Measured& out) {
    EquationsTangent::ask(changes, 0);
    changes.of_coordinates = true;
    equations.along(at, d, numbers, changes);
    changes.of_coordinates = false;
    for (int level = 0; level < 3; ++level) out.coordinates[level] = changes.coordinates[level];
    out.rows = changes.rows[0];
    if (out.of_frames) frame_tangent(model, at.x, at.u, at.udot, d.x, d.u, d.udot, out.frames);
}

void measured_transposed(const Model& model, EquationsTangent& equations, const MotionPoint& at,
                         const Derivatives::Measured& of, const std::vector<NumberPlace>& further,
                         EquationsTangent::Gradient& out, ModelGradient& by_numbers) {
    const auto seeds_of = [](const std::vector<double>& list) { return list.empty() ? nullptr : list.data(); };
    EquationsTangent::Seeds seeds;
    for (int level = 0; level < 3; ++level) seeds.coordinates[level] = seeds_of(of.coordinates[level]);
    seeds.rows[0] = seeds_of(of.rows);
    equations.transposed(at, seeds, further, out, by_numbers);
    if (!of.frames.empty())
        frame_adjoint(model, at.x, at.u, at.udot, of.frames, out.x.data(), out.u.data(), out.udot.data());
}

}  // namespace bellcrank
