// The flat model: what the description says as arrays and indices, free of any formulation, never changed once made.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "contacts/contact_set.hpp"
#include "expression/expressed_function.hpp"
#include "forces/law.hpp"
#include "functions/function.hpp"
#include "joints/coordinate.hpp"
#include "joints/marker_pair.hpp"
#include "model/formula_rows.hpp"
#include "model/formulas.hpp"
#include "model/observation.hpp"
#include "spatial/algebra.hpp"

namespace bellcrank {

// Plain arrays as the description layer hands them over; CSR where a list varies in length. Bodies are 0 … nb−1, the
// ground is nb. Poses are those of body frames; markers are given in body frames.
struct ModelData {
    Vec3 gravity{0, 0, 0};
    std::vector<double> body_mass;     // nb
    std::vector<Vec3> body_com;        // nb, body axes
    std::vector<Mat3> body_inertia;    // nb, about the com, body axes
    std::vector<int> pair_bodies;      // np × 2
    std::vector<Vec3> pair_positions;  // np × 2
    std::vector<Quat> pair_rotations;  // np × 2
    std::vector<std::string> coordinate_kind;
    std::vector<int> coordinate_pair, coordinate_param_start;
    std::vector<double> coordinate_params;
    std::vector<std::string> function_kind;
    std::vector<int> function_param_start;
    std::vector<double> function_params;
    std::map<int, std::shared_ptr<const ExpressedFunction>> function_expressions;  // of the kind "expression"
    std::vector<int> block_row_start;
    std::vector<std::uint8_t> block_unilateral;
    std::vector<double> block_compliance, block_restitution;
    std::vector<int> row_term_start, term_coordinate;
    std::vector<double> term_coefficient;
    std::vector<int> row_function;
    std::vector<double> row_constant;
    std::vector<std::string> law_kind;
    std::vector<int> law_coordinate, law_function, law_param_start;
    std::vector<double> law_params;
    std::vector<int> wrench_body;
    std::vector<Vec3> wrench_position;
    std::vector<Quat> wrench_rotation;
    std::vector<std::uint8_t> wrench_local;
    std::vector<int> wrench_function;     // nw × 6
    std::vector<double> wrench_constant;  // nw × 6
    std::vector<Vec3> body_normal;        // nb + 1, body axes: of the plane that all motion stays in; empty: none
    std::vector<int> block_formula;       // constraint formula of a block without terms, −1: none; empty: all −1
    std::vector<int> block_friction;      // law of dry friction whose coordinate a row holds, −1: none; empty: all −1
    // Dry friction along a sum of coordinates is one law for each of them, side by side in the order of the terms of
    // the row that holds it: by law, that whose state it shares, the first of them; empty: each has its own.
    std::vector<int> law_friction;
    // A part of what limits of dry friction grow with: weight × |A w|, w the wrench of a joint (moment, force, on body
    // 2 of the pair about marker 2's origin, axes of marker 1), or, without a pair, multipliers of rows. Of a rope
    // around a wheel the weight μ becomes 2 tanh(μ β/2), with its angle of wrap β = wrapped + Σ factor × coordinate.
    // Of no rows w = (1, 0, ...), for a load that is given.
    struct FrictionLoad {
        int law;
        int pair;                  // −1: none
        std::vector<int> blocks;   // whose wrench it is
        std::vector<int> rows;     // 6 at most
        std::vector<double> form;  // A by rows: one to three of six numbers
        // The weights while it slips, and while it holds: where what slips does work on A w, and where it is driven.
        std::array<double, 2> slipping, holding;
        std::vector<int> wrap;  // coordinates; none: no rope
        std::vector<double> wrap_factor;
        double wrapped;
    };
    std::vector<FrictionLoad> friction_loads;  // those of a law side by side
    Formulas formulas;
    ContactSet contacts;  // poses of shapes in body axes
    // A number that may change while a system runs, and where it stands: in function_params, and in the values of
    // formulas (−1: in none). In one place at least.
    struct Input {
        std::vector<int> function_params;
        int formula_value;
    };
    std::vector<Input> inputs;
    // Functions that go on from the value that they have where an input changes, and the number that is added to them
    // for that in function_params.
    std::vector<std::pair<int, int>> input_offsets;

    BELLCRANK_FIELDS(ModelData, (gravity), (body_mass), (body_com), (body_inertia), (pair_bodies), (pair_positions),
                     (pair_rotations), (coordinate_kind), (coordinate_pair), (coordinate_param_start),
                     (coordinate_params), (function_kind), (function_param_start), (function_params),
                     (function_expressions), (block_row_start), (block_unilateral), (block_compliance),
                     (block_restitution), (row_term_start), (term_coordinate), (term_coefficient), (row_function),
                     (row_constant), (law_kind), (law_coordinate), (law_function), (law_param_start), (law_params),
                     (wrench_body), (wrench_position), (wrench_rotation), (wrench_local), (wrench_function),
                     (wrench_constant), (body_normal), (block_formula), (block_friction), (law_friction),
                     (friction_loads), (formulas), (contacts), (inputs), (input_offsets))
    static constexpr std::string_view kOptional[] = {
        "function_expressions", "body_normal", "block_formula", "block_friction", "law_friction",
        "friction_loads",       "formulas",    "contacts",      "inputs",         "input_offsets"};

    // Null for functions of other kinds.
    std::shared_ptr<const ExpressedFunction> expression_of(int function) const {
        const auto found = function_expressions.find(function);
        return found == function_expressions.end() ? nullptr : found->second;
    }
};

// A coordinate bound to its pair. Angular ones carry no branch here: a System follows it.
struct Coordinate {
    const CoordinateKind* kind;
    int pair;
    std::span<const double> params;

