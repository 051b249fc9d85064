// A row of eight numbers in vector registers. Compilers turn the same loops over plain arrays into shuffles between
// registers, which take several times as long.
#pragma once

#include <cstring>

namespace bellcrank {

struct WideRow {
    using Four = double __attribute__((vector_size(32)));
    Four a, b;

    WideRow() : a{}, b{} {}
    explicit WideRow(const double* p) {
        std::memcpy(&a, p, sizeof a);
        std::memcpy(&b, p + 4, sizeof b);
    }
    void store(double* p) const {
        std::memcpy(p, &a, sizeof a);
        std::memcpy(p + 4, &b, sizeof b);
    }
    // += s · row
    void add(double s, const WideRow& row) {
        a += s * row.a;
        b += s * row.b;
    }
};

inline double dot(const WideRow& x, const WideRow& y) {
    const WideRow::Four products = x.a * y.a + x.b * y.b;
    return (products[0] + products[1]) + (products[2] + products[3]);
}

}  // namespace bellcrank
