// The equations of motion of a model, generated once: M u̇ = b + Jᵀ λ with rows J u̇ = −γ, or u̇ itself where no row is
// left (docs/theory/symbolic.md).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "derivation/dynamics.hpp"
#include "derivation/mechanism.hpp"
#include "expression/derivative.hpp"

namespace bellcrank::symbolic {

// Coordinates of a model as expressions of the tree's coordinates.
class Coordinates {
  public:
    Coordinates(const MechanismTree& mechanism, LinkPoses& link_poses);

    Expression value(int coordinate);
    // The rotation of marker 2 of a pair seen from marker 1; of q and −q the one that the components e0 to e3 are of.
    QuatT<Expression> quaternion(int pair);
    // Where an angle was last: its value is the one of its branches nearest to that. No graph: it is not asked for.
    const std::vector<Expression>& branches() const { return branches_; }

  private:
    Expression formula(int coordinate);
    Expression branch(int coordinate);

    const MechanismTree& mechanism_;
    LinkPoses& poses_of_links_;
    std::vector<Expression> values_, branches_;
};

// One function of the inputs, and of further ones after them.
struct Form {
    std::vector<Ref> outputs;
    OperationCount count;
    std::vector<Ref> further{};
};

// A form as users get it: a function of t, q, u, u̇, efforts along the speeds, and parameters.
struct Exported {
    std::vector<Ref> outputs, inputs;
};

// A frame on a body of the model, in the body's frame.
struct BodyFrame {
    int body;
    Vector position;
    Matrix rotation;
};

// An entry (row, column) of a matrix, in the order of outputs.
struct Entry {
    int row, column;
};

class Equations {
  public:
    // parametric: which numbers of the model follow parameters; null for none. cut: blocks of joints that are left out
    // of the tree.
    explicit Equations(std::shared_ptr<const Model> model,
                       std::shared_ptr<const ParametricNumbers> parametric = nullptr, const std::vector<int>& cut = {});

    // Why a model cannot be taken, everything at once; empty if it can.
    static std::vector<std::string> refusals(const Model& model, const std::vector<int>& cut = {});

    // Inputs of every form: t, q, u, where angles were last, u̇, λ of the rows that remain, and for each body in
    // `touching` what contacts exert on it: moment about its com and force, world axes.
    std::vector<Ref> inputs() const;
    int coordinates() const { return static_cast<int>(symbols().coordinates.size()); }
    int speeds() const { return static_cast<int>(symbols().speeds.size()); }
    const Symbols& symbols() const { return mechanism.tree.symbols; }
    bool is_free() const { return rows.size() == mechanism.plan.stops.size(); }

    Graph graph;
    std::shared_ptr<const Model> model;
    Numbers numbers;
    MechanismTree mechanism;
    LinkPoses link_poses;
    Coordinates values;
    std::vector<int> rows;                // of the model, those that remain, and stops last
    std::vector<int> branch_coordinates;  // of the model, whose last values are inputs
    std::vector<int> touching;            // bodies of the tree that contacts act on
    std::string method;                   // how accelerations of trees are found: "composite" or "articulated"

    // A closing row on components of a quaternion: its multiplier changes its sign with the quaternion.
    struct Component {
        int row, pair;
    };
    std::vector<Component> components;  // row: in the order of `rows`

    std::vector<int> coupled_angles;  // of the model, that follow others of the tree

    Form angles();       // coupled_angles
    Form quaternions();  // of the pairs of `components`, four numbers each
    Form bodies();  // per body: rotation (9) of its axes, position (3) of the com, angular velocity (3), velocity (3)
    Form body_rates();       // per body: angular acceleration in its axes, acceleration of the com
    Form accelerations();    // u̇; only without rows
    Form system();           // M, b, J, γ at the places below
    Form closure();          // C, Ct, J
    Form inverse();          // efforts that u̇ needs
    Form mass_matrix();      // M at mass_places, then b
    Form linearization();    // ∂(M u̇ − b − Jᵀ λ) and ∂(J u̇ + γ) by (ξ, u), row by row
    Form linearized_rows();  // ∂Ċ by (ξ, u), row by row; ∂q̇/∂u = A; (∂q̇/∂q) A − Ȧ
    Form parameters();       // the same, C and Ċ by the parameters
    std::vector<Entry> mass_places, row_places;

