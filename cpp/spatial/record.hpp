// Four consecutive doubles in registers: half a record of eight (spatial/body_state.hpp), three components and a 0.
#pragma once

#include "spatial/lanes.hpp"

namespace bellcrank {

#if BELLCRANK_LANES == 4

struct Quad {
    Lane value;

    static Quad load(const double* p) { return {load_lane(p)}; }
    void store(double* p) const { store_lane(p, value); }
    void add_scaled(double s, const Quad& q) { value += s * q.value; }
    void add_product(const Quad& a, const Quad& b) { value += a.value * b.value; }
    double sum() const { return (value[0] + value[2]) + (value[1] + value[3]); }
};

#else

struct Quad {
    double value[4];

    static Quad load(const double* p) { return {{p[0], p[1], p[2], p[3]}}; }
    void store(double* p) const {
        for (int k = 0; k < 4; ++k) p[k] = value[k];
    }
    void add_scaled(double s, const Quad& q) {
        for (int k = 0; k < 4; ++k) value[k] += s * q.value[k];
    }
    void add_product(const Quad& a, const Quad& b) {
        for (int k = 0; k < 4; ++k) value[k] += a.value[k] * b.value[k];
    }
    double sum() const { return (value[0] + value[2]) + (value[1] + value[3]); }
};

#endif

}  // namespace bellcrank
