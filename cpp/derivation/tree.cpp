#include "derivation/tree.hpp"

#include "expression/derivative.hpp"
#include "spatial/swing.hpp"

namespace bellcrank::symbolic {

namespace {

class AxisMaker {
  public:
    AxisMaker(Graph& graph, LinkTree& tree) : graph_(graph), tree_(tree) {}

    void add(int k, const DescribedLink& d) {
        Link& link = tree_.links[k];
        link.first_axis = static_cast<int>(tree_.axes.size());
        switch (link.motion) {
            case Motion::turn:
            case Motion::slide:
                along(k, d.position);
                break;
            case Motion::ball:
                for (int i = 0; i < 3; ++i) single(k, i, d.first_speed + i);
                break;
            default:  // general
                d.first_speed < 0 ? columns(k) : swing(k, d);
                break;
        }
        link.axes = static_cast<int>(tree_.axes.size()) - link.first_axis;
    }

  private:
    Expression number(double v) const { return constant(graph_, v); }

    // An axis that moves at one speed.
    Axis& single(int link, int number, int speed) {
        Axis axis{};
        axis.link = link;
        axis.number = number;
        axis.shares = {{speed, this->number(1.0)}};
        axis.rate = tree_.symbols.speeds[speed];
        axis.acceleration = tree_.symbols.accelerations[speed];
        axis.bias = this->number(0.0);
        tree_.axes.push_back(axis);
        return tree_.axes.back();
    }

    // The columns change, but not the velocity that constant speeds make of them.
    void swing(int k, const DescribedLink& d) {
        const Vector o = zero_vector(graph_);
        for (int i = 0; i < 2; ++i) {
            Axis& axis = single(k, i, d.first_speed + i);
            axis.angular = d.columns[i];
            axis.linear = axis.angular_rate = axis.linear_rate = o;
        }
    }

    void along(int link, Expression position) {
        Axis axis{};
        axis.link = link;
        axis.number = 0;
        axis.rate = time_derivatives(tree_.symbols, {position}, false)[0];
        axis.bias = time_derivatives(tree_.symbols, {axis.rate}, false)[0];
        axis.acceleration = axis.bias;
        const std::vector<Ref> symbols = refs(tree_.symbols.speeds), root = {axis.rate.ref};
        const std::vector<Ref> d = derivative(graph_, root, symbols, DerivativeForm::reverse);
        for (size_t i = 0; i < symbols.size(); ++i) {
            const Expression factor{&graph_, d[i]};
            if (is_zero(factor)) continue;
            axis.shares.push_back({static_cast<int>(i), factor});
            axis.acceleration = axis.acceleration + factor * tree_.symbols.accelerations[i];
        }
        tree_.axes.push_back(axis);
    }

    // Twist per coordinate, vee(Rᵀ ∂R) and ∂t; and one more axis at rate 1 where the transform depends on time.
    void columns(int k) {
        const Symbols& s = tree_.symbols;
        std::vector<Expression> on = s.coordinates;
        on.push_back(s.time);
        std::vector<Expression> values(tree_.links[k].rotation.m, tree_.links[k].rotation.m + 9);
        for (const Expression& e : {tree_.links[k].shift.x, tree_.links[k].shift.y, tree_.links[k].shift.z})
            values.push_back(e);
        const std::vector<Ref> d = derivative(graph_, refs(values), refs(on), DerivativeForm::forward);
        int number = 0;
        for (size_t j = 0; j < on.size(); ++j) {
            std::vector<Expression> column;
            bool moves = false;
            for (size_t i = 0; i < values.size(); ++i) {
                column.push_back({&graph_, d[i * on.size() + j]});
                moves = moves || !is_zero(column.back());
            }
            if (moves) add_column(k, number++, j + 1 < on.size() ? s.speed_of[j] : -1, column);
        }
    }

    void add_column(int k, int number, int speed, const std::vector<Expression>& d) {
        const Matrix R = tree_.links[k].rotation;
        if (speed >= 0) {
            single(k, number, speed);
        } else {
            Axis axis{};
            axis.link = k;
            axis.number = number;
            axis.rate = this->number(1.0);
            axis.acceleration = axis.bias = this->number(0.0);
            tree_.axes.push_back(axis);
        }
        Axis& axis = tree_.axes.back();
        const auto product = [&](int i, int j) {
            return R.m[i] * d[j] + R.m[3 + i] * d[3 + j] + R.m[6 + i] * d[6 + j];
        };
        axis.angular = {product(2, 1), product(0, 2), product(1, 0)};
        axis.linear = {d[9], d[10], d[11]};
        const std::vector<Expression> r = time_derivatives(
            tree_.symbols,
            {axis.angular.x, axis.angular.y, axis.angular.z, axis.linear.x, axis.linear.y, axis.linear.z}, false);
        axis.angular_rate = {r[0], r[1], r[2]};
        axis.linear_rate = {r[3], r[4], r[5]};
    }

