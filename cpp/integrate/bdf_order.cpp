#include "integrate/bdf_order.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace bellcrank {

namespace {

constexpr double kUndamped = 0.02;  // damping ratio; what is damped more dies out by itself

// Where an undamped oscillation grows by more than a thousandth in a step: orders 3, 4, 5.
constexpr OscillationBand kGrows[] = {{0.25, 2.0}, {0.35, 4.8}, {0.7, 10.0}};
constexpr int kFirstGrowing = 3, kDampingOrder = 2;
// Where order 2 damps it within the steps of a run: there the order stays, though the step may be short at first.
constexpr OscillationBand kFades{0.1, 10.0};

constexpr int kFirstLooks = 20;      // steps from one look to the next at first,
constexpr int kLastLooks = 320;      // and at most
constexpr int kTransit = 2;          // looks in a row that may find growth, for steps may grow past it;
constexpr int kMostTransit = 64;     // twice as many each time that a lower order did not help, and at most
constexpr double kInvariant = 1e-8;  // part of a vector that is new, below which there is none
constexpr double kTold = 1e-6;       // of an eigenvalue: below it the derivatives do not tell a frequency

}  // namespace

StableOrders::StableOrders(const Dynamics& dynamics, Implicit& implicit)
    : implicit_(implicit), size_(dynamics.tangent_size()) {
    basis_.setZero(size_, kVectors + 1);
    halved_.setZero(size_, kVectors);
    frequencies_.reserve(kVectors);
    restart();
}

void StableOrders::restart() {
    highest_ = kMaxBdfOrder;
    wait_ = patience_ = kFirstLooks;
    growing_ = 0;
    transit_ = kTransit;
}

bool StableOrders::look(double t, const double* x, const double* u, int order, double h, double gamma) {
    if (size_ == 0 || (order < kFirstGrowing && order < highest_) || --wait_ > 0) return false;
    find_oscillations(t, x, u, gamma);
    if (highest_ == kDampingOrder) {
        const bool fades = any_within(kFades, h);
        if (!fades) highest_ = kMaxBdfOrder;
        patience_ = fades ? std::min(2 * patience_, kLastLooks) : kFirstLooks;
    } else {
        growing_ = order > kDampingOrder && any_within(kGrows[order - kFirstGrowing], h) ? growing_ + 1 : 0;
        patience_ = growing_ == 0 ? std::min(2 * patience_, kLastLooks) : kFirstLooks;
        if (growing_ >= transit_) {
            highest_ = kDampingOrder;
            growing_ = 0;
            transit_ = std::min(2 * transit_, kMostTransit);
        }
    }
    wait_ = patience_;
    return true;
}

// Ritz vectors z of S(γ) stand for both: with s = 1/(zᵀ S(γ) z) − 1 = 2 ζ y + y² and s' likewise of γ/2,
// y² = 2 (s − 2 s').
void StableOrders::find_oscillations(double t, const double* x, const double* u, double gamma) {
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
    implicit_.linearize(t, x, u, 0.5 * gamma, false);
    for (int k = 0; k < count; ++k) implicit_.solve_linearized(basis_.col(k).data(), halved_.col(k).data());
    projected_.conservativeResize(count, count);
    projected_halved_.noalias() = basis_.leftCols(count).transpose() * halved_.leftCols(count);
    implicit_.linearize(t, x, u, gamma, false);

    frequencies_.clear();
    eigen_.compute(projected_);
    for (int k = 0; k < count; ++k) {
        const auto z = eigen_.eigenvectors().col(k);
        const double whole = eigen_.eigenvalues()[k].real(), half = (z.adjoint() * projected_halved_ * z)(0).real();
        if (!(whole > kTold && half > kTold)) continue;
        const double s = 1.0 / whole - 1.0, s_half = 1.0 / half - 1.0, square = 2.0 * (s - 2.0 * s_half);
        if (square > 0.0 && s - square < 2.0 * kUndamped * std::sqrt(square))
            frequencies_.push_back(std::sqrt(square) / gamma);
    }
}

bool StableOrders::any_within(const OscillationBand& band, double h) const {
    return std::ranges::any_of(frequencies_, [&](double omega) { return band.has(omega * h); });
}

}  // namespace bellcrank
