// The velocities in which a step by impulses is taken, and how rows and contacts act on them.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "cones/body_operator.hpp"
#include "cones/operator.hpp"
#include "model/constraint_rows.hpp"
#include "model/model.hpp"
#include "model/ports.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

// Rows of the model that are solved for together; limits one by one.
struct ImpulsePiece {
    int size;
    int model_row;  // the first
    bool unilateral, of_velocity;
    double compliance, restitution;
    int friction = -1;  // law of dry friction: the row's impulse lies within bounds

    ImpulsePiece(const Block& block, int row, int rows)
        : size(rows),
          model_row(row),
          unilateral(block.unilateral && block.friction < 0),
          of_velocity(block.of_velocity),
          compliance(block.compliance),
          restitution(block.restitution),
          friction(block.friction) {}
    bool holds_positions() const { return !of_velocity && compliance == 0.0 && friction < 0; }
};

// A point where the first body touches the second, the ground being the last: its normal row and, if it rubs, two
// across; then rows of moments, two that resist rolling and one that resists spinning.
struct ImpulsePoint {
    int bodies[2];
    Vec3 position, normal;                 // world axes; from the second body to the first
    double friction;                       // the largest impulse across the normal by the normal one,
    double rolling = 0.0, spinning = 0.0;  // and moments [m]
    int row = 0, size = 0, forces = 0;     // in a problem; forces: the rows that are none of moments
    Vec3 axes[6] = {};                     // of its rows
};

// J of a problem's rows, those of pieces before those of points, where the space was placed last.
class ImpulseRows {
  public:
    virtual ~ImpulseRows() = default;

    // Which rows there are.
    virtual void lay_out(const ConeLayout& layout, const std::vector<ImpulsePoint>& points) = 0;
    // J, without pieces that are left out: their rows are 0, with a response of 1.
    virtual void evaluate(const std::vector<ImpulsePoint>& points, const std::vector<char>& left_out) = 0;
    // rows = J u; u += M⁻¹ Jᵀ P; S = J M⁻¹ Jᵀ + diag(ε).
    virtual void to_rows(const double* u, double* rows) = 0;
    virtual void add_response(const double* impulses, double* u) = 0;
    virtual ConeOperator& response() = 0;
    // Whether no impulse changes the speed along a row; and how fast it could have been with the energy of the last
    // to_rows(), which its rounding goes by.
    virtual bool is_still(int) const { return false; }
    virtual double size_of_rate(int) const { return 0.0; }
};

// A formulation's configurations and velocities. Coordinates that functions of time lead may be no pieces: then they
// are set. Twists, and impulses on bodies, are records of spatial/body_state.hpp: force, world axes, moment about the
// com, principal axes.
class ImpulseSpace {
  public:
    virtual ~ImpulseSpace() = default;

    virtual int ground() const = 0;  // the number of bodies
    virtual int configuration_size() const = 0;
    virtual int speeds() const = 0;
    const std::vector<ImpulsePiece>& pieces() const { return pieces_; }
    // What lengths and speeds are small against: ten sizes, and the speed, of the largest shape that moves
    // (ContactSet), about 1 for one of 0.1 m; 1 m and 1 m/s if there is none. arm: that size, the distance at which
    // angular velocities of contacts count as speeds. Joints have longer ones: weight, of a row of the pieces. unit:
    // its length, or 1 rad.
    double length() const { return length_; }
    double speed() const { return speed_; }
    double arm() const { return arm_; }
    double weight(int row) const { return is_length_[row] ? 1.0 : length_; }
    double unit(int row) const { return is_length_[row] ? length_ : 1.0; }
    virtual std::unique_ptr<ImpulseRows> make_rows() = 0;

    // Goes to (t, x): poses of the bodies; errors and rates become those of there.
    virtual void place(double t, const double* x) = 0;
    virtual const double* poses() const = 0;
    // Twists of the bodies with these velocities, there; valid until the next call.
    virtual const double* twists(const double* u) = 0;
    // C of the pieces' rows, and their rates at rest, C_t.
    virtual double error(int row) const = 0;
    virtual double rate(int row) const = 0;

    // x1 = where x gets to in h with the velocity u, which becomes that in the frames there; t: there.
    virtual void advance(double t, double h, const double* x, double* u, double* x1) = 0;
    // x ← x ⊕ ξ, with what functions of time lead as it is.
    virtual void displace(const double* xi, double* x) = 0;
    // Brings x onto the rows that hold positions; whether they are met. The space is to be placed anew.
    virtual bool close(double t, double* x) = 0;
    // u = the velocity, there, that bodies with these twists get by impulses of what is no piece; u is the velocity
    // before.
    virtual void take(const double* twists, double* u) = 0;
    // How much velocities u, and twists, change in a time in which these impulses act on the bodies and on the rows.
    virtual void kick(double time, const double* u, const double* on_bodies, ImpulseRows& rows, const double* impulses,
                      double* change, double* of_twists) = 0;

    // Takes from velocities what rounding has added, as that across a plane mechanism.
    virtual void settle(double*) const {}

  protected:
    // Spaces call this once the pieces are there.
    void weigh_pieces(const Model& model);
    std::vector<ImpulsePiece> pieces_;

  private:
    double length_ = 1.0, speed_ = 1.0, arm_ = 1.0;
    std::vector<char> is_length_;
};

// Steps by impulses in maximal coordinates: bodies with rows between them.

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