    Graph& graph_;
    LinkTree& tree_;
};

}  // namespace

std::vector<Expression> time_derivatives(const Symbols& symbols, const std::vector<Expression>& values,
                                         bool accelerated) {
    Graph& graph = *symbols.time.graph;
    std::vector<Ref> on = refs(symbols.coordinates), at = refs(symbols.coordinate_rates);
    if (accelerated) {
        for (const Expression& e : symbols.speeds) on.push_back(e.ref);
        for (const Expression& e : symbols.accelerations) at.push_back(e.ref);
    }
    on.push_back(symbols.time.ref);
    at.push_back(graph.constant(1.0));
    std::vector<Expression> out;
    for (const Ref r : rate(graph, refs(values), on, at)) out.push_back({&graph, r});
    return out;
}

TreeDescription::TreeDescription(Graph& g) : graph(g), gravity(zero_vector(g)) {
    symbols.time = {&graph, graph.symbol("t")};
}

int TreeDescription::add_coordinate(const std::string& name, Interval range) {
    const int number = static_cast<int>(symbols.coordinates.size());
    const auto symbol = [&](const char* before) { return Expression{&graph, graph.symbol(before + name)}; };
    symbols.coordinates.push_back({&graph, graph.symbol(name, range)});
    symbols.speed_of.push_back(static_cast<int>(symbols.speeds.size()));
    symbols.speeds.push_back(symbol("d "));
    symbols.accelerations.push_back(symbol("dd "));
    symbols.coordinate_rates.push_back(symbols.speeds.back());
    return number;
}

int TreeDescription::add_quaternion(const std::string& name) {
    Expression w[3];
    for (int i = 0; i < 3; ++i) {
        const std::string speed = name + " w" + "xyz"[i];
        w[i] = {&graph, graph.symbol(speed)};
        symbols.speeds.push_back(w[i]);
        symbols.accelerations.push_back({&graph, graph.symbol("d " + speed)});
    }
    return add_components(name, {half(w[0]), half(w[1]), half(w[2])});
}

int TreeDescription::add_shaft(const std::string& name, int held) {
    const Expression o = constant(graph, 0.0);
    Expression w[3] = {o, o, o};
    for (int i = 0; i < 2; ++i) {
        const std::string speed = name + " w" + "12"[i];
        const Expression symbol{&graph, graph.symbol(speed)};
        w[axis_across(held, i)] = 0.25 * symbol;
        symbols.speeds.push_back(symbol);
        symbols.accelerations.push_back({&graph, graph.symbol("d " + speed)});
    }
    return add_components(name, {w[0], w[1], w[2]});
}

// q̇ = q (0, w)
int TreeDescription::add_components(const std::string& name, const Vector& w) {
    const int number = static_cast<int>(symbols.coordinates.size());
    std::array<Expression, 4> q;
    for (int i = 0; i < 4; ++i) q[i] = {&graph, graph.symbol(name + " e" + std::to_string(i))};
    const Expression rates[4] = {-(q[1] * w.x + q[2] * w.y + q[3] * w.z), q[0] * w.x + q[2] * w.z - q[3] * w.y,
                                 q[0] * w.y + q[3] * w.x - q[1] * w.z, q[0] * w.z + q[1] * w.y - q[2] * w.x};
    for (int i = 0; i < 4; ++i) {
        symbols.coordinates.push_back(q[i]);
        symbols.coordinate_rates.push_back(rates[i]);
        symbols.speed_of.push_back(-1);
    }
    return number;
}

DescribedLink& TreeDescription::add_link(int parent, Motion motion, const Mat3& rotation, const Vector& offset) {
    DescribedLink link{};
    link.parent = parent;
    link.rotation = rotation;
    link.offset = offset;
    link.motion = motion;
    links.push_back(link);
    return links.back();
}

LinkTree TreeDescription::tree(bool keep) {
    LinkTree tree;
    tree.graph = &graph;
    tree.gravity = gravity;
    tree.symbols = symbols;
    ChosenFrames chosen = choose_frames(graph, links, keep);
    tree.links = std::move(chosen.links);
    placements_ = std::move(chosen.placements);
    AxisMaker axes(graph, tree);
    for (size_t k = 0; k < links.size(); ++k) axes.add(static_cast<int>(k), links[k]);
    lump(tree);
    return tree;
}

}  // namespace bellcrank::symbolic
