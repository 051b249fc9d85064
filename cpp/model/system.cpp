#include "model/system.hpp"

#include <algorithm>
#include <cmath>

#include "model/linearization.hpp"
#include "model/model.hpp"

namespace bellcrank {

namespace {

// Gauss–Legendre collocation on (0, 1) with eight points: of order 16.
constexpr int kPoints = 8;
constexpr int kMostIterations = 40;

struct Collocation {
    double node[kPoints], weight[kPoints], integral[kPoints][kPoints];  // from 0 to node i of the j-th basis polynomial

    Collocation() {
        for (int i = 0; i < kPoints; ++i) set_node(i);
        for (int j = 0; j < kPoints; ++j) set_basis(j);
    }

  private:
    // A root of the Legendre polynomial of degree kPoints by Newton's method, and its weight.
    void set_node(int i) {
        double x = -std::cos(M_PI * (i + 0.75) / (kPoints + 0.5)), slope = 0.0;
        for (int iteration = 0; iteration < 100; ++iteration) {
            double p = 1.0, before = 0.0;
            for (int k = 1; k <= kPoints; ++k) {
                const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = kPoints * (x * p - before) / (x * x - 1.0);
            x -= p / slope;
            if (std::abs(p / slope) < 1e-16) break;
        }
        node[i] = 0.5 * (1.0 + x);
        weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
    }

    // The basis polynomial is of degree 7: the same points, shrunk to (0, node i), integrate it exactly.
    void set_basis(int j) {
        for (int i = 0; i < kPoints; ++i) {
            integral[i][j] = 0.0;
            for (int k = 0; k < kPoints; ++k) integral[i][j] += node[i] * weight[k] * basis(j, node[i] * node[k]);
        }
    }
    double basis(int j, double s) const {
        double value = 1.0;
        for (int k = 0; k < kPoints; ++k)
            if (k != j) value *= (s - node[k]) / (node[j] - node[k]);
        return value;
    }
};

}  // namespace

System::System() = default;
System::~System() = default;

void System::compress(const double* u, double* components) const { std::copy_n(u, tangent_size(), components); }

void System::expand(const double* components, double* u) const { std::copy_n(components, tangent_size(), u); }

void System::linearize(double t, const double* x, const double* u, double gamma, bool renew) {
    if (linearization_ == nullptr) {
        linearization_ = std::make_unique<Linearization>(*this);
        defect_.assign(tangent_size(), 0.0);
        renew = true;
    }
    if (renew) linearization_->evaluate(*this, t, x, u);
    linearization_->factor(gamma);
}

void System::correct(double t, const double* x, const double* u, const double* rate, double gamma, double* delta) {
    accelerate(t, x, u, defect_.data());
    for (size_t i = 0; i < defect_.size(); ++i) defect_[i] = gamma * (defect_[i] - rate[i]);
    linearization_->solve(defect_.data(), delta);
}

int System::observation_size(const Observation& what) const {
    return FrameLayout(FrameCounts::of(what, model().bodies())).size();
}

void System::measure(double t, const double* x, const double* u, const Observation& what, double* out) {
    observe(t, x, u, what, out);
}

// ξ' = rate(ξ, u(θ)) with ξ(0) = 0 by collocation, the equations solved by iteration. Where the chart is linear the
// first iterate is the integral of u, and exact.
void System::retract_along(double h, const double* x0, const double* velocity, int degree, int stride,
                           double* out) const {
    static const Collocation collocation;
    const int n = tangent_size();
    along_.assign(static_cast<size_t>(2 * kPoints + 3) * n, 0.0);
    double *rates = along_.data(), *u = rates + kPoints * n, *xi = u + kPoints * n, *end = xi + n;
    double* rate = end + n;
    for (int i = 0; i < kPoints; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = degree; j >= 0; --j)
                u[i * n + k] = u[i * n + k] * collocation.node[i] + velocity[static_cast<size_t>(j) * stride + k];
    std::copy_n(u, kPoints * n, rates);
    for (int iteration = 0; iteration < kMostIterations; ++iteration) {
        double change = 0.0;
        for (int i = 0; i < kPoints; ++i) {
            std::fill_n(xi, n, 0.0);
            for (int j = 0; j < kPoints; ++j)
                for (int k = 0; k < n; ++k) xi[k] += h * collocation.integral[i][j] * rates[j * n + k];
            chart_rate(xi, u + i * n, rate);
            for (int k = 0; k < n; ++k) {
                change = std::max(change, std::abs(h * (rate[k] - rates[i * n + k])));
                rates[i * n + k] = rate[k];
            }
        }
        if (!(change > 1e-16)) break;
    }
    for (int j = 0; j < kPoints; ++j)
        for (int k = 0; k < n; ++k) end[k] += h * collocation.weight[j] * rates[j * n + k];
    retract(x0, end, out);
}

}  // namespace bellcrank
