// The derivatives that formulas need, taken on their graph. With an angular velocity ω in outer axes (world, or those
// of marker 1) a quaternion changes by q̇ = ½ ω q, and for a matrix ω = vee(Ṙ Rᵀ).
#include "model/formulas.hpp"

#include <utility>

#include "expression/derivative.hpp"
#include "expression/expression.hpp"
#include "expression/lower.hpp"
#include "expression/part.hpp"

namespace bellcrank {

namespace {

using Vector = std::array<Ref, 3>;

// A graph of its own for one formula, with the symbols it speaks of.
class Workshop {
  public:
    explicit Workshop(const Formulas& all) : source_(*all.graph) {
        for (const Ref p : all.parameters) parameters_.push_back(symbol(p));
    }

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

    Program lowered(std::span<const Ref> outputs, std::vector<Ref> inputs) const {
        inputs.insert(inputs.end(), parameters_.begin(), parameters_.end());
        return lower(graph, outputs, inputs);
    }

    mutable Graph graph;

  private:
    const Graph& source_;
    std::vector<std::pair<Ref, Ref>> images_;
    std::vector<Ref> parameters_;
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

// ½ ω q
std::array<Ref, 4> quaternion_rate(Graph& g, const Vector& w, const std::array<Ref, 4>& q) {
    const auto term = [&](Ref a, Ref b, Ref c, Ref d, Ref e, Ref f) {
        return sum(g, g.multiply(a, b), g.multiply(c, d), g.multiply(e, f));
    };
    const std::array<Ref, 4> twice = {
        -term(w[0], q[1], w[1], q[2], w[2], q[3]), term(w[0], q[0], w[1], q[3], w[2], -q[2]),
        term(w[1], q[0], w[2], q[1], w[0], -q[3]), term(w[2], q[0], w[0], q[2], w[1], -q[1])};
    std::array<Ref, 4> out;
    for (int k = 0; k < 4; ++k) out[k] = g.multiply(g.constant(0.5), twice[k]);
    return out;
}

struct OwnMarker {
    Vector position, velocity, angular_velocity;
    std::array<Ref, 4> rotation;
};

// The symbols of all markers in the order of the inputs, and how they move.
struct Scene {
    Ref time;
    std::vector<OwnMarker> markers;
    std::vector<Ref> inputs;
    std::vector<Ref> moving, rates;  // positions, rotations and coordinates with their rates; time with rate 1
    std::vector<Ref> speeds;         // per marker velocity and angular velocity, then the coordinates' rates
};

Scene make_scene(Workshop& shop, Ref time, const std::vector<MarkerSymbols>& markers,
                 const std::vector<CoordinateSymbols>& coordinates) {
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
        append(scene.rates, quaternion_rate(g, own.angular_velocity, own.rotation));
        append(scene.speeds, own.velocity);
        append(scene.speeds, own.angular_velocity);
        scene.markers.push_back(own);
    }
    for (const CoordinateSymbols& c : coordinates) {
        scene.moving.push_back(shop.symbol(c.value));
        scene.rates.push_back(shop.symbol(c.rate));
        scene.speeds.push_back(scene.rates.back());
        scene.inputs.push_back(scene.moving.back());
        scene.inputs.push_back(scene.rates.back());
    }
    return scene;
}

// The part of speeds that is there without motion.
std::vector<Ref> at_rest(Graph& g, const Scene& scene, std::span<const Ref> roots) {
    return substitute(g, roots, scene.speeds, std::vector<Ref>(scene.speeds.size(), g.constant(0.0)));
}

}  // namespace

Program joint_program(const Formulas& all, const JointFormula& joint) {
    Workshop shop(all);
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
    return shop.lowered(outputs, inputs);
}

Program constraint_program(const Formulas& all, const ConstraintFormula& constraint) {
    Workshop shop(all);
    Graph& g = shop.graph;
    const Scene scene = make_scene(shop, all.time, constraint.markers, constraint.coordinates);
    const std::vector<Ref> rows = shop.bring(constraint.rows);
    const std::vector<Ref> speeds = constraint.of_velocity ? rows : rate(g, rows, scene.moving, scene.rates);
    const std::vector<Ref> gradients = derivative(g, speeds, scene.speeds);
    const std::vector<Ref> bias = rate(g, speeds, scene.moving, scene.rates);  // speeds held

    std::vector<Ref> outputs = constraint.of_velocity ? std::vector<Ref>(rows.size(), g.constant(0.0)) : rows;
    for (const Ref r : at_rest(g, scene, speeds)) outputs.push_back(r);
    for (const Ref r : bias) outputs.push_back(r);
    for (const Ref r : gradients) outputs.push_back(r);
    return shop.lowered(outputs, scene.inputs);
}

Program force_program(const Formulas& all, const ForceFormula& force) {
    Workshop shop(all);
    Graph& g = shop.graph;
    const Scene scene = make_scene(shop, all.time, force.markers, force.coordinates);
    std::vector<Ref> outputs;
    for (size_t i = 0; i < force.force.size(); ++i) {
        append(outputs, force.force[i]);
        append(outputs, force.moment[i]);
    }
    outputs.insert(outputs.end(), force.effort.begin(), force.effort.end());
    outputs = shop.bring(outputs);
    if (force.has_potential) {
        const Ref given[1] = {force.potential};
        const std::vector<Ref> potential = shop.bring(given);
        if (outputs.empty()) {  // efforts are what the potential loses per speed
            const std::vector<Ref> loss = rate(g, potential, scene.moving, scene.rates);
            for (const Ref r : derivative(g, loss, scene.speeds)) outputs.push_back(-r);
        }
        outputs.push_back(potential[0]);
    }
    return shop.lowered(outputs, scene.inputs);
}

}  // namespace bellcrank
