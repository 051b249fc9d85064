#include "integrate/pole_watch.hpp"

#include <algorithm>
#include <cmath>

#include "model/directions.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

constexpr double kPartOfWay = 0.5;  // that a step may go to a pole
// Distances from a pole, in parts of the farthest. Closer than that it is stepped over: less, and rounding of positions
// shows in directions; more, and the motion is not a parabola.
constexpr double kNearPole = 0.1;
constexpr double kCloseBy = 1e-4;
constexpr double kAtPole = 1e-9;          // that is none
constexpr double kRoundedToPole = 1e-13;  // of the lengths that it comes from: that is none, either

}  // namespace

PoleWatch::PoleWatch(Record& record, Steps& steps) : record_(record), steps_(steps) {
    for (const RowDirection& direction : directions_of_rows(record.model()))
        angles_.push_back({direction.row, direction.coordinate, direction.kind, direction.at_pole, 0.0, {}, false});
}

int PoleWatch::undefined(double t, const double* x, const double* u) {
    if (angles_.empty()) return -1;
    const Scenery at = record_.scenery(t, x, u);
    for (const Angle& angle : angles_) {
        const MarkerPair& pair = at.model.pairs[at.model.coordinates[angle.coordinate].pair];
        const RelativeMotion motion = relative_motion(pair, at.x, at.u, nullptr);
        const Direction d = angle.kind->along(motion);
        double size = angle.kind->of_lengths ? norm(motion.r) : 1.0;
        for (int side = 0; side < 2 && angle.kind->of_lengths; ++side)
            size += norm(pair.offset[side]) + norm(pose_position(at.x, pair.body[side]));
        if (std::hypot(d.c, d.s) <= kRoundedToPole * size) return angle.row;
    }
    return -1;
}

double PoleWatch::longest_step(double t, double h, const double* x, const double* u) {
    reached_ = near_ = -1;
    way_over_ = 0.0;
    if (angles_.empty()) return h;
    const Scenery at = record_.scenery(t, x, u);
    for (Angle& angle : angles_) {
        const MarkerPair& pair = at.model.pairs[at.model.coordinates[angle.coordinate].pair];
        const Direction d = angle.at = angle.kind->along(relative_motion(pair, at.x, at.u, nullptr));
        const double distance = std::hypot(d.c, d.s);
        angle.farthest = std::max(angle.farthest, distance);
        if (distance <= kNearPole * angle.farthest) near_ = angle.row;
        if (distance <= kAtPole * angle.farthest) reached_ = angle.row;
        const double approach = -(d.c * d.c_rate + d.s * d.s_rate) / distance;
        if (!(approach > 0.0)) continue;
        if (distance <= kCloseBy * angle.farthest) way_over_ = std::max(way_over_, 2.0 * distance / approach);
        if (approach * h > kPartOfWay * distance) h = kPartOfWay * distance / approach;
    }
    return h;
}

template <class Visit>
void PoleWatch::for_each_turned(double t, const double* x, const double* u, Visit visit) {
    if (angles_.empty()) return;
    const Scenery at = record_.scenery(t, x, u);
    for (Angle& angle : angles_) {
        const MarkerPair& pair = at.model.pairs[at.model.coordinates[angle.coordinate].pair];
        const Direction d = angle.kind->along(relative_motion(pair, at.x, at.u, nullptr));
        visit(angle, d, !(d.c * angle.at.c + d.s * angle.at.s > 0.0));
    }
}

int PoleWatch::turn_over(double t, const double* x, const double* u) {
    int ended = -1;
    for_each_turned(t, x, u, [&](Angle& angle, const Direction&, bool turned) {
        angle.over = turned && angle.at_pole == AtPole::turns_over;
        if (turned && angle.at_pole == AtPole::ends) ended = angle.row;
    });
    if (!steps_.passes_poles())
        for (const Angle& angle : angles_)
            if (angle.over) ended = angle.row;
    is_over_ = false;
    switch_sides();
    return ended;
}

void PoleWatch::switch_sides() {
    is_over_ = !is_over_;
    for (const Angle& angle : angles_)
        if (angle.over) steps_.turn_over(angle.coordinate);
}

int PoleWatch::turned_over(double t, const double* x, const double* u) {
    int row = -1;
    for_each_turned(t, x, u, [&](Angle& angle, const Direction& d, bool turned) {
        if (turned && angle.at_pole != AtPole::goes_on) row = angle.row;
        angle.at = d;
    });
    return row;
}

}  // namespace bellcrank
