#include "integrate/oscillations.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bellcrank {

namespace {

constexpr double kUndamped = 0.02;   // damping ratio; what is damped more dies out by itself
constexpr double kInvariant = 1e-8;  // part of a vector that is new, below which there is none
constexpr double kTold = 1e-6;       // of an eigenvalue: below it the derivatives do not tell a frequency

}  // namespace

Oscillations::Oscillations(const Dynamics& dynamics, Implicit& implicit)
    : implicit_(implicit), size_(dynamics.tangent_size()) {
    basis_.setZero(size_, kVectors + 1);
    vector_.setZero(size_);
    frequencies_.reserve(kVectors);
}

// An orthonormal basis of the vectors S(γ)ʲ r, and S(γ) in it; how many there are.
int Oscillations::span(double t, const double* x, const double* u, double gamma) {
    std::uint32_t mixed = 1;
    for (int i = 0; i < size_; ++i) {
        mixed = 1664525u * mixed + 1013904223u;
        basis_(i, 0) = static_cast<double>(mixed >> 8) / (1u << 24) - 0.5;
    }
    int count = 0;
    implicit_.linearize(t, x, u, gamma, false);
    implicit_.solve_linearized(basis_.col(0).data(), basis_.col(1).data());
    basis_.col(0) = basis_.col(1) / std::max(basis_.col(1).norm(), 1e-300);
    projected_.setZero(kVectors, kVectors);
    for (; count < std::min(kVectors, size_); ++count) {
        auto next = basis_.col(count + 1);
        implicit_.solve_linearized(basis_.col(count).data(), next.data());
        const double size = next.norm();
        for (int twice = 0; twice < 2; ++twice)
            for (int k = 0; k <= count; ++k) {
                const double part = basis_.col(k).dot(next);
                projected_(k, count) += part;
                next -= part * basis_.col(k);
            }
        const double rest = next.norm();
        if (!(rest > kInvariant * size)) {
            ++count;
            break;
        }
        next /= rest;
        if (count + 1 < kVectors) projected_(count + 1, count) = rest;
    }
    return count;
}

// A Ritz value σ says 2 ζ y + y² = 1/σ − 1.
void Oscillations::find(double t, const double* x, const double* u, double gamma) {
    const int count = span(t, x, u, gamma);
    projected_.conservativeResize(count, count);
    frequencies_.clear();
    eigen_.compute(projected_);
    for (int k = 0; k < count; ++k) {
        const double sigma = eigen_.eigenvalues()[k].real();
        if (!(sigma > kTold && sigma < 1.0)) continue;
        vector_.noalias() = basis_.leftCols(count) * eigen_.eigenvectors().col(k).real();
        const double whole = 1.0 / sigma - 1.0, damping = implicit_.damping_part(vector_.data()) * whole;
        const double y = std::sqrt(std::max(0.0, whole - damping));
        if (damping < 2.0 * kUndamped * y) frequencies_.push_back(y / gamma);
    }
}

bool Oscillations::any_within(const OscillationBand& band, double h) const {
    return std::ranges::any_of(frequencies_,
                               [&](double omega) { return band.from < omega * h && omega * h < band.to; });
}

}  // namespace bellcrank
