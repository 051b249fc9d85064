#include "geometry/time_of_impact.hpp"

#include <stdexcept>
#include <string>

#include "geometry/collide.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

Pose ShapeMotion::at(double time) const {
    return {start.p + time * velocity, rotation_matrix(quaternion_exp(time * angular_velocity)) * start.R};
}

namespace {

double turning_speed(const Shape& shape, const ShapeMotion& motion) {
    const double spin = norm(motion.angular_velocity);
    if (spin > 0.0 && !(shape.reach_out < Bounds::kInfinity))
        throw std::invalid_argument(std::string("time of impact: a ") + name_of(shape.kind) +
                                    " has no bounds and must not turn, got |ω| = " + std::to_string(spin) + " rad/s");
    return spin > 0.0 ? spin * shape.reach_out : 0.0;
}

}  // namespace

bool time_of_impact(const Shape& a, const ShapeMotion& of_a, const Shape& b, const ShapeMotion& of_b, double duration,
                    double tolerance, ContactManifold& scratch, Impact& impact) {
    if (!(tolerance > 0.0))
        throw std::invalid_argument("time of impact: the tolerance must be positive, got " + std::to_string(tolerance) +
                                    "; give a gap in m that counts as contact");
    const double fastest = norm(of_a.velocity - of_b.velocity) + turning_speed(a, of_a) + turning_speed(b, of_b);
    for (double time = 0.0;;) {
        // Gaps that cannot close any more are not looked for.
        const double reach = fastest * (duration - time) + tolerance;
        collide(a, of_a.at(time), b, of_b.at(time), reach, scratch);
        const ContactPoint* nearest = nullptr;
        for (const ContactPoint& p : scratch.points)
            if (!nearest || p.gap < nearest->gap) nearest = &p;
        if (!nearest) return false;
        if (nearest->gap <= tolerance) {
            impact = {time, *nearest};
            return true;
        }
        time += (nearest->gap - 0.5 * tolerance) / fastest;
        if (!(time <= duration)) return false;
    }
}

}  // namespace bellcrank
