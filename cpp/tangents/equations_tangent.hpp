// Equations of motion along directions of state, time and the model's numbers, and their transpose
// (docs/theory/derivatives.md). With r = f + Jᵀλ − M u̇ of the bodies and the rows C, their derivatives are those of r,
// C, Ċ and C̈ at given u̇ and λ; what u̇ and λ do is for formulations to find.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contacts/contacts.hpp"
#include "model/branches.hpp"
#include "tangents/marker_motion.hpp"
#include "tangents/model_tangent.hpp"

namespace bellcrank {

// Where derivatives are taken: records of spatial/body_state.hpp, multipliers by row of the model.
// Where nothing is applied, r is Jᵀλ − M u̇ alone.
struct MotionPoint {
    double t;
    const double *x, *u, *udot, *multipliers;
    bool applied = true;
};

class EquationsTangent {
  public:
    // By row and by law of the model, whether another takes them: coordinates do not add to such rows, laws do not act.
    // Null: none.
    struct Without {
        const std::uint8_t *rows = nullptr, *laws = nullptr;
    };
    // Throws Refusal, naming all, where a part of the model has no derivatives.
    EquationsTangent(const Model& model, const AngleBranches& branches, Contacts& contacts)
        : EquationsTangent(model, branches, contacts, Without{}) {}
    EquationsTangent(const Model& model, const AngleBranches& branches, Contacts& contacts, const Without& without);
    // Inputs of the model have other values.
    void inputs_changed() { unit_numbers_.renew(); }

    // Of time, and records of bodies: displacements, changes of u and of u̇; kDirections doubles for each of their
    // numbers. Null: none.
    struct Directions {
        const double *t = nullptr, *x = nullptr, *u = nullptr, *udot = nullptr;
    };
    // Along them: r, records of bodies; C, Ċ and C̈ with compliance × λ, by row of the model; a coordinate, its rate and
    // second rate, by coordinate of the model.
    struct Changes {
        std::vector<double> loads, rows[3], coordinates[3];
        // What is asked for; of coordinates all three.
        bool of_loads = true, of_rows[3] = {true, true, true}, of_coordinates = false;
    };
    // Asks for rows of one level alone.
    static void ask(Changes& changes, int level) {
        changes.of_loads = false;
        for (int i = 0; i < 3; ++i) changes.of_rows[i] = i == level;
    }
    void along(const MotionPoint& at, const Directions& directions, const ModelTangent& numbers, Changes& out);

    // The transpose: of Σ seed · change the gradient by time, records of bodies and numbers. Null: no seeds.
    struct Seeds {
        const double *loads = nullptr, *rows[3] = {}, *coordinates[3] = {};
    };
    struct Gradient {
        double t;
        std::vector<double> x, u, udot;
    };
    // further: numbers of functions and formulas, and parameters of coordinates, by which it is asked for; of formulas
    // and coordinates along each by itself. By all others it comes with the rest.
    void transposed(const MotionPoint& at, const Seeds& seeds, std::span<const NumberPlace> further, Gradient& out,
                    ModelGradient& by_numbers);

  private:
    // What stands on each coordinate.
    struct Use {
        int row, term;
    };
    // A coordinate along a motion.
    struct Along {
        CoordinateValueT<Dual4> parts;
        Dual4 value, rate, second;
    };
    // A pair where it is, its acceleration, and how both change.
    struct Pair {
        PairMotionT<double> motion;
        RelativeRateT<double> acceleration;
        PairChange change;
    };
    // What acts along the coordinates of a pair, on marker 2 in marker-1 axes.
    struct PairLoad {
        Dual4 force[3]{}, moment[3]{};
    };
    class Transpose;

    void place_bodies(const MotionPoint& at, const Directions& d, const ModelTangent& numbers);
    void find_contacts(const MotionPoint& at);
    MovingBodyT<Dual4> body_along(int body) const;
    Pair pair_motion(int pair, const ModelTangent& numbers) const;
    Along coordinate_along(int coordinate, const RelativeMotionT<Dual4>& motion,
                           const RelativeRateT<Dual4>& acceleration, const ModelTangent& numbers,
                           std::span<const Dual4> params) const;  // its own
    Along coordinate_along(int coordinate, const Pair& pair, const ModelTangent& numbers) const;
    // What acts along a coordinate, where it is known along the directions; its rows are added to `out`.
    Dual4 tension_along(int coordinate, const Dual4& value, const Dual4& rate, const Dual4& second,
                        const MotionPoint& at, const ModelTangent& numbers, Changes& out) const;
    const Dual4* run_formula(const CompiledProgram& program, const FormulaEnds& ends,
                             const std::vector<MarkerMotionT<Dual4>>& markers, const std::vector<Along>& coordinates,
                             const ModelTangent& numbers);
    void add_inertia(const MotionPoint& at, const ModelTangent& numbers, Changes& out) const;
    void add_wrenches(const ModelTangent& numbers, Changes& out) const;
    void add_contacts(const Directions& d, const ModelTangent& numbers, Changes& out) const;
    void add_formulas(const MotionPoint& at, const ModelTangent& numbers, Changes& out);
    void add_pairs(const MotionPoint& at, const ModelTangent& numbers, Changes& out);
    void add_locked(const Pair& pair, const std::vector<int>& coordinates, const MotionPoint& at,
                    const ModelTangent& numbers, PairLoad& load, Changes& out) const;
    void add_rows(const MotionPoint& at, const ModelTangent& numbers, Changes& out) const;
    void add_load(int body, const ForceT<Four>& load, Changes& out) const;
    void add_load(int body, const ForceT<Dual4>& load, Changes& out) const;

    const Model& model_;
    const AngleBranches& branches_;
    Contacts& contacts_;
    std::vector<ContactSlopes> touching_;
    std::vector<double> touched_at_;  // poses and twists
    int revision_ = -1;
    std::vector<std::vector<Use>> terms_of_;
    std::vector<std::vector<int>> laws_of_;
    // Of each pair the coordinates that something stands on: those that locks are made of, and others; and the rest.
    std::vector<std::vector<int>> locked_of_pair_, others_of_pair_, idle_of_pair_;
    std::vector<int> lock_;  // of each coordinate: 0 to 5 for x, y, z, e1, e2, e3; −1 for others
    bool formulas_ = false;
    bool fixed_coefficients_ = true;  // just now
    Dual4 time_;
    std::vector<MovingBody> bodies_;
    std::vector<BodyChange> changes_;
    std::vector<Dual4> tension_, program_in_;  // of formulas: along each coordinate
    ModelTangent unit_numbers_;                // transposed(): along numbers by themselves
    Changes unit_changes_;
};

}  // namespace bellcrank
