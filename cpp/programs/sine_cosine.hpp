// Sine and cosine of programs: the same operations in the interpreter, over a batch, in native code and in exported C,
// so that all of them round alike. Every product that meets a sum is an explicit fma.
//
// x = n π/2 + r + rest with |r| ≤ π/4 by three parts of π/2, after W. J. Cody and W. Waite, Software manual for the
// elementary functions, 1980. n times the first part meets x exactly; the second part has 31 bits, so that n times it
// is exact, and what r rounds off is known but for arguments so close to a multiple of π/2 that r is n times the second
// part. Then sin r = r + r z P(z) and cos r = (1 − z/2) + z² Q(z) with z = r², minimax polynomials with relative errors
// of 2^-58 and 2^-64, and rest to first order. Error: 0.75 units in the last place. Beyond the bound, and for
// infinities and NaN, the C library's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace bellcrank {

namespace sine_cosine_constants {

inline constexpr double kBound = 0x1p+22;
inline constexpr double kShift = 0x1.8p+52;  // added, it leaves a double's whole part in its last bits
inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
inline constexpr double kHalfPi[3] = {0x1.921fb54442d18p+0, 0x1.1a62633p-54, 0x1.45c06e0e68948p-86};
inline constexpr double kSine[6] = {-0x1.5555555555548p-3, 0x1.111111110f730p-7,   -0x1.a01a019be921cp-13,
                                    0x1.71de35552bdd7p-19, -0x1.ae5e4b8480682p-26, 0x1.5d8b55cdeedf9p-33};
inline constexpr double kCosine[6] = {0x1.555555555554bp-5,   -0x1.6c16c16c15015p-10, 0x1.a01a019c8f253p-16,
                                      -0x1.27e4f7f1912d3p-22, 0x1.1ee9dbcedd017p-29,  -0x1.8fa68470b7ea8p-37};

}  // namespace sine_cosine_constants

struct SineCosine {
    double sine, cosine;
};

inline bool within_sine_bound(double x) { return std::fabs(x) <= sine_cosine_constants::kBound; }

// For arguments within the bound; no branches, so that loops over it vectorise.
inline SineCosine sine_cosine(double x) {
    using namespace sine_cosine_constants;
    const double shifted = std::fma(x, kTwoOverPi, kShift);
    const double n = shifted - kShift;
    const std::uint64_t quarter = std::bit_cast<std::uint64_t>(shifted);
    const double first = std::fma(-n, kHalfPi[0], x);
    const double r = std::fma(-n, kHalfPi[1], first);
    const double rest = std::fma(-n, kHalfPi[2], std::fma(-n, kHalfPi[1], first - r));

    const double z = r * r, z2 = z * z;
    const double p = std::fma(std::fma(std::fma(kSine[5], z, kSine[4]), z2, std::fma(kSine[3], z, kSine[2])), z2,
                              std::fma(kSine[1], z, kSine[0]));
    const double q = std::fma(std::fma(std::fma(kCosine[5], z, kCosine[4]), z2, std::fma(kCosine[3], z, kCosine[2])),
                              z2, std::fma(kCosine[1], z, kCosine[0]));
    const double half = 0.5 * r;
    const double c0 = std::fma(-half, r, 1.0);
    const double c1 = std::fma(-half, r, 1.0 - c0);
    const double c = c0 + std::fma(z2, q, std::fma(-r, rest, c1));
    const double s = r + std::fma(r * z, p, rest * c0);

    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    const std::uint64_t s_bits = std::bit_cast<std::uint64_t>(s) | (std::bit_cast<std::uint64_t>(r) & kSign);  // −0
    const std::uint64_t c_bits = std::bit_cast<std::uint64_t>(c);
    const std::uint64_t swap = std::uint64_t{0} - (quarter & 1);
    const std::uint64_t difference = (s_bits ^ c_bits) & swap;
    return {std::bit_cast<double>((s_bits ^ difference) ^ ((quarter << 62) & kSign)),
            std::bit_cast<double>((c_bits ^ difference) ^ (((quarter + 1) << 62) & kSign))};
}

}  // namespace bellcrank
