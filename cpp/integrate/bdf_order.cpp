#include "integrate/bdf_order.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

// Where an undamped oscillation grows by more than a thousandth in a step: orders 3, 4, 5.
constexpr OscillationBand kGrows[] = {{0.25, 2.0}, {0.35, 4.8}, {0.7, 10.0}};
constexpr int kFirstGrowing = 3, kDampingOrder = 2;
// Where order 2 damps it within the steps of a run: there the order stays, though the step may be short at first.
constexpr OscillationBand kFades{0.1, 10.0};

constexpr int kFirstLooks = 20;   // steps from one look to the next at first,
constexpr int kLastLooks = 320;   // and at most
constexpr int kTransit = 2;       // looks in a row that may find growth, for steps may grow past it;
constexpr int kMostTransit = 64;  // twice as many each time that a lower order did not help, and at most

}  // namespace

StableOrders::StableOrders(const Dynamics& dynamics, Implicit& implicit)
    : oscillations_(dynamics, implicit), moves_(dynamics.tangent_size() > 0) {
    restart();
}

void StableOrders::restart() {
    highest_ = kMaxBdfOrder;
    wait_ = patience_ = kFirstLooks;
    growing_ = 0;
    transit_ = kTransit;
}

bool StableOrders::look(double t, const double* x, const double* u, int order, double h, double gamma) {
    if (!moves_ || (order < kFirstGrowing && order < highest_) || --wait_ > 0) return false;
    oscillations_.find(t, x, u, gamma);
    if (highest_ == kDampingOrder) {
        const bool fades = oscillations_.any_within(kFades, h);
        if (!fades) highest_ = kMaxBdfOrder;
        patience_ = fades ? std::min(2 * patience_, kLastLooks) : kFirstLooks;
    } else {
        growing_ =
            order > kDampingOrder && oscillations_.any_within(kGrows[order - kFirstGrowing], h) ? growing_ + 1 : 0;
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

}  // namespace bellcrank
