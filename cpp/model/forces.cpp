#include "model/forces.hpp"

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

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

// Generalized force τ ∇φ.
void add_law(const Model& model, const AngleBranches& branches, const Law& law, double t, const double* x,
             const double* u, double* force) {
    BodyCoordinate c;
    evaluate_coordinate(model, branches, law.coordinate, x, u, c);
    const double effort = law.kind->effort({c.value, c.rate, t}, law.params, function_of(model, law));
    const MarkerPair& pair = model.pairs[model.coordinates[law.coordinate].pair];
    for (int s = 0; s < 2; ++s) {
        if (pair.body[s] == model.ground()) continue;
        double* f = force + kTwist * pair.body[s];
        for (int k = 0; k < 6; ++k) f[kComponent[k]] += effort * c.J[s][k];
    }
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
    for (size_t i = 0; i < model.laws.size(); ++i)
        if (left_out == nullptr || left_out[i] == 0) add_law(model, branches, model.laws[i], t, x, u, force);
    for (const Wrench& wrench : model.wrenches) add_wrench(model, wrench, t, x, force);
    for (const FormulaForce& f : model.formula_forces) f.add({model, branches, t, x, u}, force);
    if (!contacts.empty()) contacts.add_forces(x, u, force);
}

double law_effort(const Scenery& at, const Law& law) {
    const CoordinateMotion c = coordinate_motion(at.model, at.branches, law.coordinate, at.x, at.u);
    return law.kind->effort({c.value, c.rate, at.t}, law.params, function_of(at.model, law));
}

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

}  // namespace bellcrank
