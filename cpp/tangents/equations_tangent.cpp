#include "tangents/equations_tangent.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "joints/pole.hpp"
#include "model/ports.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr std::string_view kLocks[] = {"x", "y", "z", "e1", "e2", "e3"};

static_assert(sizeof(Four) == kDirections * sizeof(double));

Four four_at(const double* changes) {
    Four out;
    std::memcpy(&out, changes, sizeof out);
    return out;
}

void add(std::vector<double>& to, size_t at, const Four& change) {
    double* place = &to[kDirections * at];
    const Four sum = four_at(place) + change;
    std::memcpy(place, &sum, sizeof sum);
}

void add(std::vector<double>& to, size_t at, const Dual4& change) { add(to, at, change.d); }

Vec3T<Dual4> along(const Vec3& value, const Vec3T<Four>& change) {
    return {{value.x, change.x}, {value.y, change.y}, {value.z, change.z}};
}
Vec3 value_in(const Vec3T<Dual4>& v) { return {v.x.value, v.y.value, v.z.value}; }

QuatT<Dual4> along(const Quat& q, const QuatT<Four>& change) {
    return {{q.w, change.w}, {q.x, change.x}, {q.y, change.y}, {q.z, change.z}};
}

// The change of a quaternion that turns by a rotation vector, in its outer axes: ½ θ q; in its own: ½ q θ.
QuatT<Four> turned_outside(const Vec3T<Four>& turn, const Quat& q) {
    const Vec3 v{q.x, q.y, q.z};
    const Vec3T<Four> part = 0.5 * (q.w * turn + cross(turn, v));
    return {-0.5 * (turn.x * v.x + turn.y * v.y + turn.z * v.z), part.x, part.y, part.z};
}
QuatT<Four> turned_inside(const Vec3T<Four>& turn, const Quat& q) {
    const Vec3 v{q.x, q.y, q.z};
    const Vec3T<Four> part = 0.5 * (q.w * turn - cross(turn, v));
    return {-0.5 * (turn.x * v.x + turn.y * v.y + turn.z * v.z), part.x, part.y, part.z};
}

Vec3T<Dual4> vector_at(const Dual4* p) { return {p[0], p[1], p[2]}; }

}  // namespace

EquationsTangent::EquationsTangent(const Model& model, const AngleBranches& branches, Contacts& contacts,
                                   const Without& without)
    : model_(model),
      branches_(branches),
      contacts_(contacts),
      terms_of_(model.coordinates.size()),
      laws_of_(model.coordinates.size()),
      locked_of_pair_(model.pairs.size()),
      others_of_pair_(model.pairs.size()),
      idle_of_pair_(model.pairs.size()),
      lock_(model.coordinates.size(), -1),
      formulas_(!model.formula_rows.empty() || !model.formula_forces.empty()),
      tension_(model.coordinates.size()),
      unit_numbers_(model) {
    for (size_t r = 0; r < model.rows.size(); ++r) {
        if (without.rows != nullptr && without.rows[r] != 0) continue;
        for (int t = model.rows[r].term_begin; t < model.rows[r].term_end; ++t)
            terms_of_[model.terms[t].coordinate].push_back({static_cast<int>(r), t});
    }
    for (size_t i = 0; i < model.laws.size(); ++i)
        if (without.laws == nullptr || without.laws[i] == 0)
            laws_of_[model.laws[i].coordinate].push_back(static_cast<int>(i));
    std::vector<char> used(model.coordinates.size(), 0);
    const auto use = [&](const FormulaEnds& ends) {
        for (const int c : ends.coordinates) used[c] = 1;
    };
    for (const FormulaRows& rows : model.formula_rows) use(rows.ends());
    for (const FormulaForce& force : model.formula_forces) use(force.ends());
    std::string lacking;
    const auto lacks = [&](const std::string& what) {
        if (lacking.find(what) == std::string::npos) lacking += (lacking.empty() ? "" : ", ") + what;
    };
    for (size_t c = 0; c < model.coordinates.size(); ++c) {
        const Coordinate& coordinate = model.coordinates[c];
        const auto lock = std::find(std::begin(kLocks), std::end(kLocks), coordinate.kind->name);
        if (lock != std::end(kLocks)) lock_[c] = static_cast<int>(lock - std::begin(kLocks));
        const bool idle = terms_of_[c].empty() && laws_of_[c].empty() && used[c] == 0;
        auto& list = idle ? idle_of_pair_ : lock_[c] >= 0 && laws_of_[c].empty() ? locked_of_pair_ : others_of_pair_;
        list[coordinate.pair].push_back(static_cast<int>(c));
        if (coordinate.kind->tangent == nullptr && !coordinate.of_formula())
            lacks("coordinates '" + coordinate.kind->name + "'");
    }
    if (std::ranges::any_of(model.contacts.groups, &ContactGroup::of_tyre)) lacks("tyres");
    if (!lacking.empty()) throw Refusal("derivatives are not implemented for " + lacking);
}

