// What a number does between two times at which it and its rate are known.
#pragma once

#include <cmath>

namespace bellcrank {

// A gap within a step: the cubic through gaps, and speeds times the length of the step, at both ends.
struct GapCourse {
    double start, speed, a, b;

    GapCourse(double start, double speed, double end, double end_speed)
        : start(start),
          speed(speed),
          a(3.0 * (end - start) - 2.0 * speed - end_speed),
          b(2.0 * (start - end) + speed + end_speed) {}

    double at(double s) const { return start + s * (speed + s * (a + s * b)); }
    // Where it is least, and where it is most; not a number if it rises or falls all the way.
    double lowest() const { return -speed / (a + std::sqrt(a * a - 3.0 * b * speed)); }
    double highest() const { return -speed / (a - std::sqrt(a * a - 3.0 * b * speed)); }
    // Its zero between where it is open and where it is not.
    double zero(double open, double closed) const {
        for (double middle = 0.5 * (open + closed); middle > open && middle < closed; middle = 0.5 * (open + closed))
            (at(middle) > 0.0 ? open : closed) = middle;
        return open;
    }
};

}  // namespace bellcrank
