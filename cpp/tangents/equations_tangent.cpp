#include "tangents/equations_tangent.hpp"

#include <algorithm>
#include <string>

#include "joints/pole.hpp"
#include "model/ports.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

Vec3T<Dual4> vector_along(const double* values, const double* changes) {
    Vec3T<Dual4> out{values[0], values[1], values[2]};
    if (changes == nullptr) return out;
    Dual4* const parts[] = {&out.x, &out.y, &out.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < kDirections; ++k) parts[i]->d[k] = changes[kDirections * i + k];
    return out;
}

// A quaternion that turns by a rotation vector in its own axes: δq = ½ q θ.
QuatT<Dual4> turned(const Quat& q, const double* changes) {
    QuatT<Dual4> out{q.w, q.x, q.y, q.z};
    if (changes == nullptr) return out;
    for (int k = 0; k < kDirections; ++k) {
        const Quat change =
            q * Quat{0.0, 0.5 * changes[k], 0.5 * changes[kDirections + k], 0.5 * changes[2 * kDirections + k]};
        out.w.d[k] = change.w, out.x.d[k] = change.x, out.y.d[k] = change.y, out.z.d[k] = change.z;
    }
    return out;
}

void add(std::vector<double>& to, size_t at, const Dual4& change) {
    for (int k = 0; k < kDirections; ++k) to[kDirections * at + k] += change.d[k];
}

Vec3T<Dual4> vector_at(const Dual4* p) { return {p[0], p[1], p[2]}; }

}  // namespace

EquationsTangent::EquationsTangent(const Model& model, const AngleBranches& branches)
    : model_(model),
      branches_(branches),
      terms_of_(model.coordinates.size()),
      laws_of_(model.coordinates.size()),
      coordinates_of_pair_(model.pairs.size()),
      tension_(model.coordinates.size()),
      unit_numbers_(model) {
    std::string lacking;
    const auto lacks = [&](const std::string& what) {
        if (lacking.find(what) == std::string::npos) lacking += (lacking.empty() ? "" : ", ") + what;
    };
    for (size_t c = 0; c < model.coordinates.size(); ++c) {
        coordinates_of_pair_[model.coordinates[c].pair].push_back(static_cast<int>(c));
        if (model.coordinates[c].kind->tangent == nullptr)
            lacks("coordinates '" + model.coordinates[c].kind->name + "'");
    }
    for (size_t r = 0; r < model.rows.size(); ++r)
        for (int t = model.rows[r].term_begin; t < model.rows[r].term_end; ++t)
            terms_of_[model.terms[t].coordinate].push_back({static_cast<int>(r), t});
    for (size_t i = 0; i < model.laws.size(); ++i) laws_of_[model.laws[i].coordinate].push_back(static_cast<int>(i));
    if (!model.contacts.empty()) lacks("contacts");
    if (!lacking.empty()) throw Refusal("derivatives are not implemented for " + lacking);
}

void EquationsTangent::along(const MotionPoint& at, const Directions& directions, const ModelTangent& numbers,
                             Changes& out) {
    out.loads.assign(kDirections * kTwist * (model_.bodies() + 1), 0.0);
    for (std::vector<double>& rows : out.rows) rows.assign(kDirections * model_.rows.size(), 0.0);
    for (std::vector<double>& values : out.coordinates) values.assign(kDirections * model_.coordinates.size(), 0.0);
    std::fill(tension_.begin(), tension_.end(), Dual4(0.0));
    place_bodies(at, directions, numbers);
    add_inertia(numbers, out);
    add_wrenches(numbers, out);
    add_formulas(at, numbers, out);
    add_pairs(at, numbers, out);
    add_rows(at, numbers, out);
}

