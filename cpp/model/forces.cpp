#include "model/forces.hpp"

#include <algorithm>
#include <limits>

#include "joints/pair_motion.hpp"
#include "model/beam_forces.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

void add(double* record, const Vec3& force, const Vec3& moment) {
    add(record, force);
    add(record + 4, moment);
}

// m g and, in principal axes, −ω × Iω (Euler).
void add_gravity_and_gyroscopic(const Model& model, const double* u, double* force) {
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3 w = twist_angular(u, b), I = model.principal_inertia[b];
        double* f = force + kTwist * b;
        const double m = model.mass[b];
        f[0] = m * model.gravity.x;
        f[1] = m * model.gravity.y;
        f[2] = m * model.gravity.z;
        f[3] = 0.0;
        f[4] = (I.y - I.z) * w.y * w.z;
        f[5] = (I.z - I.x) * w.z * w.x;
        f[6] = (I.x - I.y) * w.x * w.y;
        f[7] = 0.0;
    }
}

const Function* function_of(const Model& model, const Law& law) {
    return law.function < 0 ? nullptr : &model.functions[law.function];
}

MovingBody moving(const double* x, const double* u, int body) {
    return {pose_position(x, body), twist_linear(u, body), {}, pose_rotation(x, body), twist_angular(u, body), {}};
}

void add_wrench(const Model& model, const Wrench& w, double t, const double* x, double* force) {
    double value[6];
    for (int k = 0; k < 6; ++k) value[k] = wrench_component(model, w, k, t);
    Vec3 moment{value[0], value[1], value[2]}, f{value[3], value[4], value[5]};
    const Mat3 R = rotation_matrix(pose_rotation(x, w.body));
    if (w.local) {
        const Mat3 A = rotation_matrix(w.rotation);
        moment = A * moment;
        const Vec3 local_force = A * f;
        add(force + kTwist * w.body, R * local_force, moment + cross(w.offset, local_force));
    } else {
        add(force + kTwist * w.body, f, transpose_times(R, moment) + cross(w.offset, transpose_times(R, f)));
    }
}

}  // namespace

// Generalized force Σ τ ∇φ of laws whose motion is found once.
size_t add_laws(const Model& model, const AngleBranches& branches, size_t first, double t, const double* x,
                const double* u, double* force, const std::uint8_t* left_out) {
    const int number = model.coordinates[model.laws[first].coordinate].pair;
    const MarkerPair& pair = model.pairs[number];
    const PairMotionT<double> motion(pair, moving(x, u, pair.body[0]), moving(x, u, pair.body[1]));
    const RelativeMotion& relative = motion.relative;
    CoordinateValue c;
    Vec3 along{0.0, 0.0, 0.0}, about = along;
    size_t i = first;
    for (; i < model.laws.size(); ++i) {
        const Law& law = model.laws[i];
        const bool is_other = i > first && model.beams->begins(i, left_out);
        if (model.coordinates[law.coordinate].pair != number || is_other) break;
        if (left_out != nullptr && left_out[i] != 0) continue;
        evaluate_along(model, branches, law.coordinate, relative, c);
        const double rate = dot(c.dr, relative.rdot) + dot(c.domega, relative.omega);
        const AngleBranches::Friction& friction = branches.friction(law.friction);
        const double effort =
            law.kind->effort({c.value, rate, t, friction.sense, friction.load}, law.params, function_of(model, law));
        along += effort * c.dr;
        about += effort * c.domega;
    }
    Load on[2];
    motion.exert(along, about, on);
    for (int s = 0; s < 2; ++s)
        if (pair.body[s] != model.ground()) add(force + kTwist * pair.body[s], on[s].f, on[s].n);
    return i;
}

void applied_forces(const Model& model, const AngleBranches& branches, Contacts& contacts, double t, const double* x,
                    const double* u, double* force, const std::uint8_t* left_out) {
    add_gravity_and_gyroscopic(model, u, force);
    double* ground = force + kTwist * model.ground();
    for (int k = 0; k < kTwist; ++k) ground[k] = 0.0;
    add_element_forces(model, branches, contacts, t, x, u, force, left_out);
}

bool has_element_forces(const Model& model) {
    return !model.laws.empty() || !model.wrenches.empty() || !model.formula_forces.empty() || !model.contacts.empty();
}

void add_element_forces(const Model& model, const AngleBranches& branches, Contacts& contacts, double t,
                        const double* x, const double* u, double* force, const std::uint8_t* left_out) {
    for (size_t i = 0; i < model.laws.size();)
        if (model.beams->begins(i, left_out))
            i += kLawsOfSegment;
        else if (left_out != nullptr && left_out[i] != 0)
            ++i;
        else
            i = add_laws(model, branches, i, t, x, u, force, left_out);
    model.beams->add(x, u, left_out, force);
    for (const Wrench& wrench : model.wrenches) add_wrench(model, wrench, t, x, force);
    for (const FormulaForce& f : model.formula_forces) f.add({model, branches, t, x, u}, force);
    if (!contacts.empty()) contacts.add_forces(x, u, force);
}