    // Whether its value depends on where it was: the turns of an angle, which of several solutions a formula's is.
    bool followed() const { return kind->angular() || kind == &kFormulaCoordinate; }
    // Whether that value changes as points move, without any body turning.
    bool drifts() const { return kind->angle == Angle::of_points || kind == &kFormulaCoordinate; }
    bool of_formula() const { return kind == &kFormulaRow || kind == &kFormulaCoordinate; }
    int formula() const { return static_cast<int>(params[0]); }  // joint of Model::formula_joints
    int component() const { return static_cast<int>(params[1]); }
};

// A joint given by formulas, and which coordinates of the model its own are (−1: not used).
struct FormulaJoint {
    ParametricJoint joint;
    std::vector<int> coordinate;
    std::vector<double> start;
};

struct Term {
    int coordinate;
    double coefficient;
};

// C = Σ coefficient φ − function(t) − constant
struct Row {
    int term_begin, term_end;
    int function;  // −1: none
    double constant;
};

// Rows that stand or fall together: a joint, a drive, a stop. 1 to 6 of them.
struct Block {
    int row_begin, row_end;
    bool unilateral;    // C ≥ 0 instead of C = 0
    double compliance;  // added to the row's diagonal at acceleration level; 1/(inertia along the coordinate)
    double restitution;
    bool of_velocity = false;  // conditions of velocities alone: C = 0 says nothing
    int friction = -1;         // law of dry friction that holds the coordinate of this row; −1: none. Who knows nothing
                               // of it finds a stop that is far away.
};

struct Law {
    const LawKind* kind;
    int coordinate;
    int function;  // −1: none
    std::span<const double> params;
    int friction;  // the law whose state it shares; its own number, but in friction along a sum of coordinates
};

// A part of what limits of dry friction grow with (ModelData::FrictionLoad).
struct FrictionLoad {
    int law;
    Observation::Reaction of;  // pair −1: of rows
    std::vector<int> rows;
    int rank;         // forms
    double form[18];  // each of six numbers
    std::array<double, 2> slipping, holding;
    std::vector<Term> wrap;  // of a rope's angle around a wheel; none: no rope
    double wrapped;

    bool is_given() const { return of.pair < 0 && rows.empty(); }
};

struct Wrench {
    int body;
    Vec3 offset;      // application point from the com, principal axes
    Quat rotation;    // marker axes → principal axes
    bool local;       // components in marker axes, else world axes
    int function[6];  // −1: constant alone
    double constant[6];
};

class BeamForces;

class Model {
  public:
    // Throws std::invalid_argument naming the array and index that is out of range or malformed.
    explicit Model(ModelData data) : Model(std::move(data), {}) {}
    Model(const Model&) = delete;
    // The same, with inputs of its own; programs are shared.
    std::shared_ptr<Model> copy() const { return std::shared_ptr<Model>(new Model(data_, programs)); }
    Model& operator=(const Model&) = delete;

    int bodies() const { return static_cast<int>(mass.size()); }
    int ground() const { return bodies(); }
    int rows_total() const { return static_cast<int>(rows.size()); }
    const ModelData& data() const { return data_; }  // as it was given
    // Inputs take other values at time t. Systems of the model are to be told by System::inputs_changed().
    void set_inputs(double t, std::span<const double> values);
    // The values of a model that has the same inputs in the same places.
    void take_inputs(const Model& other);
    int inputs() const { return static_cast<int>(data_.inputs.size()); }
    double input(int number) const;
    int block_of(int row) const;
    // The bodies that a block's rows connect, each once, in the order in which the rows name them.
    std::vector<int> bodies_of(int block) const;
    // The origin of a body's frame from its centre of mass, principal axes.
    Vec3 frame_origin(int body) const { return principal_offset(body, {0.0, 0.0, 0.0}); }

    Vec3 gravity;
    std::vector<double> mass;              // nb [kg]
    std::vector<Vec3> principal_inertia;   // nb, about the com [kg m²]
    std::vector<Vec3> com;                 // nb, body frame
    std::vector<Quat> principal_rotation;  // nb, principal axes → body axes
    std::vector<Vec3> normal;  // nb + 1, principal axes, the ground's in the world; empty: no plane of motion
    std::vector<MarkerPair> pairs;
    std::vector<Coordinate> coordinates;
    std::vector<Function> functions;
    std::vector<Block> blocks;
    std::vector<Row> rows;
    std::vector<Term> terms;
    std::vector<Law> laws;
    std::shared_ptr<const BeamForces> beams;  // of laws
    std::vector<Wrench> wrenches;
    std::vector<FrictionLoad> friction_loads;
    std::vector<FormulaJoint> formula_joints;
    std::vector<FormulaRows> formula_rows;
    std::vector<int> formula_of_block;  // index into formula_rows; −1: rows of coordinates
    std::vector<FormulaForce> formula_forces;
    ContactSet contacts;
    bool has_friction = false;                               // that holds
    std::vector<std::shared_ptr<CompiledProgram>> programs;  // of all formulas, joints first, then constraints, forces

  private:
    using Programs = std::vector<std::shared_ptr<CompiledProgram>>;
    // made: the programs of all formulas; empty: none are made yet.
    Model(ModelData data, const Programs& made);
    Vec3 principal_offset(int body, const Vec3& p) const;
    Quat in_principal(int body, const Quat& q) const;
    void add_formulas(const Programs& made);
    void add_contacts();

    ModelData data_;  // owns the parameters that spans above point into
};

}  // namespace bellcrank
