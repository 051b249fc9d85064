// Coordinates beam_1 to beam_6 of two neighbouring cross-sections of an elastic beam: six numbers y with ½ |y|² its
// strain energy, so that laws of stiffness 1 along them are the beam.
//
// ε = log(g₁⁻¹ g₂) is the strain, times the length h, of a segment that is strained alike everywhere. With the
// flexibility C of a unit of length and the unloaded strain ξ⁰ the energy would be ½ dᵀ (hC)⁻¹ d, d = ε − h ξ⁰. But
// where the ends carry loads F = (n, m), equilibrium makes them differ along the segment,
//   F' = A F,   A = −[[κ^, 0], [Γ^, κ^]],   (Γ, κ) = ε/h.
// The complementary energy of F(s) = F + s A F is ½ Fᵀ f F, with the flexibility
//   f = h C + (h³/12) Aᵀ C A = L Lᵀ,
// which leaves an error of fourth order. So the energy is ½ dᵀ f⁻¹ d, and
//   y = L⁻¹ d.
#include <algorithm>
#include <stdexcept>

#include "joints/logarithm.hpp"

namespace bellcrank {

namespace {

constexpr int kBeamParams = 28;  // h; C, its upper triangle by rows; ξ⁰

// Where entry (i, j) of C stands among the parameters.
constexpr int place_of_flexibility(int i, int j) {
    const int a = std::min(i, j), b = std::max(i, j);
    return 1 + a * 6 - a * (a - 1) / 2 + b - a;
}

template <class Number>
using SixOf = std::array<Number, 6>;

// A function of ε along a motion, with its derivatives side by side: by u and by time, and by φ.
struct StrainJet {
    double value, quadratic;  // as in a Jet
    Four u, phi;

    double rate() const { return u[3]; }
    double by(int k) const { return k < 3 ? u[k] : phi[k - 3]; }

