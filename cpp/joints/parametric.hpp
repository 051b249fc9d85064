// A joint given by formulas: marker 2 seen from marker 1 stands at p(s), q(s), functions of 1 to 6 coordinates s (a
// point on a curve, a frame on a surface, one surface on another). Its rows lock what no change of s can reach; s
// itself is found where it is needed and has no equation of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "joints/coordinate.hpp"
#include "programs/compiled_program.hpp"

namespace bellcrank {

// Coordinates of such a joint, as kinds: row or coordinate number k of joint number j of the model (parameters j, k).
extern const CoordinateKind kFormulaRow, kFormulaCoordinate;

class ParametricJoint {
  public:
    static constexpr int kMaxCoordinates = 6;
    // What the program must give at (s, ṡ), in marker-1 axes, in this order: p (3), the rotation matrix (9, by rows),
    // then the twist per unit of each ṡ_i (6: ∂p/∂s_i, angular velocity), and what ṡ adds to p̈ and the angular
    // acceleration where s̈ = 0 (6).
    static int inputs(int coordinates) { return 2 * coordinates; }
    static int outputs(int coordinates) { return 12 + 6 * coordinates + 6; }

    // parameters: further inputs, which must outlive it. Throws std::invalid_argument if the program's shape is
    // another.
    ParametricJoint(std::shared_ptr<const CompiledProgram> program, int coordinates,
                    std::span<const double> parameters);
    // The parameters have other values.
    void renew();

    int coordinates() const { return coordinates_; }
    int rows() const { return 6 - coordinates_; }

    template <class S>
    struct ValuesT {
        CoordinateValueT<S> row[6];   // the first rows(): zero where the joint holds
        CoordinateValueT<S> free[6];  // s
        bool found = false;           // whether s could be found
    };
    using Values = ValuesT<double>;
    // At a relative motion; the search for s starts at `near`. The last values of a thread are kept, since all rows of
    // a joint ask for the same; the reference holds until its next call.
    const Values& evaluate(const RelativeMotion& motion, const double* near) const;
    // The same with derivatives along directions of motion and of the parameters, where the joint holds.
    const ValuesT<Dual4>& tangent(const RelativeMotionT<Dual4>& motion, const double* near,
                                  std::span<const Dual4> parameters) const;

  private:
    struct Frame;
    void compute(const RelativeMotion& motion, const double* near, Values& out) const;
    void follow(const RelativeMotionT<Dual4>& motion, const double* near, std::span<const Dual4> parameters,
                ValuesT<Dual4>& out) const;
    void read(Frame& frame) const;
    bool find_coordinates(const RelativeMotion& motion, const double* near, Frame& frame) const;

    std::shared_ptr<const CompiledProgram> program_;
    int coordinates_;
    std::span<const double> parameters_;
    std::uint64_t id_;  // of this joint with these values among all there were
};

}  // namespace bellcrank