// The state is that of points of the bodies: a centre of mass that moves by c in its body is at x + R c, and has its
// velocity and acceleration there.
void EquationsTangent::place_bodies(const MotionPoint& at, const Directions& d, const ModelTangent& numbers) {
    time_ = at.t;
    for (int k = 0; k < kDirections; ++k) time_.d[k] = d.t == nullptr ? 0.0 : d.t[k];
    bodies_.resize(model_.bodies() + 1);
    for (int b = 0; b <= model_.bodies(); ++b) {
        const auto part = [&](const double* records, int component) {
            return records == nullptr || b == model_.ground() ? nullptr
                                                              : records + kDirections * (kTwist * b + component);
        };
        MovingBodyT<Dual4>& body = bodies_[b];
        body.position = vector_along(at.x + kPose * b, part(d.x, 0));
        body.rotation = turned(pose_rotation(at.x, b), part(d.x, 4));
        body.velocity = vector_along(at.u + kTwist * b, part(d.u, 0));
        body.omega = vector_along(at.u + kTwist * b + 4, part(d.u, 4));
        body.acceleration = vector_along(at.udot + kTwist * b, part(d.udot, 0));
        body.omega_dot = vector_along(at.udot + kTwist * b + 4, part(d.udot, 4));
        if (b == model_.ground() || !numbers.moves_points()) continue;
        const MarkerMotionT<Dual4> moved(body, numbers.body(b).com, {1.0, 0.0, 0.0, 0.0});
        body.position = moved.position;
        body.velocity = moved.velocity;
        body.acceleration = moved.acceleration;
    }
}

void EquationsTangent::add_load(int body, const ForceT<Dual4>& load, Changes& out) const {
    if (body == model_.ground()) return;
    const Dual4* const parts[] = {&load.f.x, &load.f.y, &load.f.z, &load.n.x, &load.n.y, &load.n.z};
    for (int i = 0; i < 6; ++i) add(out.loads, kTwist * body + kComponent[i], *parts[i]);
}

// m (g − v̇) and −(I ω̇ + ω × I ω).
void EquationsTangent::add_inertia(const ModelTangent& numbers, Changes& out) const {
    const Vec3T<Dual4> gravity = numbers.gravity();
    for (int b = 0; b < model_.bodies(); ++b) {
        const MovingBodyT<Dual4>& body = bodies_[b];
        const ModelTangent::Body& inertia = numbers.body(b);
        add_load(b,
                 {-(inertia.inertia * body.omega_dot + cross(body.omega, inertia.inertia * body.omega)),
                  inertia.mass * (gravity - body.acceleration)},
                 out);
    }
}

void EquationsTangent::add_wrenches(const ModelTangent& numbers, Changes& out) const {
    for (size_t i = 0; i < model_.wrenches.size(); ++i) {
        const Wrench& w = model_.wrenches[i];
        Dual4 value[6];
        for (int k = 0; k < 6; ++k) {
            value[k] = numbers.values(NumberArray::wrench_constant)[6 * i + k];
            if (w.function[k] >= 0)
                value[k] += model_.functions[w.function[k]].tangent(numbers.function_params(w.function[k]), time_).f;
        }
        const ModelTangent::Marker& marker = numbers.wrench(static_cast<int>(i));
        const MarkerMotionT<Dual4> m(bodies_[w.body], marker.offset, marker.rotation);
        Vec3T<Dual4> moment = vector_at(value), force = vector_at(value + 3);
        if (w.local) {
            const Mat3T<Dual4> axes = rotation_matrix(m.rotation);
            moment = axes * moment;
            force = axes * force;
        }
        add_load(w.body, m.exerted(force, moment, marker.offset), out);
    }
}

EquationsTangent::Pair EquationsTangent::pair_motion(int pair, const ModelTangent& numbers) const {
    const MarkerPairT<Dual4>& markers = numbers.pair(pair);
    const MovingBodyT<Dual4>&one = bodies_[markers.body[0]], &two = bodies_[markers.body[1]];
    const PairMotionT<Dual4> motion(markers, one, two);
    return {motion, motion.acceleration(one, two)};
}

