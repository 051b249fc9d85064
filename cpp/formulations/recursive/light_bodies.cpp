// Which trees have bodies so light beside what they carry that the recursion may lose digits there.
#include <Eigen/Eigenvalues>
#include <algorithm>

#include "formulations/recursive/links.hpp"

namespace bellcrank::recursive {

namespace {

// Of masses, and of inertias, which go with the square of lengths too.
constexpr double kMass = 1e4, kInertia = 1e5;

// About the com.
double least_inertia(const Link& link) {
    const Vec3& h = link.moment;
    const std::array<double, 6>& J = link.second;
    const double w = 1.0 / link.mass;
    Eigen::Matrix3d I;
    I << J[0] - w * (h.y * h.y + h.z * h.z), J[3] + w * h.x * h.y, J[4] + w * h.x * h.z,  //
        J[3] + w * h.x * h.y, J[1] - w * (h.x * h.x + h.z * h.z), J[5] + w * h.y * h.z,   //
        J[4] + w * h.x * h.z, J[5] + w * h.y * h.z, J[2] - w * (h.x * h.x + h.y * h.y);
    return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace

bool carries_heavier(const LinkTree& tree) {
    const size_t n = tree.links.size();
    std::vector<double> mass(n, 0.0), turning(n, 0.0);  // largest of what hangs on a link, the link included
    for (size_t i = n; i-- > 0;) {
        const Link& link = tree.links[i];
        // A joint of several elementary freedoms: links without mass before that of the body.
        int freedoms = link.speeds;
        for (int p = link.parent; p >= 0 && tree.links[p].mass == 0.0; p = tree.links[p].parent)
            freedoms += tree.links[p].speeds;
        if (link.mass > 0.0 && freedoms > 1) {
            if (mass[i] > kMass * link.mass || turning[i] > kInertia * least_inertia(link)) return true;
        }
        mass[i] = std::max(mass[i], link.mass);
        turning[i] = std::max(turning[i], link.second[0] + link.second[1] + link.second[2]);
        if (link.parent < 0) continue;
        const Vec3& r = link.at.shift;
        mass[link.parent] = std::max(mass[link.parent], mass[i]);
        turning[link.parent] = std::max({turning[link.parent], turning[i], mass[i] * dot(r, r)});
    }
    return false;
}

}  // namespace bellcrank::recursive
