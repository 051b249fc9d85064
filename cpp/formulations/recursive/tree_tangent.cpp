// With X the map of motions from a link's parent to it, σ how the link is displaced by its joint, and S, u of the
// joint:
//   η = X η_p + σ,   δv = X δv_p + (X v_p) × σ + δ(S u),                                                  (1)
//   δa = X δa_p + (X a_p) × σ + δv × S u + v × δ(S u) + δ(Ṡ u + S u̇).                                     (2)
// Markers that move in their bodies add to σ of the first link behind them, and to where bodies are in their links.
#include "formulations/recursive/tree_tangent.hpp"

#include <algorithm>
#include <cstring>

#include "spatial/body_state.hpp"
#include "spatial/swing.hpp"

namespace bellcrank::recursive {

namespace {

const Four kNone{};
constexpr Twist kStill{{0, 0, 0}, {0, 0, 0}};
constexpr Mat3 kWorld{{1, 0, 0, 0, 1, 0, 0, 0, 1}};

Four four_of(const double* changes) {
    Four out;
    std::memcpy(&out, changes, sizeof out);
    return out;
}

MotionT<Four> along_columns(const TreeState& k, const Link& link, const double* changes) {
    MotionT<Four> out{};
    for (int c = 0; c < link.speeds && changes != nullptr; ++c) {
        const Four by = four_of(changes + kDirections * (link.u + c));
        const Twist& S = k.S[link.u + c];
        out += MotionT<Four>{{S.w.x * by, S.w.y * by, S.w.z * by}, {S.v.x * by, S.v.y * by, S.v.z * by}};
    }
    return out;
}

Twist motion_of(const TreeState& k, const Link& link, const double* u) {
    Twist out{{0, 0, 0}, {0, 0, 0}};
    for (int c = 0; c < link.speeds; ++c) out += u[link.u + c] * k.S[link.u + c];
    return out;
}

Twist difference(const Twist& a, const Twist& b) { return {a.w - b.w, a.v - b.v}; }

Vec3T<Four> times(const Vec3& v, const Four& s) { return {v.x * s, v.y * s, v.z * s}; }

// The axis that a swing does not turn about, as its links' axes bend with ξ: columns of S change by ∓½ ξ times that.
Vec3 bent_axis(const Link& link, const double* x) {
    return shaft_column(rotation_matrix(load_quaternion(x + link.x)), link.held, 2);
}

bool moves_joints(const ModelTangent& numbers) {
    return numbers.moves_points() || numbers.changes(NumberArray::row_constant) ||
           numbers.changes(NumberArray::term_coefficient);
}

MotionT<Four> change_in(const MotionT<Dual4>& m) { return {bellcrank::change_in(m.w), bellcrank::change_in(m.v)}; }

// How a frame moves, at its origin and in its axes: the θ of [θ]× = Rᵀ δR, and Rᵀ δr.
MotionT<Four> shifted_along(const FormulaFrameT<Dual4>& frame) {
    Mat3 R;
    for (int i = 0; i < 9; ++i) R.m[i] = frame.rotation.m[i].value;
    const auto turned = [&](int i, int j) {
        Four sum{};
        for (int k = 0; k < 3; ++k) sum += R.m[3 * k + i] * frame.rotation.m[3 * k + j].d;
        return sum;
    };
    return {{turned(2, 1), turned(0, 2), turned(1, 0)}, transpose_times(R, bellcrank::change_in(frame.shift))};
}

int side_before(const TreeJoint& joint) { return joint.reversed ? 1 : 0; }

}  // namespace

TreeTangent::TreeTangent(const Model& model, const LinkTree& tree)
    : model_(model),
      tree_(tree),
      displaced_(tree.links.size()),
      sigma_(tree.links.size()),
      dv_(tree.links.size()),
      da_(tree.links.size()),
      placed_(tree.bodies.size()),
      formula_columns_(tree.speeds),
      by_displaced_(tree.links.size()),
      by_dv_(tree.links.size()),
      by_da_(tree.links.size()),
      by_placed_(tree.bodies.size()) {
    for (const JointMap& map : tree.joints) {
        steps_.push_back({0, 0, tree.bodies[map.joint.parent].at * map.joint.before});
        const int number = static_cast<int>(markers_.size());
        markers_.emplace_back();
        columns_.emplace_back();
        for (int side = 0; side < 2 && map.joint.pair >= 0; ++side) {
            markers_.back()[side] = joint_marker(map.joint, side);
            columns_.back()[side] = marker_columns(number, side, {}, 1.0);
        }
    }
    for (size_t i = tree.links.size(); i-- > 0;) {
        Steps& steps = steps_[tree.links[i].joint];
        steps.first = static_cast<int>(i);
        ++steps.count;
    }
}

TreeTangent::Quotient TreeTangent::quotient(int row, int term) const {
    const double inverse = 1.0 / model_.terms[term].coefficient;
    return {row, term, inverse, model_.rows[row].constant * inverse};
}

TreeTangent::JointMarker TreeTangent::joint_marker(const TreeJoint& joint, int side) const {
    JointMarker out;
    const MarkerPair& pair = model_.pairs[joint.pair];
    const int body = pair.body[side];
    out.number = 2 * joint.pair + side;
    out.axes = rotation_matrix(pair.rotation[side]);
    if (body != model_.ground()) out.axes = rotation_matrix(model_.principal_rotation[body]) * out.axes;
    out.rotation = load_quaternion(&model_.data().pair_rotations[2 * static_cast<size_t>(joint.pair) + side].w);
    if (side == 1) return out;
    out.held = {joint.held[0], joint.held[1], joint.held[2]};
    for (int i = 0; i < 3; ++i) {
        const int row = joint.held_row[i];
        if (row < 0) continue;
        out.held_axis[out.held_count] = i;
        out.held_by[out.held_count++] = quotient(row, model_.rows[row].term_begin);
    }
    return out;
}

// Marker 1 stands where the joint holds it.
TreeTangent::Shifted TreeTangent::marker_along(int number, int side, const ModelTangent& numbers) const {
    const MarkerPair& pair = model_.pairs[tree_.joints[number].joint.pair];
    const JointMarker& marker = markers_[number][side];
    const Mat3 A = rotation_matrix(pair.rotation[side]);
    Shifted out{};
    if (numbers.moves_points()) {
        const MarkerPairT<Dual4>& moved = numbers.pair(tree_.joints[number].joint.pair);
        Vec3T<Four> offset = change_in(moved.offset[side]);
        if (pair.body[side] != model_.ground()) offset += change_in(numbers.body(pair.body[side]).com);
        out = {transpose_times(A, turn_in(moved.rotation[side])), transpose_times(A, offset)};
    }
    out.v += cross(out.w, marker.held);
    Four* const parts[] = {&out.v.x, &out.v.y, &out.v.z};
    for (int i = 0; i < marker.held_count; ++i) *parts[marker.held_axis[i]] += along(marker.held_by[i], numbers);
    return out;
}

// A change of a quaternion turns the marker by 2 vec(δq q*).
TreeTangent::MarkerColumns TreeTangent::marker_columns(int number, int side, const Place& seen, double factor) const {
    const JointMarker& marker = markers_[number][side];
    const Quat& q = marker.rotation;
    const Vec3 v{q.x, q.y, q.z};
    const auto quaternion = [&](const Vec3& moment) {
        const Vec3 turn = 2.0 * factor * (marker.axes * moment), part = q.w * turn - cross(v, turn);
        return Four{-dot(v, turn), part.x, part.y, part.z};
    };
    MarkerColumns out;
    out.number = marker.number;
    for (int k = 0; k < 3; ++k) {
        const Vec3 unit{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0};
        const Load moment = inward(seen.rotation, seen.shift, Load{unit, {0, 0, 0}}),
                   force = inward(seen.rotation, seen.shift, Load{{0, 0, 0}, unit});
        const Vec3 place = factor * (marker.axes * force.f);
        out.position[k] = Four{place.x, place.y, place.z, 0.0};
        out.by_moment[k] = quaternion(moment.n);
        out.by_force[k] = quaternion(force.n + cross(marker.held, force.f));
    }
    out.held_count = marker.held_count;
    for (int i = 0; i < marker.held_count; ++i) {
        const double* m = seen.rotation.m + marker.held_axis[i];
        out.held[i] = {marker.held_by[i], factor * Vec3{m[0], m[3], m[6]}};
    }
    return out;
}

void TreeTangent::take_marker(const MarkerColumns& columns, const Load& by, ModelGradient& by_numbers) {
    const auto &p = columns.position, &n = columns.by_moment, &f = columns.by_force;
    const Four place = p[0] * by.f.x + p[1] * by.f.y + p[2] * by.f.z;
    add(&by_numbers[NumberArray::pair_positions][3 * static_cast<size_t>(columns.number)],
        Vec3{place[0], place[1], place[2]});
    double* rotation = &by_numbers[NumberArray::pair_rotations][4 * static_cast<size_t>(columns.number)];
    Four sum;
    std::memcpy(&sum, rotation, sizeof sum);
    sum += n[0] * by.n.x + n[1] * by.n.y + n[2] * by.n.z + f[0] * by.f.x + f[1] * by.f.y + f[2] * by.f.z;
    std::memcpy(rotation, &sum, sizeof sum);
    for (int i = 0; i < columns.held_count; ++i) take(columns.held[i].by, dot(columns.held[i].along, by.f), by_numbers);
}

void TreeTangent::take_marker(int number, int side, const Load& by, ModelGradient& by_numbers) const {
    take_marker(columns_[number][side], by, by_numbers);
}

Four TreeTangent::along(const Quotient& q, const ModelTangent& numbers) {
    return q.inverse * (numbers.values(NumberArray::row_constant)[q.row].d -
                        q.value * numbers.values(NumberArray::term_coefficient)[q.term].d);
}

void TreeTangent::take(const Quotient& q, double by, ModelGradient& by_numbers) {
    by_numbers[NumberArray::row_constant][q.row] += q.inverse * by;
    by_numbers[NumberArray::term_coefficient][q.term] -= q.inverse * q.value * by;
}

void TreeTangent::along(const Point& at, const Directions& d, Changes& out) {
    const bool moved = d.numbers != nullptr && moves_joints(*d.numbers);
    std::fill(placed_.begin(), placed_.end(), Shifted{});
    for (size_t j = 0; j < steps_.size(); ++j) {
        const TreeJoint& joint = tree_.joints[j].joint;
        const Steps& steps = steps_[j];
        const bool follows = moved && joint.pair >= 0;
        Shifted frame{};
        if (follows) {
            frame = inward(joint.before.rotation, joint.before.shift, placed_[joint.parent]);
            frame += marker_along(static_cast<int>(j), side_before(joint), *d.numbers);
        }
        for (int i = steps.first; i < steps.first + steps.count; ++i)
            move_link(at, d, i, follows, i == steps.first ? &frame : nullptr);
        if (!follows) continue;
        if (steps.count > 0) frame = Shifted{};
        const Shifted behind = marker_along(static_cast<int>(j), 1 - side_before(joint), *d.numbers);
        placed_[joint.child] =
            outward(joint.behind.rotation, joint.behind.shift, Shifted{frame.w - behind.w, frame.v - behind.v});
    }
    write(at.k, at.accelerations, out);
}

// before: how the frame before the joint moves in the parent link, in its own axes; null for later links of the joint.
void TreeTangent::move_link(const Point& at, const Directions& d, int i, bool moved, const Shifted* before) {
    const TreeState& k = at.k;
    const Link& link = tree_.links[i];
    const TreeJoint& joint = tree_.joints[link.joint].joint;
    MotionT<Four> sigma = along_columns(k, link, d.x), own = along_columns(k, link, d.u),
                  rate = along_columns(k, link, d.udot);  // of S u, and of what it adds to the acceleration
    const Twist Su = motion_of(k, link, at.u), Sudot = motion_of(k, link, at.udot);
    if (link.motion == Motion::free) {
        const Vec3T<Four>& turn = sigma.w;
        own.v += cross(Su.v, turn);
        rate.v += cross(Sudot.v, turn) - cross(own.w, Su.v) - cross(Su.w, own.v);
    }
    if (link.motion == Motion::swing && d.x != nullptr) {
        const Four first = 0.5 * four_of(d.x + kDirections * link.u),
                   second = 0.5 * four_of(d.x + kDirections * (link.u + 1));
        const Vec3 axis = bent_axis(link, at.x);
        own.w += times(axis, first * at.u[link.u + 1] - second * at.u[link.u]);
        rate.w += times(axis, first * at.udot[link.u + 1] - second * at.udot[link.u]);
    }
    if (link.motion == Motion::general) {
        Four dx[6]{}, du[6]{};
        for (int c = 0; c < link.speeds; ++c) {
            if (d.x != nullptr) dx[c] = four_of(d.x + kDirections * (link.u + c));
            if (d.u != nullptr) du[c] = four_of(d.u + kDirections * (link.u + c));
        }
        const FormulaFrameT<Dual4> frame =
            formula_along(at, link, dx, du, d.numbers->values(NumberArray::formula_values));
        sigma = shifted_along(frame);
        rate += change_in(frame.bias);
        for (int c = 0; c < link.speeds; ++c) {
            const MotionT<Four> S = formula_columns_[link.u + c] = change_in(frame.S[c]);
            own += at.u[link.u + c] * S;
            rate += at.udot[link.u + c] * S;
        }
    }
    if (moved) {
        const Place& origin = steps_[link.joint].origin;
        Shifted reached{};
        if (before != nullptr) reached = {origin.rotation * before->w, origin.rotation * before->v};
        if (link.motion == Motion::screw) {
            const Quotient start = quotient(joint.screw_row, joint.slide_term);
            reached.v += link.at.rotation * Vec3T<Four>{kNone, kNone, along(start, *d.numbers)};
            const Four lead = lead_along(joint, *d.numbers);
            sigma.v.z += at.x[link.x] * lead;
            own.v.z += at.u[link.u] * lead;
            rate.v.z += at.udot[link.u] * lead;
        }
        sigma += inward(k.rotation[i], k.shift[i] - origin.shift, reached);
    }
    displaced_[i] = sigma_[i] = sigma;
    dv_[i] = own;
    da_[i] = rate;
    da_[i] += cross(k.velocity[i], own);
    if (link.parent >= 0) {
        const Mat3& R = k.rotation[i];
        const Vec3& r = k.shift[i];
        displaced_[i] += inward(R, r, displaced_[link.parent]);
        dv_[i] += inward(R, r, dv_[link.parent]) + cross(difference(k.velocity[i], Su), sigma);
        da_[i] += inward(R, r, da_[link.parent]) + cross(inward(R, r, at.accelerations[link.parent]), sigma);
    }
    da_[i] += cross(dv_[i], Su);
}

Four TreeTangent::lead_along(const TreeJoint& joint, const ModelTangent& numbers) const {
    const std::span<const Dual4> terms = numbers.values(NumberArray::term_coefficient);
    return (-terms[joint.turn_term].d - joint.advance * terms[joint.slide_term].d) /
           model_.terms[joint.slide_term].coefficient;
}

// Records have forces in world axes: in those of a link that turns by η they turn back.
void TreeTangent::add_geometric(const Point& at, const Directions& d, const Forces& r, ForceT<Four>* loads,
                                Four* efforts) const {
    const bool moved = d.numbers != nullptr && moves_joints(*d.numbers);
    for (size_t b = 0; b + 1 < tree_.bodies.size(); ++b) {
        const BodyPlace& place = tree_.bodies[b];
        if (place.link < 0) continue;
        const Load& on = r.bodies[b];
        const Vec3T<Four> f = -cross(displaced_[place.link].w, on.f);
        ForceT<Four> more{cross(place.at.shift, f), f};
        if (moved) {
            Vec3T<Four> arm = placed_[b].v;
            if (d.numbers->moves_points()) arm += change_in(d.numbers->body(static_cast<int>(b)).com);
            more.n += cross(place.at.rotation * arm, on.f) + place.at.rotation * cross(placed_[b].w, on.n);
        }
        loads[place.link] += more;
    }
    for (size_t i = 0; i < tree_.links.size(); ++i) {
        const Link& link = tree_.links[i];
        const Load& F = r.links[i];
        if (link.motion == Motion::swing && d.x != nullptr) {
            const double along = 0.5 * dot(bent_axis(link, at.x), F.n);
            efforts[link.u] -= along * four_of(d.x + kDirections * (link.u + 1));
            efforts[link.u + 1] += along * four_of(d.x + kDirections * link.u);
        }
        if (link.motion == Motion::screw && moved)
            efforts[link.u] += F.f.z * lead_along(tree_.joints[link.joint].joint, *d.numbers);
        for (int c = 0; c < link.speeds && link.motion == Motion::general; ++c) {
            const MotionT<Four>& S = formula_columns_[link.u + c];
            efforts[link.u + c] += dot(F.n, S.w) + dot(F.f, S.v);
        }
        if (link.parent >= 0) loads[link.parent] += outward(at.k.rotation[i], at.k.shift[i], cross(sigma_[i], F));
    }
}

void TreeTangent::write(const TreeState& k, const Twist* accelerations, Changes& out) const {
    const size_t size = kDirections * kTwist * tree_.bodies.size();
    for (std::vector<double>* records : {&out.x, &out.u, &out.udot}) records->assign(size, 0.0);
    for (size_t b = 0; b < tree_.bodies.size(); ++b) {
        const BodyPlace& place = tree_.bodies[b];
        const bool moves = place.link >= 0;
        const Twist &v = moves ? k.velocity[place.link] : kStill, &a = moves ? accelerations[place.link] : kStill;
        const MotionT<Four> still{}, &eta = moves ? displaced_[place.link] : still,
                                     &dv = moves ? dv_[place.link] : still, &da = moves ? da_[place.link] : still;
        const Mat3 &P = place.at.rotation, &W = moves ? k.world[place.link] : kWorld;
        const Vec3& s = place.at.shift;
        const Vec3T<Four> ds = P * placed_[b].v, &turn = placed_[b].w;
        const Vec3 speed = v.v + cross(v.w, s), second = a.v + cross(a.w, s) + cross(v.w, speed);
        const Vec3T<Four> dspeed = dv.v + cross(dv.w, s) + cross(v.w, ds);
        const auto put = [&](std::vector<double>& records, const Vec3T<Four>& linear, const Vec3T<Four>& angular) {
            double* record = records.data() + kDirections * kTwist * b;
            const Four* const parts[] = {&linear.x, &linear.y, &linear.z, &angular.x, &angular.y, &angular.z};
            for (int c = 0; c < 6; ++c) std::memcpy(record + kDirections * kComponent[c], parts[c], sizeof(Four));
        };
        put(out.x, W * (eta.v + cross(eta.w, s) + ds), transpose_times(P, eta.w) + turn);
        put(out.u, W * (cross(eta.w, speed) + dspeed), transpose_times(P, dv.w) + cross(transpose_times(P, v.w), turn));
        put(out.udot,
            W * (cross(eta.w, second) + da.v + cross(da.w, s) + cross(a.w, ds) + cross(dv.w, speed) +
                 cross(v.w, dspeed)),
            transpose_times(P, da.w) + cross(transpose_times(P, a.w), turn));
    }
}

// The transpose of write().
void TreeTangent::read(const TreeState& k, const Twist* accelerations, const Gradient& of, ModelGradient& by_numbers) {
    for (auto* loads : {&by_displaced_, &by_dv_, &by_da_, &by_placed_})
        std::fill(loads->begin(), loads->end(), Load{{0, 0, 0}, {0, 0, 0}});
    for (size_t b = 0; b < tree_.bodies.size(); ++b) {
        const BodyPlace& place = tree_.bodies[b];
        const int body = static_cast<int>(b);
        const bool moves = place.link >= 0;
        const Twist &v = moves ? k.velocity[place.link] : kStill, &a = moves ? accelerations[place.link] : kStill;
        const Mat3 &P = place.at.rotation, &W = moves ? k.world[place.link] : kWorld;
        const Vec3& s = place.at.shift;
        const Vec3 speed = v.v + cross(v.w, s), second = a.v + cross(a.w, s) + cross(v.w, speed);
        const auto linear = [&](const double* records) {
            return records == nullptr ? Vec3{0, 0, 0} : transpose_times(W, twist_linear(records, body));
        };
        const auto angular = [&](const double* records) {
            return records == nullptr ? Vec3{0, 0, 0} : twist_angular(records, body);
        };
        const Vec3 x = linear(of.x), u = linear(of.u), udot = linear(of.udot);
        const Vec3 x_turn = angular(of.x), u_turn = angular(of.u), udot_turn = angular(of.udot);
        const Vec3 by_speed = u + cross(udot, v.w);
        by_placed_[b] = {x_turn + cross(u_turn, transpose_times(P, v.w)) + cross(udot_turn, transpose_times(P, a.w)),
                         transpose_times(P, x + cross(by_speed, v.w) + cross(udot, a.w))};
        if (!moves) continue;
        if (of.r != nullptr) {
            const Twist& Y = of.Y[place.link];
            const Load& on = of.r->bodies[b];
            const Vec3 arm = transpose_times(P, cross(on.f, Y.w));
            by_displaced_[place.link].n += cross(Y.v + cross(Y.w, s), on.f);
            by_placed_[b] += Load{cross(on.n, transpose_times(P, Y.w)), arm};
            by_numbers.add_body(body, 0.0, arm, Mat3{});
        }
        by_displaced_[place.link] += Load{cross(s, x) + P * x_turn + cross(speed, u) + cross(second, udot), x};
        by_dv_[place.link] += Load{cross(s, by_speed) + P * u_turn + cross(speed, udot), by_speed};
        by_da_[place.link] += Load{cross(s, udot) + P * udot_turn, udot};
    }
}

void TreeTangent::transposed(const Point& at, const Gradient& of, double* x, double* u, ModelGradient& by_numbers,
                             std::span<const NumberPlace> further) {
    further_ = further;
    read(at.k, at.accelerations, of, by_numbers);
    for (size_t j = steps_.size(); j-- > 0;) {
        const TreeJoint& joint = tree_.joints[j].joint;
        const Steps& steps = steps_[j];
        Load frame{{0, 0, 0}, {0, 0, 0}};  // by how the frame before, or behind, moves; in its axes
        if (joint.pair >= 0) {
            frame = inward(joint.behind.rotation, joint.behind.shift, by_placed_[joint.child]);
            take_marker(static_cast<int>(j), 1 - side_before(joint), -1.0 * frame, by_numbers);
        }
        for (int i = steps.first + steps.count - 1; i >= steps.first; --i) {
            double lead = 0.0;
            const Load reached = take_link(at, of, i, x, u, lead, by_numbers);
            const Link& link = tree_.links[i];
            if (link.motion == Motion::screw)
                add_screw(joint, transpose_times(link.at.rotation, reached.f).z, lead, by_numbers);
            if (i == steps.first)
                frame = {transpose_times(steps.origin.rotation, reached.n),
                         transpose_times(steps.origin.rotation, reached.f)};
        }
        if (joint.pair < 0) continue;
        take_marker(static_cast<int>(j), side_before(joint), frame, by_numbers);
        by_placed_[joint.parent] += outward(joint.before.rotation, joint.before.shift, frame);
    }
}

void TreeTangent::add_screw(const TreeJoint& joint, double start, double lead, ModelGradient& by_numbers) const {
    take(quotient(joint.screw_row, joint.slide_term), start, by_numbers);
    const double slide = model_.terms[joint.slide_term].coefficient;
    by_numbers[NumberArray::term_coefficient][joint.turn_term] -= lead / slide;
    by_numbers[NumberArray::term_coefficient][joint.slide_term] -= joint.advance * lead / slide;
}

// The transpose of move_link(): the gradient by how the frame before the joint moves, at its origin and in the axes of
// the parent link, and by the lead of a screw.
Load TreeTangent::take_link(const Point& at, const Gradient& of, int i, double* x, double* u, double& lead,
                            ModelGradient& by_numbers) {
    const TreeState& k = at.k;
    const Link& link = tree_.links[i];
    const Mat3& R = k.rotation[i];
    const Vec3& r = k.shift[i];
    const Twist Su = motion_of(k, link, at.u), Sudot = motion_of(k, link, at.udot);
    const Load& rate = by_da_[i];
    Load& by_v = by_dv_[i];
    by_v += cross(Su, rate);
    Load sigma = by_displaced_[i], own = by_v;
    own += -1.0 * cross(k.velocity[i], rate);
    if (link.parent >= 0) {
        sigma += -1.0 * cross(difference(k.velocity[i], Su), by_v);
        sigma += -1.0 * cross(inward(R, r, at.accelerations[link.parent]), rate);
        by_displaced_[link.parent] += outward(R, r, by_displaced_[i]);
        by_dv_[link.parent] += outward(R, r, by_v);
        by_da_[link.parent] += outward(R, r, rate);
    }
    if (of.r != nullptr) sigma += -1.0 * cross(difference(of.Y[i], motion_of(k, link, of.y)), of.r->links[i]);
    Load turned = sigma;  // with what turns the columns
    if (link.motion == Motion::free) {
        own.n += -cross(Su.v, rate.f);
        own.f += -cross(rate.f, Su.w);
        turned.n += cross(rate.f, Sudot.v) + cross(own.f, Su.v);
    }
    for (int c = 0; c < link.speeds; ++c) {
        x[link.u + c] = dot(k.S[link.u + c], turned);
        u[link.u + c] = dot(k.S[link.u + c], own);
    }
    if (link.motion == Motion::swing) {
        const Vec3 axis = bent_axis(link, at.x);
        const double by_own = 0.5 * dot(axis, own.n), by_rate = 0.5 * dot(axis, rate.n);
        x[link.u] += by_own * at.u[link.u + 1] + by_rate * at.udot[link.u + 1];
        x[link.u + 1] -= by_own * at.u[link.u] + by_rate * at.udot[link.u];
        if (of.r != nullptr) {
            const double along = 0.5 * dot(axis, of.r->links[i].n);
            x[link.u] += along * of.y[link.u + 1];
            x[link.u + 1] -= along * of.y[link.u];
        }
    }
    if (link.motion == Motion::general) take_formula(at, of, i, sigma, own, rate, x, u, by_numbers);
    lead = at.x[link.x] * sigma.f.z + at.u[link.u] * own.f.z + at.udot[link.u] * rate.f.z;
    if (of.r != nullptr) lead += of.y[link.u] * of.r->links[i].f.z;
    return outward(R, r - steps_[link.joint].origin.shift, sigma);
}

FormulaFrameT<Dual4> TreeTangent::formula_along(const Point& at, const Link& link, const Four* x, const Four* u,
                                                std::span<const Dual4> values) {
    const int n = link.speeds;
    Dual4 rates[6];
    formula_in_.clear();
    for (int c = 0; c < n; ++c) formula_in_.push_back({at.x[link.x + c], x[c]});
    for (int c = 0; c < n; ++c) formula_in_.push_back(rates[c] = {at.u[link.u + c], u[c]});
    formula_in_.insert(formula_in_.end(), values.begin(), values.end());
    return {at.k.program(link).tangent(formula_in_).data(), rates, n, link.reversed};
}

// Forwards, along coordinates, rates and numbers by themselves, of the one sum of all that is asked for.
void TreeTangent::take_formula(const Point& at, const Gradient& of, int i, const Load& sigma, const Load& own,
                               const Load& rate, double* x, double* u, ModelGradient& by_numbers) {
    const Link& link = tree_.links[i];
    const int n = link.speeds;
    const std::vector<double>& given = model_.data().formulas.values;
    std::vector<Dual4> values(given.begin(), given.end());
    const auto sum_along = [&](const Four* dx, const Four* du) {
        const FormulaFrameT<Dual4> frame = formula_along(at, link, dx, du, values);
        const auto power = [](const Load& on, const MotionT<Four>& m) { return dot(on.n, m.w) + dot(on.f, m.v); };
        Four sum = power(rate, change_in(frame.bias));
        for (int c = 0; c < n; ++c) {
            const MotionT<Four> S = change_in(frame.S[c]);
            sum += at.u[link.u + c] * power(own, S) + at.udot[link.u + c] * power(rate, S);
            if (of.r != nullptr) sum += of.y[link.u + c] * power(of.r->links[i], S);
        }
        return std::pair(sum, power(sigma, shifted_along(frame)));
    };
    for (int from = 0; from < 2 * n; from += kDirections) {
        Four d[12]{};
        const int count = std::min(kDirections, 2 * n - from);
        for (int k = 0; k < count; ++k) d[from + k][k] = 1.0;
        const Four sum = sum_along(d, d + n).first;
        for (int k = 0; k < count; ++k) (from + k < n ? x[link.u + from + k] : u[link.u + from + k - n]) += sum[k];
    }
    const Four still[6]{};
    for (const NumberPlace& place : further_) {
        if (place.array != NumberArray::formula_values) continue;
        values[place.index].d[0] = 1.0;
        const auto [sum, moved] = sum_along(still, still);
        values[place.index].d[0] = 0.0;
        by_numbers[place.array][place.index] += sum[0] + moved[0];
    }
}

}  // namespace bellcrank::recursive
