// Least squares without a matrix: C. Paige and M. Saunders, LSQR: an algorithm for sparse linear equations and sparse
// least squares (1982).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace bellcrank {

struct LsqrOptions {
    double tolerance = 1e-12;  // of the residual against b, and of Aᵀ r against |A| |r|
    double damping = 0.0;      // δ of  |A x − b|² + δ² |x|²
    int iterations = 1000;
};

// Workspace of a solver for A of m rows and n columns.
class Lsqr {
  public:
    Lsqr(int m, int n) : u_(m), v_(n), w_(n) {}

    // x = the vector of least norm that minimises |A x − b|² + δ² |x|². multiply(v, out): out += A v;
    // multiply_transposed(u, out): out += Aᵀ u, both on vectors of the right size. Returns the iterations.
    template <class Multiply, class MultiplyTransposed>
    int solve(const std::vector<double>& b, std::vector<double>& x, const LsqrOptions& options, Multiply&& multiply,
              MultiplyTransposed&& multiply_transposed) {
        std::fill(x.begin(), x.end(), 0.0);
        u_ = b;
        double beta = normalise(u_);
        const double size = beta;
        std::fill(v_.begin(), v_.end(), 0.0);
        multiply_transposed(u_, v_);
        double alpha = normalise(v_);
        if (alpha * beta == 0.0) return 0;
        w_ = v_;
        double phi_bar = beta, rho_bar = alpha, norm_a = 0.0, damped = 0.0;
        const double delta = options.damping;
        for (int i = 1; i <= options.iterations; ++i) {
            scale(u_, -alpha);
            multiply(v_, u_);
            beta = normalise(u_);
            norm_a = std::sqrt(norm_a * norm_a + alpha * alpha + beta * beta + delta * delta);
            scale(v_, -beta);
            multiply_transposed(u_, v_);
            alpha = normalise(v_);
            const double rho_hat = std::hypot(rho_bar, delta), psi = delta / rho_hat * phi_bar;
            phi_bar *= rho_bar / rho_hat;
            damped = std::hypot(damped, psi);
            const double rho = std::hypot(rho_hat, beta), c = rho_hat / rho, s = beta / rho;
            const double theta = s * alpha, phi = c * phi_bar;
            rho_bar = -c * alpha;
            phi_bar *= s;
            for (size_t k = 0; k < x.size(); ++k) {
                x[k] += phi / rho * w_[k];
                w_[k] = v_[k] - theta / rho * w_[k];
            }
            const double residual = std::hypot(phi_bar, damped), gradient = alpha * std::abs(s * phi);
            if (residual <= options.tolerance * size || gradient <= options.tolerance * norm_a * residual) return i;
        }
        return options.iterations;
    }

  private:
    static double normalise(std::vector<double>& v) {
        double sum = 0.0;
        for (double e : v) sum += e * e;
        const double norm = std::sqrt(sum);
        if (norm > 0.0) scale(v, 1.0 / norm);
        return norm;
    }
    static void scale(std::vector<double>& v, double factor) {
        for (double& e : v) e *= factor;
    }

    std::vector<double> u_, v_, w_;
};

}  // namespace bellcrank
