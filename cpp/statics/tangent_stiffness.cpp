// What the tangent stiffness is put together from, and its products with vectors.
#include "statics/tangent_stiffness.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"
#include "tangents/marker_motion.hpp"

namespace bellcrank {

namespace {

std::vector<int> distinct_bodies(const Model& model, std::vector<int> bodies) {
    std::sort(bodies.begin(), bodies.end());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    std::erase(bodies, model.ground());
    return bodies;
}

// The bodies of a force or constraint given by formulas.
template <class Formula>
std::vector<int> bodies_of(const Model& model, const Formula& formula) {
    std::vector<int> bodies;
    for (const MarkerSymbols& m : formula.markers) bodies.push_back(m.body);
    for (const CoordinateSymbols& c : formula.coordinates)
        for (int b : model.pairs[model.coordinates[c.coordinate].pair].body) bodies.push_back(b);
    return distinct_bodies(model, bodies);
}

}  // namespace

TangentStiffness::TangentStiffness(const Model& model, const AngleBranches& branches, const Metric& metric,
                                   const Loads& loads, const RowMatrix& rows)
    : model_(model),
      branches_(branches),
      metric_(metric),
      loads_(loads),
      rows_(rows),
      rest_(kTwist * (model.bodies() + 1), 0.0),
      weight_(model.coordinates.size()),
      unsure_(model.coordinates.size()),
      coordinates_of_pair_(model.pairs.size()) {
    std::vector<std::uint8_t> used(model.coordinates.size(), 0);
    for (const Term& term : model.terms) used[term.coordinate] = 1;
    for (const Law& law : model.laws) used[law.coordinate] = 1;
    for (const ForceFormula& f : model.data().formulas.forces)
        for (const CoordinateSymbols& c : f.coordinates) used[c.coordinate] = 1;
    for (int b = 0; b < model.bodies(); ++b) couple({b});
    for (size_t c = 0; c < used.size(); ++c) {
        if (!used[c]) continue;
        const int pair = model.coordinates[c].pair;
        coordinates_of_pair_[pair].push_back(static_cast<int>(c));
        couple(distinct_bodies(model, {model.pairs[pair].body[0], model.pairs[pair].body[1]}));
    }
    for (size_t b = 0; b < model.blocks.size(); ++b)
        couple(distinct_bodies(model, model.bodies_of(static_cast<int>(b))));
    for (const ForceFormula& f : model.data().formulas.forces) {
        bodies_of_force_.push_back(bodies_of(model, f));
        couple(bodies_of_force_.back());
    }
    values_.assign(36 * blocks_.size(), 0.0);
    errors_ = values_;
}

void TangentStiffness::couple(const std::vector<int>& bodies) {
    for (int a : bodies)
        for (int b : bodies) {
            if (a < b || !index_.emplace(std::pair(a, b), static_cast<int>(blocks_.size())).second) continue;
            blocks_.push_back({a, b});
        }
}

void TangentStiffness::add(int body, int i, int other, int j, double h, double error) {
    const double unit = (i < 3 ? 1.0 : metric_.length(body)) * (j < 3 ? 1.0 : metric_.length(other));
    h /= unit;
    error = error / unit + rounding_ * std::abs(h);
    const auto place = [&](int at) {
        values_[at] += h;
        errors_[at] += error;
    };
    if (body >= other) place(36 * index_.at({body, other}) + 6 * i + j);
    if (other >= body) place(36 * index_.at({other, body}) + 6 * j + i);
}

void TangentStiffness::add_pair(const MarkerPair& pair, const PairMatrix& H, double factor, double error) {
    for (int s = 0; s < 2; ++s)
        for (int o = 0; o < 2; ++o) {
            const int a = pair.body[s], b = pair.body[o];
            if (a == model_.ground() || b == model_.ground() || a < b) continue;
            const int at = 36 * index_.at({a, b});
            const double la = metric_.length(a), lb = metric_.length(b);
            for (int i = 0; i < 6; ++i)
                for (int j = 0; j < 6; ++j) {
                    const double h = H[12 * (6 * s + i) + 6 * o + j] / ((i < 3 ? 1.0 : la) * (j < 3 ? 1.0 : lb));
                    values_[at + 6 * i + j] += factor * h;
                    errors_[at + 6 * i + j] += (error + rounding_ * std::abs(factor)) * std::abs(h);
                }
        }
}

// ∇φ ∇φᵀ
static PairMatrix square(const BodyCoordinate& c) {
    PairMatrix H;
    for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) H[12 * i + j] = c.J[i / 6][i % 6] * c.J[j / 6][j % 6];
    return H;
}