    // What changes along directions (directions.cpp). residuals: M u̇ − b − Jᵀ λ, J u̇ + γ; rows: C, Ċ; bodies: per body
    // the rotation (9) of its axes, position, velocity and acceleration of its point that is the centre of mass,
    // angular velocity and acceleration in its axes.
    enum class Changing { residuals, rows, bodies };
    static constexpr int kBodyNumbers = 24;
    // Further inputs are the changes of t, displacement, u and, of bodies, u̇; or those of the parameters.
    Form along(Changing what, bool by_parameters);
    // Further inputs are weights; of the sum of what they weigh the derivatives by the same.
    Form gradient(Changing what, bool by_parameters);

    // A form for users by its name (exported.cpp), with the parameters numbered in `open` among its inputs; others are
    // the numbers that they are now. frame: of "pose", "velocity" and "jacobian". Throws std::invalid_argument for
    // other names, and for forward dynamics where rows are left to close.
    Exported exported(const std::string& form, const BodyFrame* frame, const std::vector<int>& open);
    // A frame by position (3) and rotation (9), which may follow parameters.
    BodyFrame frame_of(int body, const Graph& from, std::span<const Ref> pose);

    // What acts beside gravity: forces along the speeds, wrenches on the links (one each, or none at all).
    const std::vector<Expression>& generalized() const { return generalized_; }
    const std::vector<Load>& applied() const { return applied_; }
    void add_rotors(LowerTriangle& M) const;  // what inertances add to M

  private:
    void make_forces();
    void make_formula_forces();
    void make_contact_forces();
    void add_potential(const ForceFormula& force);
    void add_efforts(const ForceFormula& force);
    void make_rows();
    void note_component(const Row& row);
    void add_row(int row, Expression error, Expression rate);
    void add_formula_row(int row, int block);
    Vector angular_velocity(const BodyPlace& place);  // world axes
    std::vector<Expression> formulas_at(const std::vector<MarkerSymbols>& markers,
                                        const std::vector<CoordinateSymbols>& coordinates, std::span<const Ref> roots);
    void make_inertances();
    Expression sum_of_terms(const Row& row);
    Expression function_of_time(int function);
    Expression table(int function, Expression at);
    Expression number_of(int function, int param) const;
    Expression effort(int law, Expression value, Expression rate);
    void add_wrench(int wrench);
    void apply_to_link(int link, const Vector& moment, const Vector& force);
    LowerTriangle mass_lower();
    std::vector<Expression> known_forces();
    std::vector<Expression> accelerations_under(const std::vector<Expression>& efforts);
    std::vector<Expression> exported_outputs(const std::string& form);
    std::vector<Expression> exported_rows(const std::string& form);
    std::vector<Expression> frame_outputs(const std::string& form, const BodyFrame& frame);
    std::vector<Expression> acting_forces() const;
    std::vector<Expression> constraint_drifts();
    std::vector<Expression> inverse_efforts();
    std::vector<Expression> residuals();
    std::vector<Expression> motions_of_points();
    std::vector<Expression> values_of(Changing what);
    // Derivatives by displacements, then by speeds, of each.
    std::vector<Expression> by_motion(const std::vector<Expression>& of);
    std::vector<Ref> rates_by_speeds();
    Form form(const std::vector<Expression>& outputs) const;
    std::vector<Expression> gradient(Expression rate);

    std::vector<int> tables_;                       // of the model's functions in the graph
    std::vector<Expression> generalized_, acting_;  // with and without what inertances take of b
    std::vector<Expression> efforts_;               // symbols of exported forms
    std::vector<Load> applied_;
    std::vector<Expression> contact_wrenches_;
    std::vector<Expression> C_, Cdot_, gamma_, multipliers_;
    std::vector<std::vector<Expression>> J_;
    LowerTriangle rotors_;
};

}  // namespace bellcrank::symbolic
