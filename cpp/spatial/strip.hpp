// A few consecutive doubles in registers: as many vectors as they fill, the rest one by one.
#pragma once

#include "spatial/lanes.hpp"

namespace bellcrank {

template <int N>
struct Strip {
    static constexpr int kWhole = N / kLanes, kRest = N % kLanes;
    Lane whole[kWhole > 0 ? kWhole : 1];
    double rest[kRest > 0 ? kRest : 1];

    static Strip load(const double* p) {
        Strip s;
        for (int i = 0; i < kWhole; ++i) s.whole[i] = load_lane(p + kLanes * i);
        for (int i = 0; i < kRest; ++i) s.rest[i] = p[kLanes * kWhole + i];
        return s;
    }
    void store(double* p) const {
        for (int i = 0; i < kWhole; ++i) store_lane(p + kLanes * i, whole[i]);
        for (int i = 0; i < kRest; ++i) p[kLanes * kWhole + i] = rest[i];
    }
    static Strip scaled(double f, const Strip& b) {
        Strip s;
        for (int i = 0; i < kWhole; ++i) s.whole[i] = f * b.whole[i];
        for (int i = 0; i < kRest; ++i) s.rest[i] = f * b.rest[i];
        return s;
    }
    void add_scaled(double f, const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] += f * b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] += f * b.rest[i];
    }
    void subtract_scaled(double f, const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] -= f * b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] -= f * b.rest[i];
    }
    void subtract(const Strip& b) {
        for (int i = 0; i < kWhole; ++i) whole[i] -= b.whole[i];
        for (int i = 0; i < kRest; ++i) rest[i] -= b.rest[i];
    }
};

}  // namespace bellcrank
