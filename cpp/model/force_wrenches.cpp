#include "model/force_wrenches.hpp"

#include <algorithm>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

using Of = Observation::Effort::Of;

// A unit force or moment along an axis, world axes, at an offset from the com, principal axes.
EffortSide along_axis(const Scenery& at, int body, const Vec3& offset, const Vec3& axis, bool is_force) {
    const Vec3 local = transpose_times(rotation_matrix(pose_rotation(at.x, body)), axis);
    EffortSide side{body, {}};
    if (is_force) store(side.J, axis);
    store(side.J + 3, is_force ? cross(offset, local) : local);
    return side;
}

Vec3 unit(int axis) { return {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0}; }

EffortSide of_wrench(const Scenery& at, const Wrench& w, int component) {
    Vec3 axis = unit(component % 3);
    if (w.local) axis = rotation_matrix(pose_rotation(at.x, w.body)) * (rotation_matrix(w.rotation) * axis);
    return along_axis(at, w.body, w.offset, axis, component >= 3);
}

// The coordinate that an effort acts along; −1: it is at a marker.
int coordinate_of(const Model& model, const Observation::Effort& e) {
    if (e.of == Of::wrench || e.of == Of::contact) return -1;
    if (e.of == Of::law) return model.laws[e.number].coordinate;
    const FormulaEnds& ends = model.formula_forces[e.number].ends();
    const int first = 6 * static_cast<int>(ends.markers.size());
    return e.component < first ? -1 : ends.coordinates[e.component - first];
}

}  // namespace

std::span<const EffortSide> effort_sides(const Scenery& at, const Observation::Effort& e, EffortSide (&room)[2]) {
    const int coordinate = coordinate_of(at.model, e);
    if (coordinate >= 0) {
        BodyCoordinate c;
        evaluate_coordinate(at.model, at.branches, coordinate, at.x, at.u, c);
        for (int s = 0; s < 2; ++s) {
            room[s].body = at.model.pairs[at.model.coordinates[coordinate].pair].body[s];
            std::copy_n(c.J[s], 6, room[s].J);
        }
        return room;
    }
    if (e.of == Of::contact) {
        const int body = at.model.contacts.groups[e.number].bodies[e.component / 6];
        room[0] = along_axis(at, body, at.model.frame_origin(body), unit(e.component % 3), e.component % 6 < 3);
    } else if (e.of == Of::wrench) {
        room[0] = of_wrench(at, at.model.wrenches[e.number], e.component);
    } else {  // force over moment, world axes
        const FormulaMarker& m = at.model.formula_forces[e.number].ends().markers[e.component / 6];
        room[0] = along_axis(at, m.body, m.offset, unit(e.component % 3), e.component % 6 < 3);
    }
    return {room, 1};
}

std::vector<int> bodies_of(const Model& model, const Observation::Effort& e) {
    if (const int coordinate = coordinate_of(model, e); coordinate >= 0) {
        const auto& both = model.pairs[model.coordinates[coordinate].pair].body;
        return {both[0], both[1]};
    }
    if (e.of == Of::wrench) return {model.wrenches[e.number].body};
    if (e.of == Of::contact) return {model.contacts.groups[e.number].bodies[e.component / 6]};
    return {model.formula_forces[e.number].ends().markers[e.component / 6].body};
}

void add_force_wrenches(const Scenery& at, std::span<const Observation::Effort> which, const double* efforts,
                        double* wrenches, double* rates) {
    EffortSide room[2];
    for (size_t i = 0; i < which.size(); ++i) {
        rates[i] = 0.0;
        for (const EffortSide& side : effort_sides(at, which[i], room)) {
            const double* u = at.u + kTwist * side.body;
            for (int k = 0; k < 6; ++k) rates[i] += side.J[k] * u[kComponent[k]];
            const Mat3 R = rotation_matrix(pose_rotation(at.x, side.body));
            const Vec3 force = load(side.J);
            Vec3 moment = R * load(side.J + 3);
            if (side.body != at.model.ground()) {  // from the com to the origin of the frame
                const Mat3 to_principal = transpose(rotation_matrix(at.model.principal_rotation[side.body]));
                moment += cross(R * (to_principal * at.model.com[side.body]), force);
            }
            add(wrenches + 6 * side.body, efforts[i] * moment);
            add(wrenches + 6 * side.body + 3, efforts[i] * force);
        }
    }
}

}  // namespace bellcrank