LawSlopes law_slopes(const Model& model, const Law& law, const LawInput<double>& at, std::vector<Dual4>& room) {
    LawInput<Dual4> in{at.value, at.rate, at.time, at.sense, at.load};
    in.value.d[0] = in.rate.d[1] = in.time.d[2] = 1.0;
    room.assign(law.params.begin(), law.params.end());
    const Dual4 effort = law.kind->tangent(in, room, LawFunction<Dual4>(function_of(model, law)));
    return {effort.d[0], effort.d[1], effort.d[2]};
}

double law_effort(const Scenery& at, const Law& law) {
    const CoordinateMotion c = coordinate_motion(at.model, at.branches, law.coordinate, at.x, at.u);
    const AngleBranches::Friction& friction = at.branches.friction(law.friction);
    return law.kind->effort({c.value, c.rate, at.t, friction.sense, friction.load}, law.params,
                            function_of(at.model, law));
}

int number_of(const Model& model, const Law& law) { return static_cast<int>(&law - model.laws.data()); }

double law_potential(const Scenery& at, const Law& law) {
    if (law.kind->potential == nullptr) return 0.0;
    const CoordinateMotion c = coordinate_motion(at.model, at.branches, law.coordinate, at.x, at.u);
    return law.kind->potential(c.value, law.params, function_of(at.model, law));
}

double wrench_component(const Model& model, const Wrench& w, int component, double t) {
    const int function = w.function[component];
    return w.constant[component] + (function < 0 ? 0.0 : model.functions[function](t).f);
}

Energy inertial_energy(const Model& model, const AngleBranches& branches, const double* x, const double* u) {
    Energy e{0.0, 0.0};
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3 v = twist_linear(u, b), w = twist_angular(u, b), I = model.principal_inertia[b];
        e.kinetic += 0.5 * (model.mass[b] * dot(v, v) + I.x * w.x * w.x + I.y * w.y * w.y + I.z * w.z * w.z);
        e.potential -= model.mass[b] * dot(model.gravity, pose_position(x, b));
    }
    for (const Block& block : model.blocks) {
        if (block.compliance <= 0.0) continue;
        for (int r = block.row_begin; r < block.row_end; ++r) {
            double rate = 0.0;
            for (int k = model.rows[r].term_begin; k < model.rows[r].term_end; ++k)
                rate += model.terms[k].coefficient *
                        coordinate_motion(model, branches, model.terms[k].coordinate, x, u).rate;
            e.kinetic += 0.5 * rate * rate / block.compliance;
        }
    }
    return e;
}

Energy energy(const Model& model, const AngleBranches& branches, Contacts& contacts, double t, const double* x,
              const double* u) {
    Energy e = inertial_energy(model, branches, x, u);
    for (const Law& law : model.laws) e.potential += law_potential({model, branches, t, x, u}, law);
    for (const FormulaForce& f : model.formula_forces) e.potential += f.potential({model, branches, t, x, u});
    if (!contacts.empty()) e.potential += contacts.elastic_energy(x, u);
    return e;
}

namespace {

constexpr double kLeastReach = 1e-3;  // of the mechanism's largest
constexpr double kCentred = 1e-12;    // the same, of markers at the centre of mass

std::vector<double> farthest_markers(const Model& model) {
    std::vector<double> reach(model.bodies(), 0.0);
    for (const MarkerPair& pair : model.pairs)
        for (int side = 0; side < 2; ++side)
            if (pair.body[side] != model.ground())
                reach[pair.body[side]] = std::max(reach[pair.body[side]], norm(pair.offset[side]));
    return reach;
}

double largest_of(const std::vector<double>& reach) {
    return reach.empty() ? 0.0 : *std::max_element(reach.begin(), reach.end());
}

}  // namespace

std::vector<double> reaches(const Model& model) {
    std::vector<double> reach = farthest_markers(model);
    const double most = largest_of(reach), least = most > 0.0 ? kLeastReach * most : 1.0;
    for (double& r : reach) r = std::max(r, least);
    return reach;
}

double spread_of_mobility(const Model& model) {
    const std::vector<double> markers = farthest_markers(model), reach = reaches(model);
    const double longest = largest_of(reach);
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        // No force turns a wheel that is held at its centre alone, only moments do, which have the arms of other
        // bodies.
        const bool centred = markers[b] <= kCentred * longest;
        const double turning = reach[b] * reach[b], by_moments = centred ? longest * longest : turning;
        for (const double moment : {I.x, I.y, I.z}) {
            least = std::min(least, by_moments / moment);
            most = std::max(most, turning / moment);
        }
        least = std::min(least, 1.0 / model.mass[b]);
        most = std::max(most, 1.0 / model.mass[b]);
    }
    return most > 0.0 ? most / least : 1.0;
}

double mass_ratio(const Model& model) {
    if (model.bodies() == 0) return 1.0;
    const auto [least, most] = std::minmax_element(model.mass.begin(), model.mass.end());
    return *most / *least;
}

}  // namespace bellcrank