void EquationsTangent::along(const MotionPoint& at, const Directions& directions, const ModelTangent& numbers,
                             Changes& out) {
    out.loads.assign(out.of_loads ? kDirections * kTwist * (model_.bodies() + 1) : 0, 0.0);
    for (int level = 0; level < 3; ++level)
        out.rows[level].assign(out.of_rows[level] ? kDirections * model_.rows.size() : 0, 0.0);
    for (std::vector<double>& values : out.coordinates)
        values.assign(out.of_coordinates ? kDirections * model_.coordinates.size() : 0, 0.0);
    fixed_coefficients_ = !numbers.changes(NumberArray::term_coefficient);
    place_bodies(at, directions, numbers);
    if (out.of_loads) {
        add_inertia(at, numbers, out);
        if (at.applied) add_wrenches(numbers, out);
        if (at.applied) find_contacts(at), add_contacts(directions, numbers, out);
    }
    if (formulas_) add_formulas(at, numbers, out);
    add_pairs(at, numbers, out);
    add_rows(at, numbers, out);
}

// The state is that of points of the bodies: a centre of mass that moves by c in its body is at x + R c, and has its
// velocity and acceleration there.
void EquationsTangent::place_bodies(const MotionPoint& at, const Directions& d, const ModelTangent& numbers) {
    time_ = at.t;
    if (d.t != nullptr) time_.d = four_at(d.t);
    bodies_.resize(model_.bodies() + 1);
    changes_.assign(model_.bodies() + 1, BodyChange{});
    for (int b = 0; b <= model_.bodies(); ++b) {
        bodies_[b] = {pose_position(at.x, b), twist_linear(at.u, b),  twist_linear(at.udot, b),
                      pose_rotation(at.x, b), twist_angular(at.u, b), twist_angular(at.udot, b)};
        if (b == model_.ground()) continue;
        BodyChange& change = changes_[b];
        const auto take = [&](const double* records, Vec3T<Four>& linear, Vec3T<Four>& angular) {
            if (records == nullptr) return;
            const double* record = records + kDirections * kTwist * b;
            const auto part = [&](int k) { return four_at(record + kDirections * k); };
            linear = {part(0), part(1), part(2)};
            angular = {part(4), part(5), part(6)};
        };
        take(d.x, change.position, change.turn);
        take(d.u, change.velocity, change.omega);
        take(d.udot, change.acceleration, change.omega_dot);
        if (!numbers.moves_points()) continue;
        const MovingBody& body = bodies_[b];
        const Mat3 R = rotation_matrix(body.rotation);
        const Vec3T<Four> c = change_in(numbers.body(b).com);
        change.position += R * c;
        change.velocity += R * cross(body.omega, c);
        change.acceleration += R * (cross(body.omega_dot, c) + cross(body.omega, cross(body.omega, c)));
    }
}

MovingBodyT<Dual4> EquationsTangent::body_along(int body) const {
    const MovingBody& at = bodies_[body];
    const BodyChange& change = changes_[body];
    return {bellcrank::along(at.position, change.position),
            bellcrank::along(at.velocity, change.velocity),
            bellcrank::along(at.acceleration, change.acceleration),
            bellcrank::along(at.rotation, turned_inside(change.turn, at.rotation)),
            bellcrank::along(at.omega, change.omega),
            bellcrank::along(at.omega_dot, change.omega_dot)};
}

