#include "adaptive/joint_motion.hpp"

#include <cmath>

#include "spatial/rotation.hpp"

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
double part(const Vec3& v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
Quat quaternion_of(const double* q) { return {q[0], q[1], q[2], q[3]}; }

}  // namespace

std::string JointMotion::refusal(const TreeJoint& joint) {
    if (joint.formula >= 0) return "is given by formulas";
    if (joint.turning >= Turning::swing_x) return "bends in every direction without turning";
    return "";
}

// S consists of axes of the child's frame where the translations together are the same in the frames before and behind
// the rotation, or there is no rotation.
JointMotion::JointMotion(const TreeJoint& joint) : reversed_(joint.reversed), turning_(joint.turning) {
    for (int i = 0; i < 3; ++i) {
        slide_[i] = joint.slides[i] && joint.screw_axis != i;
        if (slide_[i]) ++slides_, axes_ |= 8u << i;
    }
    screw_ = joint.screw_axis;
    advance_ = joint.advance;
    start_ = joint.start;
    if (turning_ == Turning::ball) {
        ball_ = true;
        turns_ = 3;
        axes_ |= 7u;
        axial_ = slides_ == 0 || (slides_ == 3 && !reversed_);
    } else if (turning_ == Turning::universal) {
        turns_ = 2;
        axial_ = false;
    } else if (turning_ != Turning::none) {
        turns_ = 1;
        axis_ = static_cast<int>(turning_) - static_cast<int>(Turning::about_x);
        axes_ |= 1u << axis_;
        const bool along = slides_ == 1 && slide_[axis_], across = slides_ == 2 && !slide_[axis_];
        axial_ = screw_ < 0 && (slides_ == 0 || along || (!reversed_ && (across || slides_ == 3)));
    }
}

void JointMotion::start(double* q) const {
    for (int i = 0; i < coordinates(); ++i) q[i] = 0.0;
    if (ball_) q[slides_] = 1.0;
}

Place JointMotion::forward(const double* q) const {
    Place at;
    double* shift[3] = {&at.shift.x, &at.shift.y, &at.shift.z};
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *shift[i] = *q++;
    if (ball_)
        at.rotation = rotation_matrix(quaternion_of(q));
    else if (turning_ == Turning::universal)
        at.rotation = turn_about(0, q[0]) * turn_about(1, q[1]);
    else if (axis_ >= 0)
        at.rotation = turn_about(axis_, q[0]);
    if (screw_ >= 0) *shift[screw_] = advance_ * q[0] + start_;
    return at;
}

Place JointMotion::place(const double* q) const { return reversed_ ? inverse(forward(q)) : forward(q); }

// Of marker 2 in its own axes: a rotation axis a of the rotation R gives (Rᵀ a; 0) or, as an axis behind it, (a; 0); a
// translation along e gives (0; Rᵀ e). Of the frame before the joint seen from the one behind it, with s the
// translation: (−a; a × s) and (0; −e).
void JointMotion::subspace(const double* q, double* columns) const {
    const Place at = forward(q);
    const auto turn = [&](const Vec3& before, const Vec3& behind, double lead) {
        const Vec3 a = reversed_ ? -before : behind;
        Vec3 v = reversed_ ? cross(before, at.shift) : Vec3{0, 0, 0};
        if (lead != 0.0) v += lead * a;
        put(columns, stacked(a, v));
        columns += 6;
    };
    if (ball_)
        for (int i = 0; i < 3; ++i) turn(unit(i), unit(i), 0.0);
    if (turning_ == Turning::universal) {
        turn(unit(0), transpose_times(turn_about(1, q[slides_ + 1]), unit(0)), 0.0);
        turn(turn_about(0, q[slides_]) * unit(1), unit(1), 0.0);
    }
    if (axis_ >= 0) turn(unit(axis_), unit(axis_), screw_ >= 0 ? advance_ : 0.0);
    for (int i = 0; i < 3; ++i) {
        if (!slide_[i]) continue;
        put(columns, stacked({0, 0, 0}, reversed_ ? -unit(i) : transpose_times(at.rotation, unit(i))));
        columns += 6;
    }
}

// Along axes of the child's frame a translation's rate is R v; what is reversed runs the other way.
void JointMotion::rates(const double* q, const double* u, double* rates) const {
    const double sign = axial_ && reversed_ ? -1.0 : 1.0;
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
        if (slide_[i]) *rates++ = part(before, i);
}

void JointMotion::efforts(const double* q, const double* along, double* Q) const {
    const double sign = axial_ && reversed_ ? -1.0 : 1.0;
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
        if (slide_[i]) *Q++ = part(behind, i);
}

// A ball's rates are of marker 2: in its axes, or in those of marker 1 where the joint is reversed.
void JointMotion::move(double* q, const double* rates, double time) const {
    const int plain = slides_ + (ball_ ? 0 : turns_);
    for (int i = 0; i < plain; ++i) q[i] += time * rates[i];
    if (!ball_) return;
    const Vec3 turned{time * rates[slides_], time * rates[slides_ + 1], time * rates[slides_ + 2]};
    const Quat before = quaternion_of(q + slides_), by = quaternion_exp(turned);
    const Quat after = renormalized(reversed_ ? by * before : before * by);
    q[slides_] = after.w, q[slides_ + 1] = after.x, q[slides_ + 2] = after.y, q[slides_ + 3] = after.z;
}

void JointMotion::read(const Place& place, double* q) const {
    const Place at = reversed_ ? inverse(place) : place;
    for (int i = 0; i < 3; ++i)
        if (slide_[i]) *q++ = part(at.shift, i);
    const Mat3& R = at.rotation;
    if (ball_) {
        const Quat r = quaternion_from_matrix(R);
        q[0] = r.w, q[1] = r.x, q[2] = r.y, q[3] = r.z;
    } else if (turning_ == Turning::universal) {  // R = Rx Ry: its second column is (0, cos x, sin x)
        q[0] = std::atan2(R.m[7], R.m[4]);
        q[1] = std::atan2(R.m[2], R.m[0]);
    } else if (axis_ >= 0)
        q[0] = angle_about(axis_, R);
}

}  // namespace bellcrank
