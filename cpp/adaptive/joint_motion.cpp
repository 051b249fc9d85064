// How joints move: places, subspaces and coordinates.
#include <algorithm>
#include <bit>
#include <cmath>

#include "adaptive/linkage.hpp"
#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"
#include "spatial/swing.hpp"
#include "trees/joint_coordinates.hpp"

namespace bellcrank {

namespace {

Mat3 turn_about(int axis, double angle) {
    const double s = std::sin(angle), c = std::cos(angle);
    if (axis == 0) return {{1, 0, 0, 0, c, -s, 0, s, c}};
    if (axis == 1) return {{c, 0, s, 0, 1, 0, -s, 0, c}};
    return {{c, -s, 0, s, c, 0, 0, 0, 1}};
}
double angle_about(int axis, const Mat3& R) {
    const int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return std::atan2(R.m[3 * j + i] - R.m[3 * i + j], R.m[4 * i] + R.m[4 * j]);
}
Vec3 unit(int axis) { return {axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0}; }

// Those along d columns S that come nearest to a twist.
void least_speeds(const double* S, int d, const Six& twist, double* u) {
    double N[36], along[6];
    for (int i = 0; i < d; ++i) {
        along[i] = dot(six(S + 6 * i), twist);
        for (int j = 0; j < d; ++j) N[d * j + i] = dot(six(S + 6 * i), six(S + 6 * j));
    }
    whiten(N, d);
    std::fill_n(u, d, 0.0);
    for (int r = 0; r < d; ++r) {
        double once = 0.0;
        for (int s = 0; s <= r; ++s) once += N[d * s + r] * along[s];
        for (int s = 0; s <= r; ++s) u[s] += N[d * s + r] * once;
    }
}

}  // namespace

// S consists of axes of the child's frame where the translations together are the same in the frames before and behind
// the rotation, or there is no rotation.
JointMotion::JointMotion(const Model& model, const TreeJoint& joint, unsigned given)
    : model_(&model), joint_(joint), given_(given) {
    for (int i = 0; i < 3; ++i) {
        slide_[i] = joint.slides[i] && joint.screw_axis != i;
        if (slide_[i]) ++slides_, axes_ |= 8u << i;
    }
    if (is_formula()) {
        turns_ = model.formula_joints[joint.formula].joint.coordinates();
        axial_ = false;
    } else if (is_swing()) {
        turns_ = 2;
        axial_ = false;
    } else if (is_ball()) {
        turns_ = 3;
        axes_ |= 7u;
        axial_ = slides_ == 0 || (slides_ == 3 && !joint_.reversed);
    } else if (joint_.turning == Turning::universal) {
        turns_ = 2;
        axial_ = false;
    } else if (joint_.turning != Turning::none) {
        turns_ = 1;
        axis_ = axis_of(joint_.turning);
        axes_ |= 1u << axis_;
        const bool along = slides_ == 1 && slide_[axis_], across = slides_ == 2 && !slide_[axis_];
        axial_ = joint_.screw_axis < 0 && (slides_ == 0 || along || (!joint_.reversed && (across || slides_ == 3)));
    }
    freedoms_ = slides_ + turns_ - std::popcount(given_);
    if (given_ != 0) axial_ = false;
}

int JointMotion::own_coordinate(const TreeJoint& joint, const Coordinate& coordinate) {
    const JointPart part = part_of(joint, coordinate);
    const auto slides = [&](int axis) { return joint.slides[axis] && joint.screw_axis != axis; };
    if (part.kind == JointPart::Kind::none) return -1;
    if (part.kind == JointPart::Kind::own) return part.number;
    if (part.kind == JointPart::Kind::turn) return slides(0) + slides(1) + slides(2) + part.number;
    int place = 0;
    for (int i = 0; i < part.number; ++i) place += slides(i);
    return slides(part.number) ? place : -1;
}

// What the program gives; in this thread's own room.
FormulaFrameT<double> JointMotion::frame(const double* q, const double* u) const {
    thread_local std::vector<double> in, out, work;
    const CompiledProgram& program = *model_->programs[joint_.formula];
    const std::vector<double>& parameters = model_->data().formulas.values;
    in.assign(program.inputs(), 0.0);
    out.resize(program.outputs());
    work.resize(std::max(work.size(), program.work_size()));
    std::copy_n(q, turns_, in.begin());
    if (u != nullptr) std::copy_n(u, turns_, in.begin() + turns_);
    std::copy(parameters.begin(), parameters.end(), in.begin() + 2 * turns_);
    program.evaluate(in.data(), out.data(), work.data());
    return {out.data(), in.data() + turns_, turns_, joint_.reversed};
}

Place JointMotion::forward(const double* q) const {
    Place at;
    double* shift[3] = {&at.shift.x, &at.shift.y, &at.shift.z};
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *shift[i] = *q++;
    if (is_swing()) {
        const Mat3 R = rotation_matrix(rotation_of_shaft(load_quaternion(q), axis_of(joint_.turning), 0.0));
        at.rotation = joint_.reversed ? transpose(R) : R;
    } else if (is_ball())
        at.rotation = rotation_matrix(load_quaternion(q));
    else if (joint_.turning == Turning::universal)
        at.rotation = turn_about(0, q[0]) * turn_about(1, q[1]);
    else if (axis_ >= 0)
        at.rotation = turn_about(axis_, q[0]);
    if (joint_.screw_axis >= 0) *shift[joint_.screw_axis] = joint_.advance * q[0] + joint_.start;
    return at;
}

Place JointMotion::place(const double* q) const {
    if (is_formula()) {
        const FormulaFrameT<double> at = frame(q, nullptr);
        return {at.rotation, at.shift};
    }
    return joint_.reversed ? inverse(forward(q)) : forward(q);
}

// The motion is that of marker 2 in its own axes: a rotation axis a of the rotation R gives (Rᵀ a; 0) or, as an axis
// behind it, (a; 0); a translation along e gives (0; Rᵀ e). Of the frame before the joint seen from the one behind it,
// with s the translation: (−a; a × s) and (0; −e).
void JointMotion::subspace(const double* q, double* columns) const {
    if (given_ == 0) return all_columns(q, columns);
    double all[36];
    all_columns(q, all);
    for (int i = 0; i < slides_ + turns_; ++i) {
        if (is_given(i)) continue;
        std::copy_n(all + 6 * i, 6, columns);
        columns += 6;
    }
}

void JointMotion::with_given(const double* u, const double* given, double* all) const {
    for (int i = 0; i < slides_ + turns_; ++i) all[i] = is_given(i) ? given[coordinate_of(i)] : *u++;
}

Six JointMotion::along_given(const double* q, const double* given) const {
    double all[36];
    all_columns(q, all);
    Six sum{};
    for (int i = 0; i < slides_ + turns_; ++i)
        if (is_given(i)) sum = sum + given[coordinate_of(i)] * six(all + 6 * i);
    return sum;
}

double JointMotion::along_given(const double* q, int coordinate, const Six& force) const {
    double all[36];
    all_columns(q, all);
    return dot(six(all + 6 * (coordinate < slides_ ? turns_ + coordinate : coordinate - slides_)), force);
}

void JointMotion::all_columns(const double* q, double* columns) const {
    if (is_formula()) {
        const FormulaFrameT<double> at = frame(q, nullptr);
        for (int i = 0; i < turns_; ++i) put(columns + 6 * i, stacked(at.S[i].w, at.S[i].v));
        return;
    }
    const Place at = forward(q);
    const auto turn = [&](const Vec3& before, const Vec3& behind, double lead) {
        const Vec3 a = joint_.reversed ? -before : behind;
        Vec3 v = joint_.reversed ? cross(before, at.shift) : Vec3{0, 0, 0};
        if (lead != 0.0) v += lead * a;
        put(columns, stacked(a, v));
        columns += 6;
    };
    if (is_swing()) {
        const Mat3 F = rotation_matrix(load_quaternion(q + slides_));
        for (int i = 0; i < 2; ++i) {
            const Vec3 a = shaft_column(F, axis_of(joint_.turning), i);
            turn(-a, a, 0.0);
        }
    }
    if (is_ball())
        for (int i = 0; i < 3; ++i) turn(unit(i), unit(i), 0.0);
    if (joint_.turning == Turning::universal) {
        turn(unit(0), transpose_times(turn_about(1, q[slides_ + 1]), unit(0)), 0.0);
        turn(turn_about(0, q[slides_]) * unit(1), unit(1), 0.0);
    }
    if (axis_ >= 0) turn(unit(axis_), unit(axis_), joint_.screw_axis >= 0 ? joint_.advance : 0.0);
    for (int i = 0; i < 3; ++i) {
        if (!slide_[i]) continue;
        put(columns, stacked({0, 0, 0}, joint_.reversed ? -unit(i) : transpose_times(at.rotation, unit(i))));
        columns += 6;
    }
}

// Of what moves as in `subspace`: Rᵀ e turns with −ω × Rᵀ e, ω the speed of turning; a × s moves with the slides; of a
// universal joint one axis turns about the other; a swing's speeds turn their own axes so that nothing is left.
Six JointMotion::subspace_rate(const double* q, const double* u) const {
    if (axial_) return Six{};
    if (is_formula()) {
        const Twist bias = frame(q, u).bias;
        return stacked(bias.w, bias.v);
    }
    const Place at = forward(q);
    Vec3 slide{0, 0, 0};
    double* to[3] = {&slide.x, &slide.y, &slide.z};
    const double* v = u + turns_;
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *to[i] = *v++;
    double S[36];
    all_columns(q, S);
    const bool universal = joint_.turning == Turning::universal;
    Vec3 turning{0, 0, 0};  // of the child against its carrier
    for (int i = 0; i < turns_; ++i) turning += u[i] * load(S + 6 * i);
    if (!joint_.reversed) {
        Vec3 rate{0, 0, 0};
        if (universal) rate = (u[0] * u[1]) * cross(transpose_times(turn_about(1, q[slides_ + 1]), unit(0)), unit(1));
        return stacked(rate, cross(transpose_times(at.rotation, slide), turning));
    }
    const Vec3 axes = universal ? (u[0] * u[1]) * cross(unit(0), turn_about(0, q[slides_]) * unit(1)) : Vec3{0, 0, 0};
    if (joint_.screw_axis >= 0) slide += (joint_.advance * u[0]) * unit(joint_.screw_axis);
    return stacked(-axes, cross(-turning, slide) + cross(axes, at.shift));
}

// Along axes of the child's frame a translation's rate is R v; what is reversed runs the other way.
void JointMotion::rates(const double* q, const double* u, double* rates) const {
    if (given_ != 0) {
        for (int i = 0; i < slides_ + turns_; ++i) rates[coordinate_of(i)] = is_given(i) ? 0.0 : *u++;
        return;
    }
    const double sign = axial_ && joint_.reversed ? -1.0 : 1.0;
    for (int i = 0; i < turns_; ++i) rates[slides_ + i] = sign * u[i];
    const double* v = u + turns_;
    if (!axial_ || turns_ == 0 || slides_ < 2) {
        for (int i = 0; i < slides_; ++i) rates[i] = sign * v[i];
        return;
    }
    Vec3 behind{0, 0, 0};
    double* to[3] = {&behind.x, &behind.y, &behind.z};
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *to[i] = *v++;
    const Vec3 before = forward(q).rotation * behind;
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *rates++ = component(before, i);
}

void JointMotion::speeds(const double* S, const Six& twist, double* u) const {
    double t[6];
    put(t, twist);
    const int d = freedoms();
    for (int i = 0; axial_ && i < 6; ++i)
        if (axes_ >> i & 1u) *u++ = t[i];
    if (!axial_) least_speeds(S, d, twist, u);
}

void JointMotion::given_speeds(const double* q, const Six& twist, double* given) const {
    double all[36], u[6];
    all_columns(q, all);
    least_speeds(all, slides_ + turns_, twist, u);
    for (int i = 0; i < slides_ + turns_; ++i)
        if (is_given(i)) given[coordinate_of(i)] = u[i];
}

void JointMotion::efforts(const double* q, const double* along, double* Q) const {
    if (given_ != 0) {
        for (int i = 0; i < slides_ + turns_; ++i)
            if (!is_given(i)) *Q++ = along[coordinate_of(i)];
        return;
    }
    const double sign = axial_ && joint_.reversed ? -1.0 : 1.0;
    for (int i = 0; i < turns_; ++i) Q[i] = sign * along[slides_ + i];
    Q += turns_;
    if (!axial_ || turns_ == 0 || slides_ < 2) {
        for (int i = 0; i < slides_; ++i) Q[i] = sign * along[i];
        return;
    }
    Vec3 before{0, 0, 0};
    double* to[3] = {&before.x, &before.y, &before.z};
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *to[i] = *along++;
    const Vec3 behind = transpose_times(forward(q).rotation, before);
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *Q++ = component(behind, i);
}

// The rate of a slide is R v where several slide along axes that turn: R (ω × v).
double JointMotion::second_rate(const double* q, const double* u, int coordinate) const {
    if (!axial_ || turns_ == 0 || slides_ < 2 || coordinate >= slides_) return 0.0;
    Vec3 turning{0, 0, 0}, slide{0, 0, 0};
    double *turn[3] = {&turning.x, &turning.y, &turning.z}, *to[3] = {&slide.x, &slide.y, &slide.z};
    const double *w = u, *v = u + turns_;
    int axis = -1;
    for (int i = 0, number = 0; i < 3; ++i) {
        if (is_ball() || i == axis_) *turn[i] = *w++;
        if (!slide_[i]) continue;
        *to[i] = *v++;
        if (number++ == coordinate) axis = i;
    }
    return component(forward(q).rotation * cross(turning, slide), axis);
}

void JointMotion::derivatives(const double* q, const double* u, double* out) const {
    rates(q, u, out);
    if (is_swing()) {
        double half[3] = {0, 0, 0};
        for (int i = 0; i < 2; ++i) half[axis_across(axis_of(joint_.turning), i)] = 0.25 * out[slides_ + i];
        store(out + slides_, load_quaternion(q + slides_) * Quat{0.0, half[0], half[1], half[2]});
    }
    if (!is_ball()) return;
    const Vec3 w = load(out + slides_);
    const Quat at = load_quaternion(q + slides_), turning{0.0, 0.5 * w.x, 0.5 * w.y, 0.5 * w.z};
    store(out + slides_, joint_.reversed ? turning * at : at * turning);
}

void JointMotion::normalize(double* q) const {
    if (is_ball() || is_swing()) store(q + slides_, renormalized(load_quaternion(q + slides_)));
}

// A ball's rates are of marker 2: in its axes, or in those of marker 1 where the joint is reversed.
void JointMotion::move(double* q, const double* rates, double time) const {
    const int plain = slides_ + (is_ball() || is_swing() ? 0 : turns_);
    for (int i = 0; i < plain; ++i) q[i] += time * rates[i];
    if (is_swing()) {
        const double xi[2] = {time * rates[slides_], time * rates[slides_ + 1]};
        store(q + slides_, shaft_advanced(load_quaternion(q + slides_), axis_of(joint_.turning), xi));
    }
    if (!is_ball()) return;
    const Vec3 turned{time * rates[slides_], time * rates[slides_ + 1], time * rates[slides_ + 2]};
    const Quat before = load_quaternion(q + slides_), by = quaternion_exp(turned);
    const Quat after = renormalized(joint_.reversed ? by * before : before * by);
    store(q + slides_, after);
}

void JointMotion::read(const Place& place, double* q) const {
    const Place at = joint_.reversed ? inverse(place) : place;
    if (is_formula()) {
        const ParametricJoint& joint = model_->formula_joints[joint_.formula].joint;
        const ParametricJoint::Values& found =
            joint.evaluate({at.shift, quaternion_from_matrix(at.rotation), {0, 0, 0}, {0, 0, 0}}, q);
        for (int i = 0; i < turns_; ++i) q[i] = found.free[i].value;
        return;
    }
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *q++ = component(at.shift, i);
    const Mat3& R = at.rotation;
    if (is_swing()) {
        store(q, shaft_of(quaternion_from_matrix(joint_.reversed ? transpose(R) : R), axis_of(joint_.turning)));
    } else if (is_ball()) {
        store(q, quaternion_from_matrix(R));
    } else if (joint_.turning == Turning::universal) {  // R = Rx Ry: its second column is (0, cos x, sin x)
        q[0] = std::atan2(R.m[7], R.m[4]);
        q[1] = std::atan2(R.m[2], R.m[0]);
    } else if (axis_ >= 0)
        q[0] = angle_about(axis_, R);
}

}  // namespace bellcrank
