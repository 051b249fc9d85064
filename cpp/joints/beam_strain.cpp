// Coordinates beam_1 to beam_6: see beam_strain.hpp.
#include "joints/beam_strain.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "joints/logarithm.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

namespace {

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

void strains_along(const RelativeMotionT<Dual4>& motion, std::span<const Dual4> params,
                   SixOf<CoordinateValueT<Dual4>>& out) {
    JetPose pose(motion);
    auto y = logarithm_of(pose);
    if (is_diagonal(params))
        beam_strains<true>(y, params);
    else
        beam_strains(y, params);
    for (int i = 0; i < 6; ++i) assign(out[i], y[i]);
}

void strains_along(const RelativeMotion& motion, std::span<const double> params, SixOf<CoordinateValue>& out) {
    JetPose pose(motion);
    const SixOf<Jet> strain = logarithm_of(pose);
    SixOf<StrainJet> y;
    for (int i = 0; i < 6; ++i) {
        y[i] = StrainJet{strain[i].value, strain[i].quadratic, Four{}, Four{}};
        Four& by_itself = i < 3 ? y[i].u : y[i].phi;  // named: GCC's sanitizers mistake the entry of a choice
        by_itself[i % 3] = 1.0;
        y[i].u[3] = strain[i].rate;
    }
    if (is_diagonal(params))  // as those of most beams are
        beam_strains<true>(y, params);
    else
        beam_strains(y, params);
    for (int i = 0; i < 6; ++i) {
        out[i] = {y[i].value, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, y[i].quadratic};
        for (int k = 0; k < 6; ++k) {
            out[i].dr = out[i].dr + y[i].by(k) * strain[k].dr;
            out[i].domega = out[i].domega + y[i].by(k) * strain[k].domega;
        }
    }
}

// The six are asked for one after another at the same motion, and are made together: this remembers the last; of those
// with directions as many as one looks along for a gradient, of the motion and of the parameters.
template <class S>
constexpr int kRemembered = std::is_same_v<S, double> ? 1 : (12 + kVariedBeamParams) / kDirections + 1;

template <class S>
struct LastBeam {
    size_t params = 0;  // how many; 0: there is none
    std::array<S, 13 + kVariedBeamParams> key;
    SixOf<CoordinateValueT<S>> y;
};
template <class S>
struct LastBeams {
    std::array<LastBeam<S>, kRemembered<S>> all;
    int next = 0;
};

template <class S>
const SixOf<CoordinateValueT<S>>& all_strains(const RelativeMotionT<S>& m, std::span<const S> params) {
    thread_local LastBeams<S> last;
    const std::array<S, 13> moving{m.r.x,    m.r.y,    m.r.z,    m.q.w,     m.q.x,     m.q.y,    m.q.z,
                                   m.rdot.x, m.rdot.y, m.rdot.z, m.omega.x, m.omega.y, m.omega.z};
    const auto same = [](const S& a, const S& b) { return is_same(a, b); };
    for (const LastBeam<S>& known : last.all)
        if (known.params == params.size() && std::equal(moving.begin(), moving.end(), known.key.begin(), same) &&
            std::equal(params.begin(), params.end(), known.key.begin() + 13, same))
            return known.y;
    LastBeam<S>& made = last.all[last.next];
    last.next = (last.next + 1) % kRemembered<S>;
    made.params = 0;  // if this throws
    strains_along(m, params, made.y);
    std::copy(moving.begin(), moving.end(), made.key.begin());
    std::copy(params.begin(), params.end(), made.key.begin() + 13);
    made.params = params.size();
    return made.y;
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

// Whether a symmetric matrix is positive definite, by Cholesky's factor.
template <size_t n, class At>
bool is_positive_definite(const At& at) {
    std::array<std::array<double, n>, n> L;
    for (size_t j = 0; j < n; ++j)
        for (size_t i = 0; i <= j; ++i) {
            L[j][i] = at(static_cast<int>(j), static_cast<int>(i));
            for (size_t k = 0; k < i; ++k) L[j][i] -= L[j][k] * L[i][k];
            if (i < j)
                L[j][i] /= L[i][i];
            else if (!(L[j][j] > 0.0))
                return false;
            else
                L[j][j] = std::sqrt(L[j][j]);
        }
    return true;
}

// With X = C⁻¹ C₁ it is  f = h (C − W − (h²/12) Xᵀ C X) + (h³/12) (A + X)ᵀ C (A + X),  positive definite for all A if
// the first part is: if the matrix of C, (h/√12) C₁ and C − W is.
void check_beam(std::span<const double> params) {
    if (params.size() != kBeamParams && !is_varied(params))
        throw std::invalid_argument(
            "a beam's coordinates need its length, 21 flexibilities and 6 unloaded strains, and as it varies 42 more");
    if (!std::all_of(params.begin(), params.end(), [](double p) { return std::isfinite(p); }))
        throw std::invalid_argument("a beam's coordinates need finite numbers");
    if (!(params[0] > 0.0)) throw std::invalid_argument("the length of a beam's segment must be greater than zero");
    if (!is_positive_definite<6>([&](int i, int j) { return params[place_of_flexibility(i, j)]; }))
        throw std::invalid_argument("the flexibility of a beam must be positive definite");
    if (!is_varied(params)) return;
    const double slope = params[0] / std::sqrt(12.0);
    if (!is_positive_definite<12>([&](int i, int j) {
            if (i < 6 && j < 6) return params[place_of_flexibility(i, j)];
            if (i >= 6 && j >= 6)
                return params[place_of_flexibility(i - 6, j - 6)] - params[place_of_change(i - 6, j - 6)];
            return slope * params[place_of_slope(std::max(i, j) - 6, std::min(i, j))];
        }))
        throw std::invalid_argument("a beam's segment must not vary so much");
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

int beam_number(const CoordinateKind& kind) {
    static const std::array<const CoordinateKind*, 6> kinds{&coordinate_kind("beam_1"), &coordinate_kind("beam_2"),
                                                            &coordinate_kind("beam_3"), &coordinate_kind("beam_4"),
                                                            &coordinate_kind("beam_5"), &coordinate_kind("beam_6")};
    const auto found = std::ranges::find(kinds, &kind);
    return found == kinds.end() ? -1 : static_cast<int>(found - kinds.begin());
}

}  // namespace bellcrank
