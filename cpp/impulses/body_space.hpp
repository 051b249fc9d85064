// Steps by impulses in maximal coordinates: bodies with rows between them.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "cones/body_operator.hpp"
#include "impulses/impulse_space.hpp"
#include "model/constraint_rows.hpp"
#include "model/ports.hpp"

namespace bellcrank {

class BodySpace final : public ImpulseSpace {
  public:
    // Brings positions onto the rows, with limits, at t; whether they are met.
    using Closing = std::function<bool(double t, double* x)>;
    using Settling = std::function<void(double* u)>;

    BodySpace(const Model& model, ConstraintRows& rows, const Manifold& manifold, Closing close_rows, Settling settle);

    int ground() const override { return model_.ground(); }
    int configuration_size() const override { return manifold_.configuration_size(); }
    int speeds() const override { return manifold_.tangent_size(); }
    std::unique_ptr<ImpulseRows> make_rows() override;
    void place(double t, const double* x) override;
    const double* poses() const override { return poses_; }
    const double* twists(const double* u) override { return u; }
    double error(int row) const override { return rows_.C[row]; }
    double rate(int row) const override { return rows_.Ct[row]; }
    void advance(double t, double h, const double* x, double* u, double* x1) override;
    void displace(const double* xi, double* x) override { manifold_.retract(x, xi, x); }
    bool close(double t, double* x) override { return close_rows_(t, x); }
    void take(const double* twists, double* u) override { std::copy_n(twists, speeds(), u); }
    void kick(double time, const double* u, const double* on_bodies, ImpulseRows& rows, const double* impulses,
              double* change, double* of_twists) override;
    void settle(double* u) const override { settle_(u); }

  private:
    class Rows;
    struct Source {  // of a piece: a block of the rows, and the first row in it
        int block, first;
    };
    const Model& model_;
    ConstraintRows& rows_;
    const Manifold& manifold_;
    const Closing close_rows_;
    const Settling settle_;
    std::vector<Source> sources_;
    const double* poses_ = nullptr;
    std::vector<double> xi_;
};

}  // namespace bellcrank
