#include "derivation/tree.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "expression/derivative.hpp"
#include "spatial/swing.hpp"

namespace bellcrank::symbolic {

namespace {

constexpr double kRounding = 1e-14;  // what is smaller, relative, is the rounding of a zero

// How far an origin may move, in units of what lies around it. An origin at the distance r from a body of size l costs
// (r/l)² in the digits of its moments, and the common normal of two axes that are nearly parallel lies as far off as
// one likes.
constexpr double kFar = 10.0;

double snapped(double value, double scale) { return std::abs(value) <= kRounding * scale ? 0.0 : value; }

double snapped_cosine(double value) {
    if (std::abs(value) <= kRounding) return 0.0;
    return std::abs(std::abs(value) - 1.0) <= kRounding ? std::copysign(1.0, value) : value;
}

std::optional<Vec3> numbers_of(const Vector& v) {
    const auto number = [](Expression e) { return e.graph->is_constant(e.ref); };
    if (!number(v.x) || !number(v.y) || !number(v.z)) return std::nullopt;
    const auto value = [](Expression e) { return e.graph->constant_value(e.ref); };
    return Vec3{value(v.x), value(v.y), value(v.z)};
}

Expression snapped(Expression e, double scale) {
    if (!e.graph->is_constant(e.ref)) return e;
    return constant(*e.graph, snapped(e.graph->constant_value(e.ref), scale));
}

Mat3 about_z(double cosine, double sine) { return {{cosine, -sine, 0, sine, cosine, 0, 0, 0, 1}}; }

Turn number_turn(Graph& graph, int axis, double cosine, double sine) {
    return {axis, constant(graph, snapped_cosine(cosine)), constant(graph, snapped_cosine(sine))};
}

// B = Rz(γ) Rx(α) Rz(δ): cosines and sines; γ = 0 where that is possible.
struct EulerTurns {
    double cg = 1, sg = 0, ca = 1, sa = 0, cd = 1, sd = 0;
};

EulerTurns euler_turns(const Mat3& B) {
    EulerTurns e;
    e.ca = B.m[8];
    if (std::abs(B.m[2]) <= kRounding) {
        e.sa = -B.m[5];
    } else {
        e.sa = std::hypot(B.m[2], B.m[5]);
        e.sg = B.m[2] / e.sa;
        e.cg = -B.m[5] / e.sa;
    }
    if (std::abs(e.sa) <= kRounding) {
        e = {1, 0, std::copysign(1.0, e.ca), 0, B.m[0], -B.m[1]};
    } else {
        // δ is what Rz(γ) leaves of the x axis. The last row of B says it too, but only up to its rounding by sin α.
        e.cd = e.cg * B.m[0] + e.sg * B.m[3];
        e.sd = -(e.cg * B.m[1] + e.sg * B.m[4]);
    }
    return e;
}

struct ChosenFrames {
    std::vector<Link> links;
    std::vector<bellcrank::Place> placements;  // of each chosen frame in the described one
};

// Frames with z on the inboard axis and x on the common normal to the first outboard one, as J. Denavit and
// R. Hartenberg chose them; angle offsets go into sine and cosine. Where lengths are parameters rather than numbers,
// origins stay where they are described. `keep`: frames as described.
class Chooser {
  public:
    Chooser(Graph& graph, const std::vector<DescribedLink>& described, bool keep)
        : graph_(graph),
          described_(described),
          keep_(keep),
          first_child_(described.size(), -1),
          reach_(described.size(), 0.0) {
        for (size_t k = described.size(); k-- > 0;) {
            const DescribedLink& d = described[k];
            for (const DescribedLink::Part& part : d.parts) include(k, part.com);
            include(k, d.at.shift);
            if (d.parent < 0) continue;
            first_child_[d.parent] = static_cast<int>(k);
            include(d.parent, d.at.shift);
        }
    }

    ChosenFrames choose() {
        for (size_t k = 0; k < described_.size(); ++k) add(k);
        return std::move(out_);
    }

  private:
    void include(size_t k, const Vector& point) {
        if (const auto p = numbers_of(point)) reach_[k] = std::max(reach_[k], norm(*p));
    }