// ∇²V of a law is its stiffness −dτ/dφ along ∇φ; what its effort adds with ∇²φ is that of all coordinates.
void TangentStiffness::add_laws(const double* x) {
    BodyCoordinate c;
    for (const Law& law : model_.laws) {
        evaluate_coordinate(model_, branches_, law.coordinate, x, rest_.data(), c);
        weight_[law.coordinate] -= loads_.effort(law, c.value);
        const Loads::Slope slope = loads_.slope(law, c.value);
        if (slope.value == 0.0 && slope.error == 0.0) continue;
        add_pair(model_.pairs[model_.coordinates[law.coordinate].pair], square(c), -slope.value, slope.error);
    }
}

void TangentStiffness::evaluate_laws(std::span<const BodyCoordinate> along, std::span<const double> stiffness) {
    std::fill(values_.begin(), values_.end(), 0.0);
    for (size_t i = 0; i < stiffness.size(); ++i)
        if (stiffness[i] != 0.0)
            add_pair(model_.pairs[model_.coordinates[model_.laws[i].coordinate].pair], square(along[i]), stiffness[i],
                     0.0);
}

// Each coordinate by itself: what cancels between them is rounded all the same.
void TangentStiffness::add_coordinates(const double* x, const Eigen::VectorXd& lambda, double force) {
    for (size_t r = 0; r < model_.rows.size(); ++r) {
        const int row = rows_.storage_row(static_cast<int>(r));
        if (!rows_.held()[row]) continue;
        for (int k = model_.rows[r].term_begin; k < model_.rows[r].term_end; ++k) {
            const double factor = model_.terms[k].coefficient * rows_.scale(row);
            weight_[model_.terms[k].coordinate] -= factor * lambda[row];
            unsure_[model_.terms[k].coordinate] += std::abs(factor) * kRounding * force;
        }
    }
    for (size_t p = 0; p < coordinates_of_pair_.size(); ++p) {
        if (model_.pairs[p].body[0] == model_.pairs[p].body[1]) continue;
        bent_.clear();
        for (int c : coordinates_of_pair_[p])
            if (weight_[c] != 0.0 || unsure_[c] != 0.0) bent_.push_back(c);
        if (bent_.empty()) continue;
        curvature_.evaluate(model_, branches_, bent_, x, rest_.data());
        for (size_t i = 0; i < bent_.size(); ++i)
            add_pair(model_.pairs[p], curvature_.of[i], weight_[bent_[i]], unsure_[bent_[i]]);
    }
}

// In principal axes a force g = Rᵀ f of constant direction changes by g×φ with a rotation φ, and its moment s×g by
// s×(g×φ). One that turns with the body changes in world axes by R (φ×g).
void TangentStiffness::add_wrenches(double t, const double* x) {
    for (const Wrench& w : model_.wrenches) {
        double value[6];
        wrench_values(model_, w, t, value);
        const Mat3 R = rotation_matrix(pose_rotation(x, w.body));
        const Vec3 g = w.local ? rotation_matrix(w.rotation) * load(value + 3) : transpose_times(R, load(value + 3));
        for (int j = 0; j < 3; ++j) {
            const Vec3 turn{j == 0 ? 1.0 : 0.0, j == 1 ? 1.0 : 0.0, j == 2 ? 1.0 : 0.0};
            const Vec3 change = w.local ? R * cross(turn, g) : cross(w.offset, cross(g, turn));
            for (int i = 0; i < 3; ++i) add(w.body, (w.local ? 0 : 3) + i, w.body, 3 + j, -0.5 * component(change, i));
        }
    }
}

