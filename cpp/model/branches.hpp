// What depends on where a model was: angles count their turns, formulas may have several solutions, dry friction holds
// what has come to rest.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/model.hpp"

namespace bellcrank {

// Follows the branch of every angular coordinate: the multiple of 2π nearest to its last known value. A direction that
// has gone over its pole counts on as that of the line which it is on: it is half a turn away from where it points.
class AngleBranches {
  public:
    explicit AngleBranches(const Model& model);
    // Where a row leads an angle, the branch nearest to what it asks for at time t; the principal one elsewhere.
    AngleBranches(const Model& model, double t);
    double nearest(int coordinate, double principal) const;
    void set(int coordinate, double value) { reference_[coordinate] = value; }
    // Follows a coordinate to where it is at poses x; all that are followed.
    void follow(const Model& model, int coordinate, const double* x);
    void follow(const Model& model, const double* x);
    // Finds which directions have gone over their poles, by the values that were set for poses x.
    void recognize(const Model& model, const double* x);
    double reference(int coordinate) const { return reference_[coordinate]; }
    // A direction goes over its pole.
    void turn_over(int coordinate) { turned_over_[coordinate] ^= 1; }

    // Dry friction, by law.
    struct Friction {
        // Where nothing is held, a row that would hold it is as far from its end.
        static constexpr double kOpen = -1e9;
        double sense = 0.0;      // of the speed at which it slips, 1 or −1; 0: it does not, or nothing is known
        double held_at = kOpen;  // the coordinate
        double load = 0.0;       // by what its effort grows while it slips
        bool holds() const { return held_at != kOpen; }
    };
    const Friction& friction(int law) const { return friction_[law]; }
    Friction& friction(int law) { return friction_[law]; }

  private:
    std::vector<double> reference_;
    std::vector<std::uint8_t> turned_over_;
    std::vector<Friction> friction_;
};

// Where the search for the coordinates of a joint given by formulas starts: those that the model has, where they were.
std::array<double, ParametricJoint::kMaxCoordinates> search_start(const FormulaJoint& joint,
                                                                  const AngleBranches& branches);

// Value and derivatives of a coordinate along the motion of its pair, on its branch.
void evaluate_along(const Model& model, const AngleBranches& branches, int coordinate, const RelativeMotion& motion,
                    CoordinateValue& out);

// Value and rate of one coordinate of the model at x, u, on its branch.
struct CoordinateMotion {
    double value, rate;
};
CoordinateMotion coordinate_motion(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                                   const double* u);

// The same with derivatives; jacobian columns as in BodyCoordinate.
void evaluate_coordinate(const Model& model, const AngleBranches& branches, int coordinate, const double* x,
                         const double* u, BodyCoordinate& out);

// The branches on which angles start where only poses are known.

// Branches of all followed coordinates at poses x and time t, with which drives, couplings, screws and limits hold, and
// with the fewest whole turns otherwise (docs/theory/assembly.md, section 9). Rows whose constant is not a number are
// not yet known and take no part.
// known: values by coordinate that are kept, NaN for the others; null: none are known.
AngleBranches starting_branches(const Model& model, double t, const double* x, const double* known = nullptr);

}  // namespace bellcrank
