#include "model/mobility.hpp"

#include <algorithm>
#include <limits>

namespace bellcrank {

namespace {

constexpr double kLeastReach = 1e-3;  // of the mechanism's largest

}  // namespace

std::vector<double> reaches(const Model& model) {
    std::vector<double> reach(model.bodies(), 0.0);
    double most = 0.0;
    for (const MarkerPair& pair : model.pairs)
        for (int side = 0; side < 2; ++side) {
            if (pair.body[side] == model.ground()) continue;
            double& r = reach[pair.body[side]];
            r = std::max(r, norm(pair.offset[side]));
            most = std::max(most, r);
        }
    const double least = most > 0.0 ? kLeastReach * most : 1.0;
    for (double& r : reach) r = std::max(r, least);
    return reach;
}

double spread_of_mobility(const Model& model) {
    const std::vector<double> reach = reaches(model);
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        const double turning = reach[b] * reach[b];
        for (double mobility : {1.0 / model.mass[b], turning / I.x, turning / I.y, turning / I.z}) {
            least = std::min(least, mobility);
            most = std::max(most, mobility);
        }
    }
    return most > 0.0 ? most / least : 1.0;
}

}  // namespace bellcrank