// C̈ at constant twists, without what time alone and in part adds, is the second derivative; by polarization.
void TangentStiffness::add_formula_rows(double t, const double* x, const Eigen::VectorXd& lambda) {
    FormulaRows::Values values;
    std::vector<double> u(rest_.size(), 0.0);
    for (size_t b = 0; b < model_.blocks.size(); ++b) {
        const int formula = model_.formula_of_block[b];
        if (formula < 0) continue;
        const FormulaRows& rows = model_.formula_rows[formula];
        const std::vector<int> bodies = bodies_of(model_, model_.data().formulas.constraints[formula]);
        const int first = model_.blocks[b].row_begin, n = 6 * static_cast<int>(bodies.size());
        const auto at = [&](int i) -> double& { return u[kTwist * bodies[i / 6] + kComponent[i % 6]]; };
        const auto sum = [&] {
            rows.evaluate({model_, branches_, t, x, u.data()}, values);
            double s = 0.0;
            for (int r = 0; r < rows.rows(); ++r) {
                const int row = rows_.storage_row(first + r);
                if (rows_.held()[row]) s -= lambda[row] * rows_.scale(row) * values.bias[r];
            }
            return s;
        };
        const double still = sum();
        const auto form = [&](int i, int j) {
            at(i) = at(j) = 1.0;
            const double ahead = sum();
            at(i) = at(j) = -1.0;
            const double back = sum();
            at(i) = at(j) = 0.0;
            return 0.5 * (ahead + back) - still;
        };
        std::vector<double> own(n);
        for (int i = 0; i < n; ++i) own[i] = form(i, i);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) {
                const double h = i == j ? 0.5 * own[i] : 0.5 * (form(i, j) - own[i] - own[j]);
                add(bodies[i / 6], i % 6, bodies[j / 6], j % 6, h);
            }
    }
}

void TangentStiffness::evaluate(double t, const double* x, const Eigen::VectorXd& lambda, double force) {
    for (std::vector<double>* v : {&values_, &errors_, &weight_, &unsure_}) std::fill(v->begin(), v->end(), 0.0);
    double reach = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) reach = std::max(reach, norm(pose_position(x, b)));
    rounding_ = kEpsilon * (8.0 + reach / metric_.extent());
    add_laws(x);
    add_formula_forces(t, x);
    add_coordinates(x, lambda, force);
    add_wrenches(t, x);
    add_formula_rows(t, x, lambda);
}

// How the force changes along the directions first, first + 1, … of its bodies, six each: per body six numbers, forces
// in world axes over moments in principal axes. Efforts change along ∇φ; what they add with ∇²φ is that of all
// coordinates.
void TangentStiffness::follow_formula_force(size_t formula, double t, const double* x, int first, Fours& out) const {
    const FormulaForce& force = model_.formula_forces[formula];
    const FormulaEnds& ends = force.ends();
    const std::vector<int>& bodies = bodies_of_force_[formula];
    out.assign(6 * bodies.size(), Four{});
    const auto place = [&](int body) {
        return static_cast<int>(std::ranges::lower_bound(bodies, body) - bodies.begin());
    };
    // Component i of a body's displacement.
    const auto moved = [&](int body, int i) {
        Dual4 by = 0.0;
        const int lane = body == model_.ground() ? -1 : 6 * place(body) + i - first;
        if (lane >= 0 && lane < kDirections) by.d[lane] = 1.0;
        return by;
    };
    std::vector<Dual4> in{t};
    const auto put = [&in](const Vec3T<Dual4>& v) { in.insert(in.end(), {v.x, v.y, v.z}); };
    std::vector<MarkerMotionT<Dual4>> markers;
    for (const FormulaMarker& m : ends.markers) {
        const auto by = [&](int i) { return moved(m.body, i); };
        const Vec3 p = pose_position(x, m.body);
        const Quat q = pose_rotation(x, m.body), &a = m.attitude;
        const QuatT<Dual4> turned =
            QuatT<Dual4>{q.w, q.x, q.y, q.z} * QuatT<Dual4>{1.0, 0.5 * by(3), 0.5 * by(4), 0.5 * by(5)};
        const MovingBodyT<Dual4> body{.position = {p.x + by(0), p.y + by(1), p.z + by(2)}, .rotation = turned};
        markers.emplace_back(body, Vec3T<Dual4>{m.offset.x, m.offset.y, m.offset.z}, QuatT<Dual4>{a.w, a.x, a.y, a.z});
        const MarkerMotionT<Dual4>& marker = markers.back();
        put(marker.position);
        in.insert(in.end(), {marker.rotation.w, marker.rotation.x, marker.rotation.y, marker.rotation.z});
        put({}), put({});
    }
    std::vector<BodyCoordinate> coordinates(ends.coordinates.size());
    for (size_t c = 0; c < coordinates.size(); ++c) {
        evaluate_coordinate(model_, branches_, ends.coordinates[c], x, rest_.data(), coordinates[c]);
        Dual4 value = coordinates[c].value;
        const MarkerPair& pair = model_.pairs[model_.coordinates[ends.coordinates[c]].pair];
        for (int s = 0; s < 2; ++s)
            for (int i = 0; i < 6; ++i) value += coordinates[c].J[s][i] * moved(pair.body[s], i);
        in.insert(in.end(), {value, 0.0});
    }
    in.insert(in.end(), ends.parameters.begin(), ends.parameters.end());
    const Dual4* found = force.program().tangent(in).data();
    const auto add = [&](int body, int i, const Four& change) {
        if (body != model_.ground()) out[6 * place(body) + i] += change;
    };
    for (size_t k = 0; k < markers.size(); ++k, found += 6) {
        const Vec3& o = ends.markers[k].offset;
        const ForceT<Dual4> on =
            markers[k].exerted({found[0], found[1], found[2]}, {found[3], found[4], found[5]}, {o.x, o.y, o.z});
        const Dual4* const parts[] = {&on.f.x, &on.f.y, &on.f.z, &on.n.x, &on.n.y, &on.n.z};
        for (int i = 0; i < 6; ++i) add(ends.markers[k].body, i, parts[i]->d);
    }
    for (size_t c = 0; c < coordinates.size(); ++c, ++found) {
        const MarkerPair& pair = model_.pairs[model_.coordinates[ends.coordinates[c]].pair];
        for (int s = 0; s < 2; ++s)
            for (int i = 0; i < 6; ++i) add(pair.body[s], i, coordinates[c].J[s][i] * found->d);
    }
}

