#include "model/frame_writer.hpp"

#include "model/state.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

FrameWriter::FrameWriter(const Scenery& at, const Observation& what, double* out)
    : at_(at), what_(what), layout_(FrameCounts::of(what, at.model.bodies())), out_(out) {}

void FrameWriter::write_motion() const {
    const FrameWriter& to = *this;
    to_neutral(at_.model, at_.x, at_.u, to[Section::position], to[Section::rotation], to[Section::velocity],
               to[Section::angular_velocity]);
    const size_t count = what_.coordinates.size();
    double* const value = to[Section::coordinates];  // angles and those of forces follow, then the rates of all
    for (size_t i = 0; i < count; ++i) {
        const CoordinateMotion c = coordinate_motion(at_.model, at_.branches, what_.coordinates[i], at_.x, at_.u);
        value[i] = c.value;
        value[count + i] = c.rate;
    }
    for (int i = 0; i < what_.inputs; ++i) to[Section::inputs][i] = at_.model.input(i);
}

void FrameWriter::write_forces(Contacts& contacts) const {
    if (!contacts.empty()) contacts.evaluate(at_.x, at_.u);
    double* out = (*this)[Section::force_efforts];
    const double* formula = nullptr;  // outputs of the last one
    int number = -1;
    for (const Observation::Effort& e : what_.efforts) {
        switch (e.of) {
            case Observation::Effort::Of::law:
                *out++ = law_effort(at_, at_.model.laws[e.number]);
                continue;
            case Observation::Effort::Of::wrench:
                *out++ = wrench_component(at_.model, at_.model.wrenches[e.number], e.component, at_.t);
                continue;
            case Observation::Effort::Of::contact:
                *out++ = contact_component(contacts, e);
                continue;
            case Observation::Effort::Of::formula:
                if (number != e.number) formula = at_.model.formula_forces[number = e.number].evaluate(at_);
                *out++ = formula[e.component];
        }
    }
    out = (*this)[Section::force_potentials];
    for (const Observation::Effort& e : what_.potentials)
        *out++ = e.of == Observation::Effort::Of::law       ? law_potential(at_, at_.model.laws[e.number])
                 : e.of == Observation::Effort::Of::contact ? contacts.stored_energy(e.number)
                                                            : at_.model.formula_forces[e.number].potential(at_);
}

double FrameWriter::contact_component(const Contacts& contacts, const Observation::Effort& e) const {
    const int body = at_.model.contacts.groups[e.number].bodies[e.component / 6], k = e.component % 6;
    const Vec3 origin =
        pose_position(at_.x, body) + rotation_matrix(pose_rotation(at_.x, body)) * at_.model.frame_origin(body);
    const auto [force, moment] = contacts.wrench(e.number, body, origin);
    return component(k < 3 ? force : moment, k % 3);
}

void FrameWriter::write_energy(const Energy& energy) const {
    *(*this)[Section::kinetic] = energy.kinetic;
    *(*this)[Section::potential] = energy.potential;
}

void FrameWriter::write_accelerations(const double* udot) const {
    const FrameWriter& to = *this;
    accelerations_to_neutral(at_.model, at_.x, at_.u, udot, to[Section::acceleration],
                             to[Section::angular_acceleration]);
    const int count = FrameCounts::of(what_, 0).coordinates;
    for (int i = 0; i < count; ++i)
        to[Section::coordinate_accelerations][i] = coordinate_acceleration(at_, what_.coordinates[i], udot);
}

double coordinate_acceleration(const Scenery& at, int coordinate, const double* udot) {
    BodyCoordinate c;
    evaluate_coordinate(at.model, at.branches, coordinate, at.x, at.u, c);
    const auto& bodies = at.model.pairs[at.model.coordinates[coordinate].pair].body;
    double sum = c.bias;
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 6; ++k) sum += c.J[side][k] * udot[kTwist * bodies[side] + kComponent[k]];
    return sum;
}

}  // namespace bellcrank