    friend StrainJet operator+(const StrainJet& a, const StrainJet& b) {
        return {a.value + b.value, a.quadratic + b.quadratic, a.u + b.u, a.phi + b.phi};
    }
    friend StrainJet operator-(const StrainJet& a, const StrainJet& b) {
        return {a.value - b.value, a.quadratic - b.quadratic, a.u - b.u, a.phi - b.phi};
    }
    friend StrainJet operator+(const StrainJet& a, double b) { return {a.value + b, a.quadratic, a.u, a.phi}; }
    friend StrainJet operator*(double s, const StrainJet& a) {
        return {s * a.value, s * a.quadratic, s * a.u, s * a.phi};
    }
    friend StrainJet operator*(const StrainJet& a, const StrainJet& b) {
        return {a.value * b.value, a.value * b.quadratic + b.value * a.quadratic + 2.0 * a.rate() * b.rate(),
                a.value * b.u + b.value * a.u, a.value * b.phi + b.value * a.phi};
    }
    friend StrainJet inverse_root(const StrainJet& a) {
        const double h = 1.0 / std::sqrt(a.value), cube = h * h * h, slope = -0.5 * cube;
        return {h, slope * a.quadratic + 0.75 * cube * h * h * a.rate() * a.rate(), slope * a.u, slope * a.phi};
    }
};

// ε = (u, φ).
template <class Pose>
auto logarithm_of(Pose& pose) {
    const std::array v{pose.quaternion(1), pose.quaternion(2), pose.quaternion(3)};
    const std::array r{pose.position(0), pose.position(1), pose.position(2)};
    const auto across = [&v](const auto& w, int i) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        return v[a] * w[b] - v[b] * w[a];
    };
    const auto C = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const auto f = function_f(C) * pose.quaternion(0), k = function_k(C);
    const std::array vr{across(r, 0), across(r, 1), across(r, 2)};
    const auto u = [&](int i) { return r[i] - f * vr[i] + k * across(vr, i); };
    const auto phi = [&](int i) { return 2.0 * (f * v[i]); };
    return std::array{u(0), u(1), u(2), phi(0), phi(1), phi(2)};
}

// The columns of h A, but for their sign, which Aᵀ C A has not: those of forces n are (φ×, u×), of moments m (0, φ×).
// at: of row and number for each entry that is not zero.
template <class Number, class Visit>
void for_each_of_column(const SixOf<Number>& strain, int column, const Visit& at) {
    const int j = column % 3, a = (j + 1) % 3, b = (j + 2) % 3;
    const Number *u = strain.data(), *phi = u + 3;
    // w × e_j has −w_a at b and w_b at a.
    const int first = column < 3 ? 0 : 3;
    at(first + a, phi[b], 1.0);
    at(first + b, phi[a], -1.0);
    if (column >= 3) return;
    at(3 + a, u[b], 1.0);
    at(3 + b, u[a], -1.0);
}

bool is_known_zero(double a) { return a == 0.0; }
template <class S>
bool is_known_zero(const S&) {
    return false;
}  // with derivatives, or not known yet

// f, its lower triangle.
template <class Number, class S>
void flexibility(const SixOf<Number>& strain, std::span<const S> params, SixOf<SixOf<Number>>& f) {
    const S h = params[0], twelfth = h / 12.0;
    const Number zero = 0.0 * strain[0];
    const auto C = [&](int i, int j) { return params[place_of_flexibility(i, j)]; };
    for (int j = 0; j < 6; ++j) {
        SixOf<Number> image;  // of a column, by C
        image.fill(zero);
        for_each_of_column(strain, j, [&](int row, const Number& entry, double sign) {
            for (int i = 0; i < 6; ++i)
                if (!is_known_zero(C(i, row))) image[i] = image[i] + (sign * twelfth * C(i, row)) * entry;
        });
        for (int i = 0; i <= j; ++i) {
            f[j][i] = zero + h * C(j, i);
            for_each_of_column(strain, i, [&](int row, const Number& entry, double sign) {
                f[j][i] = f[j][i] + sign * (entry * image[row]);
            });
        }
    }
}

// Cholesky's factor, its diagonal inverted, and forward substitution.
template <class Number>
void solve_lower(SixOf<SixOf<Number>>& f, SixOf<Number>& y, int count) {
    for (int j = 0; j < count; ++j) {
        for (int i = 0; i < j; ++i) {
            for (int k = 0; k < i; ++k) f[j][i] = f[j][i] - f[j][k] * f[i][k];
            f[j][i] = f[j][i] * f[i][i];
        }
        for (int k = 0; k < j; ++k) {
            f[j][j] = f[j][j] - f[j][k] * f[j][k];
            y[j] = y[j] - f[j][k] * y[k];
        }
        f[j][j] = inverse_root(f[j][j]);
        y[j] = y[j] * f[j][j];
    }
}

// The first `count` of y, in place of ε.
template <class Number, class S>
void beam_strains(SixOf<Number>& strain, std::span<const S> params, int count) {
    SixOf<SixOf<Number>> f;
    flexibility(strain, params, f);
    for (int i = 0; i < 6; ++i) strain[i] = strain[i] + (-1.0 * params[0]) * params[22 + i];
    solve_lower(f, strain, count);
}

void beam_strains(const RelativeMotionT<Dual4>& motion, std::span<const Dual4> params,
                  SixOf<CoordinateValueT<Dual4>>& out) {
    JetPose pose(motion);
    auto y = logarithm_of(pose);
    beam_strains(y, params, 6);
    for (int i = 0; i < 6; ++i) assign(out[i], y[i]);
}

void beam_strains(const RelativeMotion& motion, std::span<const double> params, SixOf<CoordinateValue>& out) {
    JetPose pose(motion);
    const SixOf<Jet> strain = logarithm_of(pose);
    SixOf<StrainJet> y;
    for (int i = 0; i < 6; ++i) {
        y[i] = StrainJet{strain[i].value, strain[i].quadratic, Four{}, Four{}};
        (i < 3 ? y[i].u : y[i].phi)[i % 3] = 1.0;
        y[i].u[3] = strain[i].rate;
    }
    beam_strains(y, params, 6);
    for (int i = 0; i < 6; ++i) {
        out[i] = {y[i].value, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, y[i].quadratic};
        for (int k = 0; k < 6; ++k) {
            out[i].dr = out[i].dr + y[i].by(k) * strain[k].dr;
            out[i].domega = out[i].domega + y[i].by(k) * strain[k].domega;
        }
    }
}

bool is_same(double a, double b) { return a == b; }
bool is_same(const Dual4& a, const Dual4& b) {
    return a.value == b.value && std::equal(&a.d[0], &a.d[0] + kDirections, &b.d[0]);
}

// The six are asked for one after another at the same motion, and are made together: this remembers the last.
template <class S>
struct LastBeam {
    bool any = false;
    std::array<S, 13 + kBeamParams> key;
    SixOf<CoordinateValueT<S>> y;
};

template <class S>
const SixOf<CoordinateValueT<S>>& all_strains(const RelativeMotionT<S>& m, std::span<const S> params) {
    thread_local LastBeam<S> last;
    std::array<S, 13 + kBeamParams> key{m.r.x,    m.r.y,    m.r.z,    m.q.w,     m.q.x,     m.q.y,    m.q.z,
                                        m.rdot.x, m.rdot.y, m.rdot.z, m.omega.x, m.omega.y, m.omega.z};
    std::copy(params.begin(), params.end(), key.begin() + 13);
    if (last.any &&
        std::equal(key.begin(), key.end(), last.key.begin(), [](const S& a, const S& b) { return is_same(a, b); }))
        return last.y;
    beam_strains(m, params, last.y);
    last.key = key;
    last.any = true;
    return last.y;
}

template <int number, class S>
void beam_strain(const RelativeMotionT<S>& motion, std::span<const S> params, CoordinateValueT<S>& out) {
    out = all_strains(motion, params)[number];
}

template <int number>
Expression beam_strain_formula(SymbolicPose& pose, std::span<const Expression> params) {
    auto y = logarithm_of(pose);
    beam_strains(y, params, number + 1);
    return y[number];
}

void check_beam(std::span<const double> params) {
    if (params.size() != kBeamParams)
        throw std::invalid_argument("a beam's coordinates need its length, 21 flexibilities and 6 unloaded strains");
    if (!std::all_of(params.begin(), params.end(), [](double p) { return std::isfinite(p); }))
        throw std::invalid_argument("a beam's coordinates need finite numbers");
    if (!(params[0] > 0.0)) throw std::invalid_argument("the length of a beam's segment must be greater than zero");
    SixOf<SixOf<double>> f;
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i <= j; ++i) {
            f[j][i] = params[place_of_flexibility(j, i)];
            for (int k = 0; k < i; ++k) f[j][i] -= f[j][k] * f[i][k];
            if (i < j)
                f[j][i] /= f[i][i];
            else if (!(f[j][j] > 0.0))
                throw std::invalid_argument("the flexibility of a beam must be positive definite");
            else
                f[j][j] = std::sqrt(f[j][j]);
        }
}

template <int number>
CoordinateKind beam(const char* name) {
    return {
        name,      beam_strain<number, double>, beam_strain<number, Dual4>, beam_strain_formula<number>, Angle::none,
        check_beam};
}

const CoordinateRegistration beam_1(beam<0>("beam_1"));
const CoordinateRegistration beam_2(beam<1>("beam_2"));
const CoordinateRegistration beam_3(beam<2>("beam_3"));
const CoordinateRegistration beam_4(beam<3>("beam_4"));
const CoordinateRegistration beam_5(beam<4>("beam_5"));
const CoordinateRegistration beam_6(beam<5>("beam_6"));

}  // namespace

}  // namespace bellcrank