    // Joint frame in the parent's chosen frame, and the numbers of its offset where they are numbers.
    void add(size_t k) {
        const DescribedLink& d = described_[k];
        const bellcrank::Place above = d.parent < 0 ? bellcrank::Place{} : out_.placements[d.parent];
        const Mat3 B = transpose_times(above.rotation, d.at.rotation);
        Vector offset = d.at.shift - vector(graph_, above.shift);
        offset = matrix(graph_, transpose(above.rotation)) * offset;
        bellcrank::Place own;
        if (!keep_) {
            own.rotation = turned_frame(k);
            own.shift = shifted_frame(k, B, numbers_of(offset), norm(above.shift));
        }
        offset = offset + vector(graph_, B * own.shift);
        const double size = reach_[k] + norm(above.shift) + norm(own.shift);
        offset = {snapped(offset.x, size), snapped(offset.y, size), snapped(offset.z, size)};
        Link link{};
        link.parent = d.parent;
        link.offset = offset;
        link.motion = d.motion;
        set_motion(k, link, B, own);
        link.moments = moments(d, own, reach_[k] + norm(own.shift));
        out_.links.push_back(link);
        out_.placements.push_back(own);
    }

    void set_motion(size_t k, Link& link, const Mat3& B, const bellcrank::Place& own) {
        const DescribedLink& d = described_[k];
        if (d.motion == Motion::ball) {
            link.quaternion = {d.ball[0], d.ball[1], d.ball[2], d.ball[3]};
            link.rotation = rotation_matrix(link.quaternion);
            return;
        }
        EulerTurns e = euler_turns(B);
        const auto set = [&](int axis, double c, double s) {
            if (std::abs(s) > kRounding || c < 0.0) link.setting.push_back(number_turn(graph_, axis, c, s));
        };
        set(2, e.cg, e.sg);
        set(0, e.ca, e.sa);
        // δ and the choice of x lie behind the motion of a turn or slide about z.
        const double cb = own.rotation.m[0], sb = own.rotation.m[3];
        const double c = e.cd * cb - e.sd * sb, s = e.sd * cb + e.cd * sb;
        link.position = d.position;
        if (d.motion == Motion::turn) {
            const double offset = std::atan2(s, c);
            link.turn = variable_turn(d.position, offset);
            if (std::abs(offset) > kRounding) link.position = d.position + offset;
        } else {
            set(2, d.motion == Motion::general ? e.cd : c, d.motion == Motion::general ? e.sd : s);
            link.rotation = d.matrix;
            link.shift = d.shift;
            link.quaternion = d.swing;
        }
    }

    Turn variable_turn(Expression angle, double offset) const {
        const double quarters = offset / (0.5 * std::numbers::pi), whole = std::round(quarters);
        if (!(std::abs(quarters - whole) <= kRounding)) {
            const Expression total = angle + offset;
            return {2, cos(total), sin(total)};
        }
        const Expression c = cos(angle), s = sin(angle);
        switch ((static_cast<int>(std::remainder(whole, 4.0)) + 4) % 4) {
            case 1:
                return {2, -s, c};
            case 2:
                return {2, -c, -s};
            case 3:
                return {2, s, -c};
            default:
                return {2, c, s};
        }
    }

    // Turn about z that takes x to the common normal with the first outboard axis; without one, to the com. A ball
    // takes the axes of the first joint that it carries.
    Mat3 turned_frame(size_t k) const {
        const Mat3 same = about_z(1, 0);
        const DescribedLink& d = described_[k];
        if (d.motion == Motion::general) return same;
        if (d.motion == Motion::ball) return first_child_[k] >= 0 ? described_[first_child_[k]].at.rotation : same;
        Vec3 x{0, 0, 0};
        double size = reach_[k];
        if (first_child_[k] >= 0) {
            const DescribedLink& child = described_[first_child_[k]];
            const Vec3 axis{child.at.rotation.m[2], child.at.rotation.m[5], child.at.rotation.m[8]};
            const auto p = numbers_of(child.at.shift);
            const bool aligned = std::hypot(axis.x, axis.y) <= kRounding;
            if (child.motion != Motion::ball && !aligned) {
                x = {-axis.y, axis.x, 0.0};
                size = 1.0;
                if (p && dot(*p, x) < 0.0) x = -x;
            } else if (p) {
                x = *p;
                size = norm(*p);
            }
        } else if (const auto c = com_of(d)) {
            x = *c;
            size = norm(*c);
        }
        const double length = std::hypot(x.x, x.y);
        if (length <= kRounding * size || length == 0.0) return same;
        return about_z(snapped_cosine(x.x / length), snapped_cosine(x.y / length));
    }

    // Where the origin goes, in the described frame: along the axis of a turn, anywhere for a slide. `above`: how far
    // that of the parent went.
    Vec3 shifted_frame(size_t k, const Mat3& B, const std::optional<Vec3>& offset, double above) const {
        const DescribedLink& d = described_[k];
        if (!offset || d.motion == Motion::general || d.motion == Motion::ball) return {0, 0, 0};
        if (d.motion == Motion::slide) {
            const auto p = first_child_[k] >= 0 ? numbers_of(described_[first_child_[k]].at.shift) : com_of(d);
            return p ? *p : Vec3{0, 0, 0};
        }
        if (d.parent < 0) return {0, 0, 0};
        const Vec3 axis{B.m[2], B.m[5], B.m[8]};
        return {0, 0, cheapest_shift(*offset, axis, std::max(kFar * reach_[k], above))};
    }