EquationsTangent::Along EquationsTangent::coordinate_along(int coordinate, const RelativeMotionT<Dual4>& motion,
                                                           const RelativeRateT<Dual4>& acceleration,
                                                           const ModelTangent& numbers) const {
    const Coordinate& c = model_.coordinates[coordinate];
    Along out;
    const int axis = c.kind->angular() ? turned_axis(*c.kind) : -1;
    if (axis >= 0) {
        Dual4 near[3];
        for (int i = 0; i < 3; ++i) near[i] = branches_.reference(coordinate - axis + i);
        c.kind->tangent(motion, std::span<const Dual4>(near), out.parts);
    } else {
        c.kind->tangent(motion, numbers.coordinate_params(coordinate), out.parts);
        if (c.kind->angular()) out.parts.value.value = branches_.nearest(coordinate, out.parts.value.value);
    }
    out.value = out.parts.value;
    out.rate = dot(out.parts.dr, motion.rdot) + dot(out.parts.domega, motion.omega);
    out.second = dot(out.parts.dr, acceleration.r) + dot(out.parts.domega, acceleration.omega) + out.parts.quadratic;
    return out;
}

// In the order of inputs that model/formulas.hpp says.
const Dual4* EquationsTangent::run_formula(const CompiledProgram& program, const FormulaEnds& ends,
                                           const std::vector<MarkerMotionT<Dual4>>& markers,
                                           const std::vector<Along>& coordinates, const ModelTangent& numbers) {
    program_in_.assign(1, time_);
    const auto put = [this](const Vec3T<Dual4>& v) { program_in_.insert(program_in_.end(), {v.x, v.y, v.z}); };
    for (const MarkerMotionT<Dual4>& m : markers) {
        put(m.position);
        program_in_.insert(program_in_.end(), {m.rotation.w, m.rotation.x, m.rotation.y, m.rotation.z});
        put(m.velocity);
        put(m.omega);
    }
    for (const Along& c : coordinates) program_in_.insert(program_in_.end(), {c.value, c.rate});
    const std::span<const Dual4> values = numbers.values(NumberArray::formula_values);
    program_in_.insert(program_in_.end(), values.begin(), values.begin() + ends.parameters.size());
    return program.tangent(program_in_).data();
}

void EquationsTangent::add_formulas(const MotionPoint& at, const ModelTangent& numbers, Changes& out) {
    std::vector<MarkerMotionT<Dual4>> markers;
    std::vector<Along> coordinates;
    const auto prepare = [&](const FormulaEnds& ends, std::span<const ModelTangent::Marker> on) {
        markers.clear();
        coordinates.clear();
        for (size_t i = 0; i < on.size(); ++i)
            markers.emplace_back(bodies_[ends.markers[i].body], on[i].offset, on[i].rotation);
        for (const int c : ends.coordinates) {
            const Pair pair = pair_motion(model_.coordinates[c].pair, numbers);
            coordinates.push_back(coordinate_along(c, pair.motion.relative, pair.acceleration, numbers));
        }
    };
    // C, Ċ without motion, what velocity adds to C̈, then the gradients of each row.
    for (size_t b = 0; b < model_.blocks.size(); ++b) {
        const int formula = model_.formula_of_block[b];
        if (formula < 0) continue;
        const FormulaRows& rows = model_.formula_rows[formula];
        const FormulaEnds& ends = rows.ends();
        const std::span<const ModelTangent::Marker> on = numbers.markers_of_rows(formula);
        prepare(ends, on);
        const Dual4* found = run_formula(rows.program(), ends, markers, coordinates, numbers);
        const Dual4* gradient = found + 3 * rows.rows();
        for (int r = 0; r < rows.rows(); ++r) {
            const int row = model_.blocks[b].row_begin + r;
            const double multiplier = at.multipliers[row];
            Dual4 rate = found[rows.rows() + r], second = found[2 * rows.rows() + r];
            for (size_t i = 0; i < markers.size(); ++i, gradient += 6) {
                const Vec3T<Dual4> g = vector_at(gradient), h = vector_at(gradient + 3);
                rate += dot(g, markers[i].velocity) + dot(h, markers[i].omega);
                second += dot(g, markers[i].acceleration) + dot(h, markers[i].omega_dot);
                add_load(ends.markers[i].body, markers[i].exerted(multiplier * g, multiplier * h, on[i].offset), out);
            }
            for (size_t i = 0; i < coordinates.size(); ++i, ++gradient) {
                rate += *gradient * coordinates[i].rate;
                second += *gradient * coordinates[i].second;
                tension_[ends.coordinates[i]] += multiplier * *gradient;
            }
            add(out.rows[0], row, found[r]);
            add(out.rows[1], row, rate);
            add(out.rows[2], row, second);
        }
    }
    // Force and moment of each marker, then efforts.
    for (size_t f = 0; f < model_.formula_forces.size(); ++f) {
        const FormulaEnds& ends = model_.formula_forces[f].ends();
        const std::span<const ModelTangent::Marker> on = numbers.markers_of_force(static_cast<int>(f));
        prepare(ends, on);
        const Dual4* found = run_formula(model_.formula_forces[f].program(), ends, markers, coordinates, numbers);
        for (size_t i = 0; i < markers.size(); ++i, found += 6)
            add_load(ends.markers[i].body, markers[i].exerted(vector_at(found), vector_at(found + 3), on[i].offset),
                     out);
        for (const int c : ends.coordinates) tension_[c] += *found++;
    }
}

