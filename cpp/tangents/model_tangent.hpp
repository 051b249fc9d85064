// The numbers of a model with their derivatives along a few directions, and gradients by these numbers.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "joints/pair_motion.hpp"
#include "model/model.hpp"
#include "spatial/dual.hpp"

namespace bellcrank {

// Arrays of ModelData whose numbers may change, as they lie there.
enum class NumberArray {
    gravity,
    body_mass,
    body_com,
    body_inertia,
    pair_positions,
    pair_rotations,
    coordinate_params,
    function_params,
    block_compliance,
    block_restitution,
    row_constant,
    term_coefficient,
    law_params,
    wrench_position,
    wrench_rotation,
    wrench_constant,
    formula_marker_positions,  // of the markers of constraints, then of forces
    formula_marker_rotations,
    formula_values,
    contact_laws  // of each group all numbers of ContactLaw
};
inline constexpr int kNumberArrays = static_cast<int>(NumberArray::contact_laws) + 1;

template <class S>
struct NumberArrays {
    std::array<std::vector<S>, kNumberArrays> list;

    std::vector<S>& operator[](NumberArray array) { return list[static_cast<int>(array)]; }
    const std::vector<S>& operator[](NumberArray array) const { return list[static_cast<int>(array)]; }
};

inline Vec3T<Four> change_in(const Vec3T<Dual4>& v) { return {v.x.d, v.y.d, v.z.d}; }
// The rotation vector by which a quaternion turns, in its outer axes: 2 vec(δq q*).
inline Vec3T<Four> turn_in(const QuatT<Dual4>& q) {
    const Vec3 v{q.x.value, q.y.value, q.z.value};
    const Vec3T<Four> dv{q.x.d, q.y.d, q.z.d};
    const Four dw = q.w.d;
    return 2.0 * (q.w.value * dv - Vec3T<Four>{dw * v.x, dw * v.y, dw * v.z} - cross(dv, v));
}

// Whether gradients by the numbers of an array are found along each of them by itself (EquationsTangent::transposed).
inline bool is_followed(NumberArray array) {
    return array == NumberArray::coordinate_params || array == NumberArray::function_params ||
           array == NumberArray::formula_values;
}

// A number of the model: its array, and where it stands among the doubles of that.
struct NumberPlace {
    NumberArray array;
    int index;

    bool operator==(const NumberPlace&) const = default;
};
// Throws std::invalid_argument for an array that has no derivatives, and for an index that it does not have.
NumberPlace number_place(const Model& model, const std::string& array, int index);

// Numbers of the model as equations of motion read them: in principal axes, those that the model has. They do not turn
// with an inertia that changes, and points of bodies stay where they are when the centre of mass moves.
class ModelTangent {
  public:
    explicit ModelTangent(const Model& model);

    // Values as the model has them now, without derivatives.
    void renew();
    struct Change {
        NumberPlace place;
        double along[kDirections];
    };
    // These change, and no others.
    void change(std::span<const Change> changes);
    bool changes(NumberArray array) const {
        for (const NumberPlace& place : changed_)
            if (place.array == array) return true;
        return false;
    }
    std::span<const NumberPlace> changed() const { return changed_; }
    // Whether no other array has numbers that change.
    bool changes_only(std::initializer_list<NumberArray> arrays) const {
        for (const NumberPlace& place : changed_)
            if (std::find(arrays.begin(), arrays.end(), place.array) == arrays.end()) return false;
        return true;
    }
    // Whether points or inertias of bodies change.
    bool moves_points() const { return moves_points_; }

    struct Body {
        Dual4 mass;
        Vec3T<Dual4> com;      // from where it is in the model
        Mat3T<Dual4> inertia;  // about the centre of mass
    };
    struct Marker {
        Vec3T<Dual4> offset;  // from the centre of mass
        QuatT<Dual4> rotation;
    };
    Vec3T<Dual4> gravity() const { return load(numbers_[NumberArray::gravity].data()); }
    const Body& body(int i) const { return bodies_[i]; }
    const MarkerPairT<Dual4>& pair(int i) const { return pairs_[i]; }
    const Marker& wrench(int i) const { return wrenches_[i]; }
    std::span<const Marker> markers_of_rows(int formula) const { return markers_of(formula); }
    std::span<const Marker> markers_of_force(int formula) const { return markers_of(rows_ + formula); }
    std::span<const Dual4> values(NumberArray array) const { return numbers_[array]; }
    std::span<const Dual4> coordinate_params(int coordinate) const {
        return slice(NumberArray::coordinate_params, model_.data().coordinate_param_start, coordinate);
    }
    std::span<const Dual4> function_params(int function) const {
        return slice(NumberArray::function_params, model_.data().function_param_start, function);
    }
    std::span<const Dual4> law_params(int law) const {
        return slice(NumberArray::law_params, model_.data().law_param_start, law);
    }
    LawFunction<Dual4> function_of(const Law& law) const {
        if (law.function < 0) return {nullptr};
        return {&model_.functions[law.function], function_params(law.function)};
    }

  private:
    std::span<const Dual4> slice(NumberArray array, const std::vector<int>& start, int i) const {
        return values(array).subspan(start[i], start[i + 1] - start[i]);
    }
    std::span<const Marker> markers_of(int formula) const {
        return std::span(markers_).subspan(first_marker_[formula], first_marker_[formula + 1] - first_marker_[formula]);
    }
    void derive();
    Marker in_principal(int body, NumberArray positions, NumberArray rotations, int marker) const;

    const Model& model_;
    NumberArrays<Dual4> numbers_;
    std::vector<NumberPlace> changed_;
    bool moves_points_ = false;
    int rows_;                       // formulas of rows
    std::vector<int> first_marker_;  // by formula: of rows, then of forces
    std::vector<int> marker_body_;
    std::vector<Body> bodies_;
    std::vector<MarkerPairT<Dual4>> pairs_;
    std::vector<Marker> wrenches_, markers_;
};

// A gradient by the numbers of a model: what is found in principal axes is added up as ModelData has it.
class ModelGradient {
  public:
    explicit ModelGradient(const Model& model);

    void clear();
    double at(const NumberPlace& place) const { return gradient_[place.array][place.index]; }
    std::vector<double>& operator[](NumberArray array) { return gradient_[array]; }

    void add_body(int body, double mass, const Vec3& com, const Mat3& inertia);
    // offset: of a marker from the centre of mass; turn: a small rotation of it. Principal axes.
    void add_marker(int body, NumberArray positions, NumberArray rotations, int marker, const Vec3& offset,
                    const Vec3& turn);

  private:
    const Model& model_;
    NumberArrays<double> values_, gradient_;
};

}  // namespace bellcrank