    // Along a line, the point on a coordinate plane that has the fewest components: of two equal ones that at y = 0,
    // where the common normal with the parent's axis ends. It is no farther off than `farthest`.
    double cheapest_shift(const Vec3& p, const Vec3& axis, double farthest) const {
        const double component[3] = {p.x, p.y, p.z}, along[3] = {axis.x, axis.y, axis.z};
        const double size = 10.0 * (norm(p) + farthest / kFar);
        double best = 0.0;
        int fewest = components(p, size);
        for (const int i : {1, 0, 2}) {
            if (std::abs(component[i]) > farthest * std::abs(along[i]) || along[i] == 0.0) continue;
            const double shift = -component[i] / along[i];
            const int count = components(p + shift * axis, size);
            if (count >= fewest) continue;
            best = shift;
            fewest = count;
        }
        return best;
    }
    static int components(const Vec3& p, double size) {
        const auto nonzero = [&](double v) { return snapped(v, size) != 0.0 ? 1 : 0; };
        return nonzero(p.x) + nonzero(p.y) + nonzero(p.z);
    }

    // Mass, first and second moments in the chosen frame; `size`: how far from its origin things are.
    Moments moments(const DescribedLink& d, const bellcrank::Place& own, double size) const {
        const Matrix R = matrix(graph_, transpose(own.rotation));
        Moments sum{constant(graph_, 0.0), zero_vector(graph_), zero_symmetric(graph_)};
        for (const DescribedLink::Part& part : d.parts) {
            const Symmetric I = rotated(R, part.inertia);
            // ∫ r rᵀ about the com from the inertia tensor: ½ tr(I) − I.
            const Expression trace = half(I.xx() + I.yy() + I.zz());
            const Symmetric J{trace - I.xx(), trace - I.yy(), trace - I.zz(), -I.xy(), -I.xz(), -I.yz()};
            const Vector com = R * (part.com - vector(graph_, own.shift));
            sum += shifted(Moments{part.mass, zero_vector(graph_), J}, com);
        }
        clear_rounding(sum, size);
        return sum;
    }

    static void clear_rounding(Moments& m, double size) {
        const auto value = [](Expression e) {
            return e.graph->is_constant(e.ref) ? std::abs(e.graph->constant_value(e.ref)) : 0.0;
        };
        const double second = std::max({value(m.second.xx()), value(m.second.yy()), value(m.second.zz())});
        const double first = std::max({value(m.first.x), value(m.first.y), value(m.first.z), value(m.mass) * size});
        for (Expression* e : {&m.second.xy(), &m.second.xz(), &m.second.yz()}) *e = snapped(*e, second);
        for (Expression* e : {&m.first.x, &m.first.y, &m.first.z}) *e = snapped(*e, first);
    }

    // The com where it is numbers.
    std::optional<Vec3> com_of(const DescribedLink& d) const {
        double mass = 0.0;
        Vec3 first{0, 0, 0};
        for (const DescribedLink::Part& part : d.parts) {
            const auto c = numbers_of(part.com);
            if (!c || !part.mass.graph->is_constant(part.mass.ref)) return std::nullopt;
            const double m = part.mass.graph->constant_value(part.mass.ref);
            mass += m;
            first += m * *c;
        }
        if (mass <= 0.0) return std::nullopt;
        return (1.0 / mass) * first;
    }

    Graph& graph_;
    const std::vector<DescribedLink>& described_;
    bool keep_;
    std::vector<int> first_child_;
    std::vector<double> reach_;  // per link, how far its parent, children and coms are from its described origin
    ChosenFrames out_;
};

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

DescribedLink& TreeDescription::add_link(int parent, Motion motion, const Place& at) {
    DescribedLink link{};
    link.parent = parent;
    link.motion = motion;
    link.at = at;
    links.push_back(link);
    return links.back();
}

LinkTree TreeDescription::tree(bool keep) {
    LinkTree tree;
    tree.graph = &graph;
    tree.gravity = gravity;
    tree.symbols = symbols;
    ChosenFrames chosen = Chooser(graph, links, keep).choose();
    tree.links = std::move(chosen.links);
    placements_ = std::move(chosen.placements);
    AxisMaker axes(graph, tree);
    for (size_t k = 0; k < links.size(); ++k) axes.add(static_cast<int>(k), links[k]);
    lump(tree);
    return tree;
}

}  // namespace bellcrank::symbolic