// What acts along coordinates: multipliers of rows, laws, formulas; and rows as sums of coordinates.
void EquationsTangent::add_pairs(const MotionPoint& at, const ModelTangent& numbers, Changes& out) {
    const std::span<const Dual4> coefficients = numbers.values(NumberArray::term_coefficient);
    for (size_t p = 0; p < model_.pairs.size(); ++p) {
        if (coordinates_of_pair_[p].empty()) continue;
        const Pair pair = pair_motion(static_cast<int>(p), numbers);
        Vec3T<Dual4> force{0.0, 0.0, 0.0}, moment{0.0, 0.0, 0.0};
        for (const int coordinate : coordinates_of_pair_[p]) {
            const Along c = coordinate_along(coordinate, pair.motion.relative, pair.acceleration, numbers);
            Dual4 tension = tension_[coordinate];
            for (const Use& use : terms_of_[coordinate]) {
                const Dual4 coefficient = coefficients[use.term];
                tension += at.multipliers[use.row] * coefficient;
                add(out.rows[0], use.row, coefficient * c.value);
                add(out.rows[1], use.row, coefficient * c.rate);
                add(out.rows[2], use.row, coefficient * c.second);
            }
            for (const int i : laws_of_[coordinate]) {
                const Law& law = model_.laws[i];
                tension += law.kind->tangent({c.value, c.rate, time_}, numbers.law_params(i), numbers.function_of(law));
            }
            force += tension * c.parts.dr;
            moment += tension * c.parts.domega;
            add(out.coordinates[0], coordinate, c.value);
            add(out.coordinates[1], coordinate, c.rate);
            add(out.coordinates[2], coordinate, c.second);
        }
        ForceT<Dual4> on[2];
        pair.motion.exert(force, moment, on);
        for (int s = 0; s < 2; ++s) add_load(model_.pairs[p].body[s], on[s], out);
    }
}

// − f(t) − constant, and the part of inertances.
void EquationsTangent::add_rows(const MotionPoint& at, const ModelTangent& numbers, Changes& out) const {
    for (size_t r = 0; r < model_.rows.size(); ++r) {
        if (const int function = model_.rows[r].function; function >= 0) {
            const FunctionValueT<Dual4> f =
                model_.functions[function].tangent(numbers.function_params(function), time_);
            add(out.rows[0], r, -f.f);
            add(out.rows[1], r, -f.d1);
            add(out.rows[2], r, -f.d2);
        }
        add(out.rows[0], r, -numbers.values(NumberArray::row_constant)[r]);
    }
    for (size_t b = 0; b < model_.blocks.size(); ++b)
        for (int r = model_.blocks[b].row_begin; r < model_.blocks[b].row_end; ++r)
            add(out.rows[2], r, at.multipliers[r] * numbers.values(NumberArray::block_compliance)[b]);
}

}  // namespace bellcrank
