#include "model/mobility.hpp"

#include <algorithm>
#include <limits>

namespace bellcrank {

namespace {

constexpr double kLeastReach = 1e-3;  // of the mechanism's largest
constexpr double kCentred = 1e-12;    // the same, of markers at the centre of mass

std::vector<double> farthest_markers(const Model& model) {
    std::vector<double> reach(model.bodies(), 0.0);
    for (const MarkerPair& pair : model.pairs)
        for (int side = 0; side < 2; ++side)
            if (pair.body[side] != model.ground())
                reach[pair.body[side]] = std::max(reach[pair.body[side]], norm(pair.offset[side]));
    return reach;
}

double largest_of(const std::vector<double>& reach) {
    return reach.empty() ? 0.0 : *std::max_element(reach.begin(), reach.end());
}

}  // namespace

std::vector<double> reaches(const Model& model) {
    std::vector<double> reach = farthest_markers(model);
    const double most = largest_of(reach), least = most > 0.0 ? kLeastReach * most : 1.0;
    for (double& r : reach) r = std::max(r, least);
    return reach;
}

double spread_of_mobility(const Model& model) {
    const std::vector<double> markers = farthest_markers(model), reach = reaches(model);
    const double longest = largest_of(reach);
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        // No force turns a wheel that is held at its centre alone, only moments do, which have the arms of other
        // bodies.
        const bool centred = markers[b] <= kCentred * longest;
        const double turning = reach[b] * reach[b], by_moments = centred ? longest * longest : turning;
        for (const double moment : {I.x, I.y, I.z}) {
            least = std::min(least, by_moments / moment);
            most = std::max(most, turning / moment);
        }
        least = std::min(least, 1.0 / model.mass[b]);
        most = std::max(most, 1.0 / model.mass[b]);
    }
    return most > 0.0 ? most / least : 1.0;
}

}  // namespace bellcrank
