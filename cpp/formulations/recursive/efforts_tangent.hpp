// Laws along coordinates of a tree, along directions of time, state and numbers, and the transpose.
#pragma once

#include <span>
#include <vector>

#include "formulations/recursive/links.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank::recursive {

class EffortsTangent {
  public:
    EffortsTangent(const Model& model, const LinkTree& tree)
        : model_(model), efforts_(model, tree), unit_numbers_(model) {}

    void inputs_changed() { unit_numbers_.renew(); }
    const std::uint8_t* taken() const { return efforts_.taken(); }  // per law

    // Where: time, coordinates and speeds.
    struct Point {
        double t;
        const double *x, *u;
    };
    // Adds the changes of efforts along speeds; dx, du: tangent vectors.
    void along(const Point& at, const Four& of_time, const Four* dx, const Four* du, const ModelTangent& numbers,
               Four* out) const;
    // Adds the gradient of Σ y · effort; further: parameters of functions by which it is asked for as well.
    void transposed(const Point& at, const double* y, std::span<const NumberPlace> further, double& by_t, double* by_x,
                    double* by_u, ModelGradient& by_numbers);

  private:
    Four change(const JointEffort& e, const Point& at, const Four& of_time, const Four& dx, const Four& du,
                const ModelTangent& numbers) const;

    const Model& model_;
    JointEfforts efforts_;
    ModelTangent unit_numbers_;
    std::vector<Dual4> law_numbers_;
};

}  // namespace bellcrank::recursive
