#include "integrate/progress.hpp"

#include <algorithm>
#include <limits>

namespace bellcrank {

namespace {

constexpr long long kWindow = 1LL << 14;  // attempts of the shortest window
constexpr int kWindows = 40;
constexpr double kSlow = 1e6;           // attempts that are left
constexpr long long kSeen = 1LL << 17;  // attempts before a warning
// Attempts seen, times those left, that leave no hope: a run may crawl through a short part of a long time.
constexpr double kWithoutHope = 1e16;
constexpr long long kOften = 10;  // of so many attempts one is ended by the event that is to blame

}  // namespace

void Progress::begin(double t, int events) {
    attempts_ = 0;
    begun_.assign(kWindows, t);
    ends_.assign(events, 0);
}

Progress::Verdict Progress::count(double t, double left) {
    if (++attempts_ % kWindow != 0) return Verdict::fine;
    look_at_events();
    Verdict worst = Verdict::fine;
    long long window = kWindow;
    for (int k = 0; k < kWindows && attempts_ % window == 0; ++k, window *= 2) {
        worst = std::max(worst, judge(t, left, window, begun_[k]));
        begun_[k] = t;
    }
    return worst;
}

Progress::Verdict Progress::judge(double t, double left, long long window, double begun) {
    const auto seen = static_cast<double>(window);
    window_ = window;
    left_ = t > begun ? left / (t - begun) * seen : std::numeric_limits<double>::infinity();
    if (left_ >= kMostAttempts && left_ * seen >= kWithoutHope) return Verdict::endless;
    if (left_ >= kManyAttempts && window >= kSeen) return Verdict::crawls;
    return left_ >= kSlow ? Verdict::slow : Verdict::fine;
}

void Progress::look_at_events() {
    const auto most = std::ranges::max_element(ends_);
    const bool often = most != ends_.end() && *most * kOften >= kWindow;
    event_ = often ? static_cast<int>(most - ends_.begin()) : -1;
    ended_ = often ? *most : 0;
    std::ranges::fill(ends_, 0);
}

}  // namespace bellcrank
