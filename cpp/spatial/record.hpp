// A record of eight doubles (spatial/body_state.hpp) in registers.
#pragma once

#include "spatial/lanes.hpp"

namespace bellcrank {

#if BELLCRANK_LANES == 4

struct Record {
    Lane low, high;

    static Record load(const double* p) { return {load_lane(p), load_lane(p + 4)}; }
    void store(double* p) const {
        store_lane(p, low);
        store_lane(p + 4, high);
    }
    void add_scaled(double s, const Record& r) {
        low += s * r.low;
        high += s * r.high;
    }
    void add_product(const Record& a, const Record& b) {
        low += a.low * b.low;
        high += a.high * b.high;
    }
    double sum() const {
        const Lane s = low + high;
        return (s[0] + s[2]) + (s[1] + s[3]);
    }
};

#else

struct Record {
    double value[8];

    static Record load(const double* p) {
        Record r;
        for (int k = 0; k < 8; ++k) r.value[k] = p[k];
        return r;
    }
    void store(double* p) const {
        for (int k = 0; k < 8; ++k) p[k] = value[k];
    }
    void add_scaled(double s, const Record& r) {
        for (int k = 0; k < 8; ++k) value[k] += s * r.value[k];
    }
    void add_product(const Record& a, const Record& b) {
        for (int k = 0; k < 8; ++k) value[k] += a.value[k] * b.value[k];
    }
    double sum() const {
        double s = 0.0;
        for (int k = 0; k < 8; ++k) s += value[k];
        return s;
    }
};

#endif

inline Record operator*(const Record& a, const Record& b) {
    Record r{};
    r.add_product(a, b);
    return r;
}

}  // namespace bellcrank
