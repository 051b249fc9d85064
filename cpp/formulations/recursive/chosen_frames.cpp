#include "formulations/recursive/chosen_frames.hpp"

#include <cmath>

namespace bellcrank::recursive {

namespace {

constexpr double kParallel = 1e-15;    // sine of an angle that is rounding
constexpr double kFar = 20.0;          // feet of the normal, in distances of the origins
constexpr double kLeastLength = 1e-3;  // [m]

Mat3 about_z(double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    return {{c, -s, 0, s, c, 0, 0, 0, 1}};
}

// How a link's frame is moved: turned by `turn` about z and moved by `shift` along it.
struct Move {
    double turn = 0, shift = 0;
    Place place() const { return {about_z(turn), {0, 0, shift}}; }
};

// The move of the parent after which the child's axis is met along x, about x and along z; false: none.
bool common_normal(const Place& child, Move& out) {
    const Vec3 &o = child.shift, e{child.rotation.m[2], child.rotation.m[5], child.rotation.m[8]};
    const double sine = std::hypot(e.x, e.y);
    if (sine < kParallel) {
        out = {std::hypot(o.x, o.y) > 0.0 ? std::atan2(o.y, o.x) : 0.0, 0.0};
        return true;
    }
    const Vec3 n{-e.y / sine, e.x / sine, 0.0};
    const double s = (-n.y * o.x + n.x * o.y) / sine, t = o.z + s * e.z;
    const double far = kFar * (norm(o) + kLeastLength);
    if (std::abs(s) > far || std::abs(t) > far) return false;
    out = {std::atan2(n.y, n.x), t};
    return true;
}

// at = shift along x, turn about x, shift along z, turn about z: the last goes into the angle.
void take_apart(const Place& at, double shift, ChosenFrame& out) {
    const double* m = at.rotation.m;
    double sine = -m[5], cosine = m[8];
    const double size = std::hypot(sine, cosine);
    sine /= size, cosine /= size;
    out.offset = std::atan2(cosine * m[3] + sine * m[6], m[0]);
    out.along = shift - sine * at.shift.y + cosine * at.shift.z;
    out.at = {{{1, 0, 0, 0, cosine, -sine, 0, sine, cosine}}, {at.shift.x, -sine * out.along, cosine * out.along}};
    out.axial = true;
}

// Mass properties in the moved frame.
void move_mass(const Link& link, const Move& move, ChosenFrame& out) {
    const Vec3& h = link.moment;
    const double t = move.shift, m = link.mass;
    std::array<double, 6> J = link.second;
    J[0] += m * t * t - 2.0 * t * h.z;
    J[1] += m * t * t - 2.0 * t * h.z;
    J[4] += t * h.x;
    J[5] += t * h.y;
    const double c = std::cos(move.turn), s = std::sin(move.turn), z = h.z - m * t;
    out.moment = {c * h.x + s * h.y, c * h.y - s * h.x, z};
    out.second = {c * c * J[0] + s * s * J[1] + 2.0 * s * c * J[3],
                  s * s * J[0] + c * c * J[1] - 2.0 * s * c * J[3],
                  J[2],
                  s * c * (J[1] - J[0]) + (c * c - s * s) * J[3],
                  c * J[4] + s * J[5],
                  c * J[5] - s * J[4]};
}

}  // namespace

std::vector<ChosenFrame> choose_frames(const LinkTree& tree) {
    const size_t n = tree.links.size();
    std::vector<Move> moves(n);
    std::vector<bool> axial(n, false);
    for (size_t i = 0; i + 1 < n; ++i) {
        const Link& next = tree.links[i + 1];
        if (next.parent != static_cast<int>(i) || tree.links[i].motion != Motion::turn) continue;
        if (next.motion == Motion::turn) axial[i + 1] = common_normal(next.at, moves[i]);
    }
    std::vector<ChosenFrame> out(n);
    for (size_t i = 0; i < n; ++i) {
        const Link& link = tree.links[i];
        const Place at = link.parent < 0 ? link.at : inverse(moves[link.parent].place()) * link.at;
        if (axial[i]) {
            take_apart(at, moves[i].shift, out[i]);
            out[i].offset += moves[i].turn;
        } else {
            out[i].at = at * moves[i].place();
        }
        move_mass(link, moves[i], out[i]);
    }
    return out;
}

}  // namespace bellcrank::recursive
