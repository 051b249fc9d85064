#include "bodies/correction_history.hpp"

#include <algorithm>
#include <cmath>

#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// Steps of one length differ by the rounding of their times.
constexpr double kSameLength = 1e-6;

// Part of a correction that an expectation may have missed and still be followed by another.
constexpr double kMostMissed = 0.25;

// The cubic through steps 0 to 3, at step 4.
constexpr double kWeights[] = {-1.0, 4.0, -6.0, 4.0};

}  // namespace

void CorrectionHistory::resize(int rows) {
    for (auto& correction : corrections_) correction.assign(rows, 0.0);
    expected_.assign(rows, 0.0);
    alike_ = 0;
}

const double* CorrectionHistory::expect(double t) {
    const double step = t - time_;
    alike_ = step > 0.0 && std::abs(step - step_) <= kSameLength * step ? alike_ + 1 : 0;
    time_ = t;
    step_ = step;
    begun_ = true;
    const bool known = alike_ > kKept && foreseen();
    extrapolate();
    latest_ = (latest_ + 1) % kKept;
    std::fill(corrections_[latest_].begin(), corrections_[latest_].end(), 0.0);
    return known ? expected_.data() : nullptr;
}

void CorrectionHistory::add(const double* tau) {
    if (!begun_) return;
    std::vector<double>& correction = corrections_[latest_];
    for (size_t r = 0; r < correction.size(); ++r) correction[r] += tau[r];
}

bool CorrectionHistory::foreseen() const {
    const double *found = corrections_[latest_].data(), *expected = expected_.data();
    const int rows = static_cast<int>(expected_.size());
    const double size = largest_size(rows, [&](int r, auto load) { return load(found + r); });
    const double missed = largest_size(rows, [&](int r, auto load) { return load(found + r) - load(expected + r); });
    return missed < kMostMissed * size;
}

void CorrectionHistory::extrapolate() {
    const double* tau[kKept];
    for (int k = 0; k < kKept; ++k) tau[k] = corrections_[(latest_ + 1 + k) % kKept].data();
    for (size_t r = 0; r < expected_.size(); ++r)
        expected_[r] =
            kWeights[0] * tau[0][r] + kWeights[1] * tau[1][r] + kWeights[2] * tau[2][r] + kWeights[3] * tau[3][r];
}

}  // namespace bellcrank
