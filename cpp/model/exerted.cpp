#include "model/exerted.hpp"

#include <algorithm>

#include "model/branches.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

using Of = Observation::Effort::Of;

// A unit force or moment along an axis, world axes, at an offset from the com, principal axes.
EffortSide along_axis(const Scenery& at, int body, const Vec3& offset, const Vec3& axis, bool is_force) {
    const Vec3 local = transpose_times(rotation_matrix(pose_rotation(at.x, body)), axis);
    EffortSide side{body, offset, {}};
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

// Of a coordinate at the markers of its pair.
void append_along(const Scenery& at, int coordinate, double factor, std::vector<EffortSide>& sides) {
    BodyCoordinate c;
    evaluate_coordinate(at.model, at.branches, coordinate, at.x, at.u, c);
    const MarkerPair& pair = at.model.pairs[at.model.coordinates[coordinate].pair];
    for (int s = 0; s < 2; ++s) {
        EffortSide& side = sides.emplace_back(EffortSide{pair.body[s], pair.offset[s], {}});
        for (int k = 0; k < 6; ++k) side.J[k] = factor * c.J[s][k];
    }
}

}  // namespace

void append_sides(const Scenery& at, const Observation::Effort& e, std::vector<EffortSide>& sides) {
    if (const int coordinate = coordinate_of(at.model, e); coordinate >= 0) {
        append_along(at, coordinate, 1.0, sides);
    } else if (e.of == Of::contact) {
        const int body = at.model.contacts.groups[e.number].bodies[e.component / 6];
        const Vec3 origin = at.model.frame_origin(body);
        sides.push_back(along_axis(at, body, origin, unit(e.component % 3), e.component % 6 < 3));
    } else if (e.of == Of::wrench) {
        sides.push_back(of_wrench(at, at.model.wrenches[e.number], e.component));
    } else {  // force over moment, world axes
        const FormulaMarker& m = at.model.formula_forces[e.number].ends().markers[e.component / 6];
        sides.push_back(along_axis(at, m.body, m.offset, unit(e.component % 3), e.component % 6 < 3));
    }
}

void append_sides(const Scenery& at, int row, FormulaRows::Values& room, std::vector<EffortSide>& sides) {
    const Model& model = at.model;
    const int block = model.block_of(row), formula = model.formula_of_block[block];
    if (formula < 0) {
        for (int k = model.rows[row].term_begin; k < model.rows[row].term_end; ++k)
            append_along(at, model.terms[k].coordinate, model.terms[k].coefficient, sides);
        return;
    }
    const FormulaRows& rows = model.formula_rows[formula];
    const FormulaEnds& ends = rows.ends();
    rows.evaluate(at, room);
    const int which = row - model.blocks[block].row_begin, markers = static_cast<int>(ends.markers.size());
    for (int i = 0; i < static_cast<int>(room.sides.size()); ++i) {  // the markers', then two of each coordinate
        const FormulaRows::Side& own = room.sides[i];
        EffortSide& side = sides.emplace_back(EffortSide{own.body, {}, {}});
        if (i < markers) {
            side.place = ends.markers[i].offset;
        } else {
            const int coordinate = ends.coordinates[(i - markers) / 2];
            side.place = model.pairs[model.coordinates[coordinate].pair].offset[(i - markers) % 2];
        }
        std::copy_n(own.J[which], 6, side.J);
    }
}

std::array<double, 6> wrench_of(const Scenery& at, const EffortSide& side) {
    const Mat3 R = rotation_matrix(pose_rotation(at.x, side.body));
    const Vec3 force = load(side.J);
    Vec3 moment = R * load(side.J + 3);
    if (side.body != at.model.ground()) moment = moment - cross(R * at.model.frame_origin(side.body), force);
    return {moment.x, moment.y, moment.z, force.x, force.y, force.z};
}

Vec3 place_in_frame(const Model& model, const EffortSide& side) {
    if (side.body == model.ground()) return side.place;
    return model.com[side.body] + rotation_matrix(model.principal_rotation[side.body]) * side.place;
}

}  // namespace bellcrank
