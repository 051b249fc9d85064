// The derivatives that formulas need, taken on their graph. A rotation matrix R with columns in local axes changes with
// the angular velocity ω (world, or marker-1 axes) by Ṙ = ω̃ R, and ω = vee(Ṙ Rᵀ).
#include "model/formulas.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "expression/derivative.hpp"
#include "expression/expression.hpp"
#include "expression/lower.hpp"
#include "expression/transfer.hpp"

namespace bellcrank {

namespace {

using Vector = std::array<Ref, 3>;
using Matrix = std::array<Ref, 9>;

// A graph of its own for one formula, with the symbols it speaks of.
class Workshop {
  public:
    explicit Workshop(const Graph& source) : source_(source) {}

    Ref symbol(Ref original) {
        const Symbol& s = source_.symbol_of(original);
        const Ref own = graph.symbol(s.name, s.range);
        images_.emplace_back(original, own);
        return own;
    }
    template <size_t N>
    std::array<Ref, N> symbols(const std::array<Ref, N>& originals) {
        std::array<Ref, N> own;
        for (size_t i = 0; i < N; ++i) own[i] = symbol(originals[i]);
        return own;
    }
    std::vector<Ref> bring(std::span<const Ref> roots) const { return transfer(source_, roots, graph, images_); }

    mutable Graph graph;

  private:
    const Graph& source_;
    std::vector<std::pair<Ref, Ref>> images_;
};

template <size_t N>
void append(std::vector<Ref>& list, const std::array<Ref, N>& items) {
    list.insert(list.end(), items.begin(), items.end());
}

Ref sum(Graph& g, Ref a, Ref b, Ref c) { return g.add(g.add(a, b), c); }

// vee(D Rᵀ) for D = ω̃ R: (D Rᵀ)₂₁, (D Rᵀ)₀₂, (D Rᵀ)₁₀.
Vector turning(Graph& g, const Ref* D, const Ref* R) {
    const auto entry = [&](int i, int j) {
        return sum(g, g.multiply(D[3 * i], R[3 * j]), g.multiply(D[3 * i + 1], R[3 * j + 1]),
                   g.multiply(D[3 * i + 2], R[3 * j + 2]));
    };
    return {entry(2, 1), entry(0, 2), entry(1, 0)};
}

// ω̃ R
Matrix turned(Graph& g, const Vector& w, const Matrix& R) {
    Matrix out;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) {
            const int a = (i + 1) % 3, b = (i + 2) % 3;
            out[3 * i + j] = g.subtract(g.multiply(w[a], R[3 * b + j]), g.multiply(w[b], R[3 * a + j]));
        }
    return out;
}

struct OwnMarker {
    Vector position, velocity, angular_velocity;
    Matrix rotation;
};

// The symbols of all markers in the order of the inputs, and how they move.
struct Scene {
    Ref time;
    std::vector<OwnMarker> markers;
    std::vector<Ref> inputs;
    std::vector<Ref> moving, rates;  // positions and rotations with their rates; time with rate 1
};

Scene make_scene(Workshop& shop, Ref time, const std::vector<MarkerSymbols>& markers) {
    Graph& g = shop.graph;
    Scene scene;
    scene.time = shop.symbol(time);
    scene.inputs = {scene.time};
    scene.moving = {scene.time};
    scene.rates = {g.constant(1.0)};
    for (const MarkerSymbols& m : markers) {
        const OwnMarker own{shop.symbols(m.position), shop.symbols(m.velocity), shop.symbols(m.angular_velocity),
                            shop.symbols(m.rotation)};
        append(scene.inputs, own.position);
        append(scene.inputs, own.rotation);
        append(scene.inputs, own.velocity);
        append(scene.inputs, own.angular_velocity);
        append(scene.moving, own.position);
        append(scene.rates, own.velocity);
        append(scene.moving, own.rotation);
        append(scene.rates, turned(g, own.angular_velocity, own.rotation));
        scene.markers.push_back(own);
    }
    return scene;
}

// Twist gradients of what is linear in the twists: row by row, marker by marker, velocity then angular velocity.
std::vector<Ref> twist_gradients(Graph& g, const Scene& scene, std::span<const Ref> speeds) {
    std::vector<Ref> twists;
    for (const OwnMarker& m : scene.markers) {
        append(twists, m.velocity);
        append(twists, m.angular_velocity);
    }
    return derivative(g, speeds, twists);
}

// The part of a speed that is there without motion.
std::vector<Ref> at_rest(Graph& g, const Scene& scene, std::span<const Ref> speeds) {
    std::vector<Ref> twists, zeros;
    for (const OwnMarker& m : scene.markers) {
        append(twists, m.velocity);
        append(twists, m.angular_velocity);
    }
    zeros.assign(twists.size(), g.constant(0.0));
    return substitute(g, speeds, twists, zeros);
}

}  // namespace