void EquationsTangent::add_load(int body, const ForceT<Four>& load, Changes& out) const {
    if (body == model_.ground() || !out.of_loads) return;
    const Four* const parts[] = {&load.f.x, &load.f.y, &load.f.z, &load.n.x, &load.n.y, &load.n.z};
    for (int i = 0; i < 6; ++i) add(out.loads, kTwist * body + kComponent[i], *parts[i]);
}

void EquationsTangent::add_load(int body, const ForceT<Dual4>& load, Changes& out) const {
    add_load(body, {change_in(load.n), change_in(load.f)}, out);
}

// m (g − v̇) and −(I ω̇ + ω × I ω).
void EquationsTangent::add_inertia(const MotionPoint& at, const ModelTangent& numbers, Changes& out) const {
    const Vec3T<Dual4> gravity = at.applied ? numbers.gravity() : Vec3T<Dual4>{0.0, 0.0, 0.0};
    for (int b = 0; b < model_.bodies(); ++b) {
        const MovingBody& body = bodies_[b];
        const BodyChange& change = changes_[b];
        const Vec3 I = model_.principal_inertia[b], &w = body.omega, spin{I.x * w.x, I.y * w.y, I.z * w.z};
        const auto times = [&I](const Vec3T<Four>& v) { return Vec3T<Four>{I.x * v.x, I.y * v.y, I.z * v.z}; };
        ForceT<Four> load{-(times(change.omega_dot) + cross(change.omega, spin) + cross(w, times(change.omega))),
                          model_.mass[b] * (change_in(gravity) - change.acceleration)};
        if (numbers.moves_points()) {
            const ModelTangent::Body& inertia = numbers.body(b);
            Mat3T<Four> more;
            for (int i = 0; i < 9; ++i) more.m[i] = inertia.inertia.m[i].d;
            load.n += -(more * body.omega_dot + cross(w, more * w));
            const Vec3 left = value_in(gravity) - body.acceleration;
            load.f += Vec3T<Four>{inertia.mass.d * left.x, inertia.mass.d * left.y, inertia.mass.d * left.z};
        }
        add_load(b, load, out);
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
        const MarkerMotionT<Dual4> m(body_along(w.body), marker.offset, marker.rotation);
        Vec3T<Dual4> moment = vector_at(value), force = vector_at(value + 3);
        if (w.local) {
            const Mat3T<Dual4> axes = rotation_matrix(m.rotation);
            moment = axes * moment;
            force = axes * force;
        }
        add_load(w.body, m.exerted(force, moment, marker.offset), out);
    }
}

void EquationsTangent::find_contacts(const MotionPoint& at) {
    if (contacts_.empty()) return;
    const size_t size = kTwist * (model_.bodies() + 1);
    static_assert(kTwist == kPose);
    const auto is = [&](const double* records, size_t from) {
        return std::equal(records, records + size, touched_at_.begin() + from);
    };
    const bool known = touched_at_.size() == 2 * size && is(at.x, 0) && is(at.u, size);
    if (known && revision_ == contacts_.revision()) return;
    touched_at_.assign(at.x, at.x + size);
    touched_at_.insert(touched_at_.end(), at.u, at.u + size);
    revision_ = contacts_.revision();
    contacts_.find_slopes(at.x, at.u, touching_);
    if (std::ranges::find(touching_, ContactSlopes::Kink::edge, &ContactSlopes::kink) != touching_.end())
        throw Refusal("derivatives are not implemented where touching surfaces end or bend, as at an edge");
}

