// What the tangent stiffness is put together from, and its products with vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"
#include "spatial/rotation.hpp"
#include "statics/tangent_stiffness.hpp"

namespace bellcrank {

namespace {

constexpr double kDisplacement = 4e-3;  // of a body's length or of a radian, for central differences
constexpr int kHalvings = 3;

}  // namespace

void TangentStiffness::evaluate(double t, const double* x, const Eigen::VectorXd& lambda, double force) {
    for (std::vector<double>* v : {&values_, &errors_, &weight_, &unsure_}) std::fill(v->begin(), v->end(), 0.0);
    double reach = 0.0;
    for (int b = 0; b < model_.bodies(); ++b) reach = std::max(reach, norm(pose_position(x, b)));
    rounding_ = kEpsilon * (8.0 + reach / metric_.extent());
    add_laws(x);
    add_coordinates(x, lambda, force);
    add_wrenches(t, x);
    add_formula_rows(t, x, lambda);
    add_formula_forces(t, x);
}

void TangentStiffness::add_formula_forces(double t, const double* x) {
    // Differences with steps h, h/2, h/4, extrapolated.
    std::vector<double> ahead(rest_.size()), back(rest_.size()), moved(x, x + kPose * (model_.bodies() + 1));
    std::array<std::vector<double>, kHalvings> slopes;
    std::vector<double> rounding(rest_.size());
    for (size_t f = 0; f < model_.formula_forces.size(); ++f) {
        const std::vector<int>& bodies = bodies_of_force_[f];
        const auto force = [&](std::vector<double>& out) {
            std::fill(out.begin(), out.end(), 0.0);
            model_.formula_forces[f].add({model_, branches_, t, moved.data(), rest_.data()}, out.data());
        };
        for (int b : bodies)
            for (int j = 0; j < 6; ++j) {
                double h = kDisplacement * (j < 3 ? metric_.length(b) : 1.0);
                for (std::vector<double>& slope : slopes) {
                    for (const double step : {h, -h}) {
                        double displacement[kTwist] = {};
                        displacement[kComponent[j]] = step;
                        const Quat q = advanced(pose_rotation(x, b), twist_angular(displacement, 0));
                        store(&moved[kPose * b], pose_position(x, b) + twist_linear(displacement, 0));
                        store(&moved[kPose * b + 4], q);
                        force(step > 0.0 ? ahead : back);
                    }
                    slope.resize(ahead.size());
                    for (size_t k = 0; k < slope.size(); ++k) {
                        slope[k] = (ahead[k] - back[k]) / (2.0 * h);
                        rounding[k] = 8.0 * kEpsilon * (std::abs(ahead[k]) + std::abs(back[k])) / h;
                    }
                    h *= 0.5;
                }
                std::copy_n(x + kPose * b, kPose, &moved[kPose * b]);
                for (int a : bodies)
                    for (int i = 0; i < 6; ++i) {
                        const int at = kTwist * a + kComponent[i];
                        const double coarse = (4.0 * slopes[1][at] - slopes[0][at]) / 3.0,
                                     fine = (4.0 * slopes[2][at] - slopes[1][at]) / 3.0;
                        const double slope = (16.0 * fine - coarse) / 15.0;
                        add(a, i, b, j, -0.5 * slope, 0.5 * (std::abs(fine - coarse) + rounding[at]));
                    }
            }
    }
}

double TangentStiffness::largest() const {
    double largest = 0.0;
    for (double v : values_) largest = std::max(largest, std::abs(v));
    return largest;
}

void TangentStiffness::multiply(const Eigen::VectorXd& v, Eigen::VectorXd& out) const {
    using Six = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
    out.setZero(v.size());
    for (size_t k = 0; k < blocks_.size(); ++k) {
        const Eigen::Map<const Six> block(&values_[36 * k]);
        const int a = 6 * blocks_[k].row, b = 6 * blocks_[k].column;
        out.segment<6>(a) += block * v.segment<6>(b);
        if (a != b) out.segment<6>(b) += block.transpose() * v.segment<6>(a);
    }
}

double TangentStiffness::error_of_form(const Eigen::VectorXd& v) const {
    double sum = 0.0;
    for (size_t k = 0; k < blocks_.size(); ++k)
        for (int i = 0; i < 6; ++i)
            for (int j = 0; j < 6; ++j)
                sum += (blocks_[k].row == blocks_[k].column ? 1.0 : 2.0) *
                       std::abs(v[6 * blocks_[k].row + i] * v[6 * blocks_[k].column + j]) * errors_[36 * k + 6 * i + j];
    return sum;
}

}  // namespace bellcrank