Program joint_program(const Graph& source, const JointFormula& joint) {
    Workshop shop(source);
    Graph& g = shop.graph;
    std::vector<Ref> s, rates, pose;
    for (const Ref c : joint.coordinates) s.push_back(shop.symbol(c));
    for (const Ref c : s) rates.push_back(g.symbol(g.symbol_of(c).name + "'"));
    append(pose, joint.position);
    append(pose, joint.rotation);
    pose = shop.bring(pose);

    const size_t d = s.size();
    const std::vector<Ref> gradient = derivative(g, pose, s);  // 12 × d
    std::vector<Ref> columns, velocity(6, g.constant(0.0));
    for (size_t i = 0; i < d; ++i) {
        Ref D[9];
        for (int k = 0; k < 9; ++k) D[k] = gradient[(3 + k) * d + i];
        const Vector w = turning(g, D, &pose[3]);
        const Ref column[6] = {gradient[i], gradient[d + i], gradient[2 * d + i], w[0], w[1], w[2]};
        for (int k = 0; k < 6; ++k) {
            columns.push_back(column[k]);
            velocity[k] = g.add(velocity[k], g.multiply(column[k], rates[i]));
        }
    }
    std::vector<Ref> outputs = pose;
    outputs.insert(outputs.end(), columns.begin(), columns.end());
    const std::vector<Ref> bias = rate(g, velocity, s, rates);
    outputs.insert(outputs.end(), bias.begin(), bias.end());
    std::vector<Ref> inputs = s;
    inputs.insert(inputs.end(), rates.begin(), rates.end());
    return lower(g, outputs, inputs);
}

Program constraint_program(const Graph& source, Ref time, const ConstraintFormula& constraint) {
    Workshop shop(source);
    Graph& g = shop.graph;
    const Scene scene = make_scene(shop, time, constraint.markers);
    const std::vector<Ref> rows = shop.bring(constraint.rows);
    const std::vector<Ref> speeds = constraint.of_velocity ? rows : rate(g, rows, scene.moving, scene.rates);
    const std::vector<Ref> gradients = twist_gradients(g, scene, speeds);
    const std::vector<Ref> bias = rate(g, speeds, scene.moving, scene.rates);  // twists held

    std::vector<Ref> outputs = constraint.of_velocity ? std::vector<Ref>(rows.size(), g.constant(0.0)) : rows;
    for (const Ref r : at_rest(g, scene, speeds)) outputs.push_back(r);
    for (const Ref r : bias) outputs.push_back(r);
    for (const Ref r : gradients) outputs.push_back(r);
    return lower(g, outputs, scene.inputs);
}

Program force_program(const Graph& source, Ref time, const ForceFormula& force) {
    Workshop shop(source);
    const Scene scene = make_scene(shop, time, force.markers);
    std::vector<Ref> outputs;
    for (size_t i = 0; i < force.markers.size(); ++i) {
        append(outputs, force.force[i]);
        append(outputs, force.moment[i]);
    }
    if (force.has_potential) outputs.push_back(force.potential);
    return lower(shop.graph, shop.bring(outputs), scene.inputs);
}

}  // namespace bellcrank