// Shapes go with the points of bodies, whether the centre of mass moves in them or not.
void EquationsTangent::add_contacts(const Directions& d, const ModelTangent& numbers, Changes& out) const {
    const bool by_laws = numbers.changes(NumberArray::contact_laws);
    for (const ContactSlopes& c : touching_) {
        Vec3T<Four> force{}, place{};
        Four* const forces[] = {&force.x, &force.y, &force.z};
        Four* const places[] = {&place.x, &place.y, &place.z};
        for (int k = 0; k < ContactSlopes::kInputs; ++k) {
            const int body = k < ContactSlopes::kOfBody ? c.a : c.b, part = k % ContactSlopes::kOfBody;
            const double* const records = part < 6 ? d.x : d.u;
            if (records == nullptr || body == model_.ground()) continue;
            const Four change = four_at(records + kDirections * (kTwist * body + kComponent[part % 6]));
            for (int i = 0; i < 3; ++i) {
                *forces[i] += c.of_force[i][k] * change;
                *places[i] += c.of_position[i][k] * change;
            }
        }
        for (int k = 0; by_laws && k < kContactNumbers; ++k) {
            const Four change = numbers.values(NumberArray::contact_laws)[kContactNumbers * c.group + k].d;
            for (int i = 0; i < 3; ++i) *forces[i] += c.by_law[i][k] * change;
        }
        for (const auto& [body, sign] : {std::pair(c.a, 1.0), std::pair(c.b, -1.0)}) {
            if (body == model_.ground()) continue;
            const Mat3 R = rotation_matrix(bodies_[body].rotation);
            const Vec3 arm = c.position - bodies_[body].position, moment = transpose_times(R, cross(arm, c.force));
            const Vec3T<Four> change =
                transpose_times(R, cross(place - changes_[body].position, c.force) + cross(arm, force));
            add_load(body, {sign * (change - cross(changes_[body].turn, moment)), sign * force}, out);
        }
    }
}

EquationsTangent::Pair EquationsTangent::pair_motion(int number, const ModelTangent& numbers) const {
    const MarkerPair& pair = model_.pairs[number];
    const MovingBody both[2] = {bodies_[pair.body[0]], bodies_[pair.body[1]]};
    const BodyChange changes[2] = {changes_[pair.body[0]], changes_[pair.body[1]]};
    MarkerChange markers[2];
    if (numbers.moves_points())
        for (int s = 0; s < 2; ++s) {
            const MarkerPairT<Dual4>& moved = numbers.pair(number);
            markers[s].offset = change_in(moved.offset[s]);
            markers[s].turn = turn_in(moved.rotation[s]);
        }
    const PairMotionT<double> motion(pair, both[0], both[1]);
    return {motion, motion.acceleration(both[0], both[1]), change_of(motion, both, changes, markers)};
}

EquationsTangent::Along EquationsTangent::coordinate_along(int coordinate, const Pair& pair,
                                                           const ModelTangent& numbers) const {
    const RelativeMotion& m = pair.motion.relative;
    const PairChange& change = pair.change;
    return coordinate_along(coordinate,
                            {bellcrank::along(m.r, change.r), bellcrank::along(m.q, turned_outside(change.turn, m.q)),
                             bellcrank::along(m.rdot, change.rdot), bellcrank::along(m.omega, change.omega)},
                            {bellcrank::along(pair.acceleration.r, change.rddot),
                             bellcrank::along(pair.acceleration.omega, change.omega_dot)},
                            numbers, numbers.coordinate_params(coordinate));
}