// An error is a second difference, as that of the slope of a law.
void TangentStiffness::add_formula_forces(double t, const double* x) {
    Fours here, ahead, back;
    for (size_t f = 0; f < model_.formula_forces.size(); ++f) {
        const FormulaEnds& ends = model_.formula_forces[f].ends();
        const double* efforts =
            model_.formula_forces[f].evaluate({model_, branches_, t, x, rest_.data()}) + 6 * ends.markers.size();
        for (const int c : ends.coordinates) weight_[c] -= *efforts++;
        const std::vector<int>& bodies = bodies_of_force_[f];
        const auto beside = [&](double by) {
            std::vector<double> moved(x, x + kPose * (model_.bodies() + 1));
            for (const int b : bodies) {
                const double shift = by * metric_.length(b);
                store(&moved[kPose * b], pose_position(x, b) + Vec3{shift, -0.7 * shift, 0.4 * shift});
                store(&moved[kPose * b + 4], advanced(pose_rotation(x, b), {by, 0.7 * by, -0.4 * by}));
            }
            return moved;
        };
        const std::vector<double> one = beside(kBeside), other = beside(-kBeside);
        for (int first = 0; first < static_cast<int>(6 * bodies.size()); first += kDirections) {
            follow_formula_force(f, t, x, first, here);
            follow_formula_force(f, t, one.data(), first, ahead);
            follow_formula_force(f, t, other.data(), first, back);
            for (size_t i = 0; i < here.size(); ++i)
                for (int k = 0; k < kDirections && first + k < static_cast<int>(here.size()); ++k)
                    add(bodies[i / 6], i % 6, bodies[(first + k) / 6], (first + k) % 6, -0.5 * here[i][k],
                        0.5 * std::abs(ahead[i][k] - 2.0 * here[i][k] + back[i][k]));
        }
    }
}

double TangentStiffness::largest() const {
    double largest = 0.0;
    for (double v : values_) largest = std::max(largest, std::abs(v));
    return largest;
}

void TangentStiffness::multiply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
    using Six = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
    out.setZero(v.size());
    for (size_t k = 0; k < blocks_.size(); ++k) {
        const Eigen::Map<const Six> block(&values_[36 * k]);
        const int a = 6 * blocks_[k].row, b = 6 * blocks_[k].column;
        out.segment<6>(a) += block * v.segment<6>(b);
        if (a != b) out.segment<6>(b) += block.transpose() * v.segment<6>(a);
    }
}

double TangentStiffness::error_of_form(const Eigen::VectorXd& v) const {
    double sum = 0.0;
    for (size_t k = 0; k < blocks_.size(); ++k)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                sum += (blocks_[k].row == blocks_[k].column ? 1.0 : 2.0) *
                       std::abs(v[6 * blocks_[k].row + i] * v[6 * blocks_[k].column + j]) * errors_[36 * k + 6 * i + j];
    return sum;
}

}  // namespace bellcrank