EquationsTangent::Along EquationsTangent::coordinate_along(int coordinate, const RelativeMotionT<Dual4>& motion,
                                                           const RelativeRateT<Dual4>& acceleration,
                                                           const ModelTangent& numbers,
                                                           std::span<const Dual4> params) const {
    const Coordinate& c = model_.coordinates[coordinate];
    Along out;
    const int axis = c.kind->angular() ? turned_axis(*c.kind) : -1;
    if (c.of_formula()) {
        const FormulaJoint& joint = model_.formula_joints[c.formula()];
        const ParametricJoint::ValuesT<Dual4>& values = joint.joint.tangent(
            motion, search_start(joint, branches_).data(), numbers.values(NumberArray::formula_values));
        out.parts = c.kind == &kFormulaRow ? values.row[c.component()] : values.free[c.component()];
    } else if (axis >= 0) {
        Dual4 near[3];
        for (int i = 0; i < 3; ++i) near[i] = branches_.reference(coordinate - axis + i);
        c.kind->tangent(motion, std::span<const Dual4>(near), out.parts);
    } else {
        c.kind->tangent(motion, params, out.parts);
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
    std::fill(tension_.begin(), tension_.end(), Dual4(0.0));
    std::vector<MarkerMotionT<Dual4>> markers;
    std::vector<Along> coordinates;
    const auto prepare = [&](const FormulaEnds& ends, std::span<const ModelTangent::Marker> on) {
        markers.clear();
        coordinates.clear();
        for (size_t i = 0; i < on.size(); ++i)
            markers.emplace_back(body_along(ends.markers[i].body), on[i].offset, on[i].rotation);
        for (const int c : ends.coordinates)
            coordinates.push_back(coordinate_along(c, pair_motion(model_.coordinates[c].pair, numbers), numbers));
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
            const Dual4* const levels[] = {&found[r], &rate, &second};
            for (int i = 0; i < 3; ++i)
                if (out.of_rows[i]) add(out.rows[i], row, *levels[i]);
        }
    }
    if (!out.of_loads || !at.applied) return;
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

Dual4 EquationsTangent::tension_along(int coordinate, const Dual4& value, const Dual4& rate, const Dual4& second,
                                      const MotionPoint& at, const ModelTangent& numbers, Changes& out) const {
    Dual4 tension = formulas_ ? tension_[coordinate] : Dual4(0.0);
    const Dual4* const levels[] = {&value, &rate, &second};
    for (int i = 0; i < 3 && out.of_coordinates; ++i) add(out.coordinates[i], coordinate, *levels[i]);
    for (const Use& use : terms_of_[coordinate]) {
        const double coefficient = model_.terms[use.term].coefficient, multiplier = at.multipliers[use.row];
        tension.value += multiplier * coefficient;
        for (int i = 0; i < 3; ++i)
            if (out.of_rows[i]) add(out.rows[i], use.row, coefficient * levels[i]->d);
        if (fixed_coefficients_) continue;
        const Four change = numbers.values(NumberArray::term_coefficient)[use.term].d;
        tension.d += multiplier * change;
        for (int i = 0; i < 3; ++i)
            if (out.of_rows[i]) add(out.rows[i], use.row, change * levels[i]->value);
    }
    if (!out.of_loads || !at.applied) return tension;
    for (const int i : laws_of_[coordinate]) {
        const Law& law = model_.laws[i];
        tension += law.kind->tangent({value, rate, time_}, numbers.law_params(i), numbers.function_of(law));
    }
    return tension;
}

// What locks are made of: a component of r, or of v in q = (e0, v), with
//   v̇ = ½ V(ω),   v̈ = ½ V(ω̇) − ¼ |ω|² v,   V(ω) = e0 ω + ω × v,
// and the moment of tensions τ along v is ½ (e0 τ + v × τ) (joints/jet.hpp).
void EquationsTangent::add_locked(const Pair& pair, const std::vector<int>& coordinates, const MotionPoint& at,
                                  const ModelTangent& numbers, PairLoad& load, Changes& out) const {
    const RelativeMotion& m = pair.motion.relative;
    const PairChange& change = pair.change;
    const bool turns = std::any_of(coordinates.begin(), coordinates.end(), [&](int c) { return lock_[c] >= 3; });
    const Vec3 v{m.q.x, m.q.y, m.q.z}, &w = m.omega, &wdot = pair.acceleration.omega;
    Vec3T<Dual4> value, rate, second;
    QuatT<Four> dq{};
    if (turns) {
        dq = turned_outside(change.turn, m.q);
        const Vec3T<Four> dv{dq.x, dq.y, dq.z};
        const auto part = [&](const Vec3& s, const Vec3T<Four>& ds) {
            const Vec3T<Four> by_e0{dq.w * s.x, dq.w * s.y, dq.w * s.z};
            return bellcrank::along(0.5 * (m.q.w * s + cross(s, v)),
                                    0.5 * (by_e0 + m.q.w * ds + cross(ds, v) + cross(s, dv)));
        };
        const double square = 0.25 * dot(w, w);
        const Four by_square = 0.5 * (w.x * change.omega.x + w.y * change.omega.y + w.z * change.omega.z);
        value = bellcrank::along(v, dv);
        rate = part(w, change.omega);
        second = part(wdot, change.omega_dot);
        second += bellcrank::along(-square * v,
                                   -Vec3T<Four>{by_square * v.x, by_square * v.y, by_square * v.z} - square * dv);
    }
    const Vec3T<Dual4> r = bellcrank::along(m.r, change.r), rdot = bellcrank::along(m.rdot, change.rdot),
                       rddot = bellcrank::along(pair.acceleration.r, change.rddot);
    const auto part_of = [](const Vec3T<Dual4>& vector, int i) {
        return i == 0 ? vector.x : i == 1 ? vector.y : vector.z;
    };
    Dual4 along_v[3] = {0.0, 0.0, 0.0};
    for (const int c : coordinates) {
        const int i = lock_[c] % 3;
        const bool is_angle = lock_[c] >= 3;
        const Dual4 tension = tension_along(c, part_of(is_angle ? value : r, i), part_of(is_angle ? rate : rdot, i),
                                            part_of(is_angle ? second : rddot, i), at, numbers, out);
        (is_angle ? along_v : load.force)[i] += tension;
    }
    if (!turns) return;
    if (!out.of_loads) return;
    const Vec3T<Dual4> tau{along_v[0], along_v[1], along_v[2]};
    const Vec3T<Dual4> moment = 0.5 * (Dual4(m.q.w, dq.w) * tau + cross(value, tau));
    load.moment[0] += moment.x, load.moment[1] += moment.y, load.moment[2] += moment.z;
}

// What acts along coordinates: multipliers of rows, laws, formulas; and rows as sums of coordinates.
void EquationsTangent::add_pairs(const MotionPoint& at, const ModelTangent& numbers, Changes& out) {
    for (size_t p = 0; p < model_.pairs.size(); ++p) {
        const bool acts = !locked_of_pair_[p].empty() || !others_of_pair_[p].empty();
        if (!acts && (!out.of_coordinates || idle_of_pair_[p].empty())) continue;
        const Pair pair = pair_motion(static_cast<int>(p), numbers);
        PairLoad load;
        const auto add_other = [&](int coordinate) {
            const Along c = coordinate_along(coordinate, pair, numbers);
            const Dual4 tension = tension_along(coordinate, c.value, c.rate, c.second, at, numbers, out);
            load.force[0] += tension * c.parts.dr.x, load.force[1] += tension * c.parts.dr.y;
            load.force[2] += tension * c.parts.dr.z, load.moment[0] += tension * c.parts.domega.x;
            load.moment[1] += tension * c.parts.domega.y, load.moment[2] += tension * c.parts.domega.z;
        };
        if (!locked_of_pair_[p].empty()) add_locked(pair, locked_of_pair_[p], at, numbers, load, out);
        for (const int c : others_of_pair_[p]) add_other(c);
        if (out.of_coordinates)
            for (const int c : idle_of_pair_[p]) add_other(c);
        if (!acts || !out.of_loads) continue;
        const Vec3T<Dual4> force = vector_at(load.force), moment = vector_at(load.moment);
        ForceT<Four> on[2];
        exert_change(pair.motion, changes_[model_.pairs[p].body[0]], pair.change, value_in(force), value_in(moment),
                     change_in(force), change_in(moment), on);
        for (int s = 0; s < 2; ++s) add_load(model_.pairs[p].body[s], on[s], out);
    }
}

// − f(t) − constant, and the part of inertances.
void EquationsTangent::add_rows(const MotionPoint& at, const ModelTangent& numbers, Changes& out) const {
    for (size_t r = 0; r < model_.rows.size(); ++r) {
        if (const int function = model_.rows[r].function; function >= 0) {
            const FunctionValueT<Dual4> f =
                model_.functions[function].tangent(numbers.function_params(function), time_);
            const Dual4 levels[] = {-f.f, -f.d1, -f.d2};
            for (int i = 0; i < 3; ++i)
                if (out.of_rows[i]) add(out.rows[i], r, levels[i]);
        }
        const bool is_formula = model_.rows[r].term_begin == model_.rows[r].term_end;  // such rows have no constant
        if (out.of_rows[0] && !is_formula) add(out.rows[0], r, -numbers.values(NumberArray::row_constant)[r]);
    }
    if (!out.of_rows[2]) return;
    for (size_t b = 0; b < model_.blocks.size(); ++b)
        for (int r = model_.blocks[b].row_begin; r < model_.blocks[b].row_end; ++r)
            add(out.rows[2], r, at.multipliers[r] * numbers.values(NumberArray::block_compliance)[b]);
}

}  // namespace bellcrank
