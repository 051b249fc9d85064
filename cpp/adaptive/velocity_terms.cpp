#include "adaptive/velocity_terms.hpp"

#include <algorithm>

namespace bellcrank {

namespace {

// Which two components of ω a product is of.
constexpr int kFirst[6] = {0, 1, 2, 0, 0, 1}, kSecond[6] = {0, 1, 2, 1, 2, 2};

// The 3×6 matrix of E r in s.
void centripetal_columns(const Vec3& r, Vec3* columns) {
    columns[0] = {0, -r.y, -r.z};
    columns[1] = {-r.x, 0, -r.z};
    columns[2] = {-r.x, -r.y, 0};
    columns[3] = {r.y, r.x, 0};
    columns[4] = {r.z, 0, r.x};
    columns[5] = {0, r.z, r.y};
}

Vec3 first_moment(const Matrix6& inertia) {  // of the block m [c]×
    return {inertia(2, 4), inertia(0, 5), inertia(1, 3)};
}

}  // namespace

void products_of(const Vec3& w, double* s) {
    s[0] = w.x * w.x, s[1] = w.y * w.y, s[2] = w.z * w.z;
    s[3] = w.x * w.y, s[4] = w.x * w.z, s[5] = w.y * w.z;
}

// ω'_i ω'_j = Σ R_ki R_lj ω_k ω_l.
ProductsTurned::ProductsTurned(const Mat3& rotation) {
    const double* R = rotation.m;
    for (int from = 0; from < 6; ++from) {
        const int k = kFirst[from], l = kSecond[from];
        for (int to = 0; to < 6; ++to) {
            const int i = kFirst[to], j = kSecond[to];
            double value = R[3 * k + i] * R[3 * l + j];
            if (k != l) value += R[3 * l + i] * R[3 * k + j];
            m[6 * from + to] = value;
        }
    }
}

void ProductsTurned::columns(const double* in, double* out) const {
    std::copy_n(in, 6, out);
    const Six c[6] = {six(in + 6), six(in + 12), six(in + 18), six(in + 24), six(in + 30), six(in + 36)};
    for (int j = 0; j < 6; ++j) {
        Six sum = m[6 * j] * c[0];
        for (int k = 1; k < 6; ++k) sum = sum + m[6 * j + k] * c[k];
        put(out + 6 * (j + 1), sum);
    }
}

void ProductsTurned::scalar(const double* in, double* out) const {
    constexpr int n = kColumns;
    double half[n * n];
    for (int i = 0; i < n; ++i) {
        half[i] = in[i];
        for (int j = 0; j < 6; ++j) {
            double sum = 0.0;
            for (int k = 0; k < 6; ++k) sum += m[6 * j + k] * in[n * (k + 1) + i];
            half[n * (j + 1) + i] = sum;
        }
    }
    for (int j = 0; j < n; ++j) {
        out[n * j] = half[n * j];
        for (int i = 0; i < 6; ++i) {
            double sum = 0.0;
            for (int k = 0; k < 6; ++k) sum += m[6 * i + k] * half[n * j + k + 1];
            out[n * j + i + 1] = sum;
        }
    }
}

void still_bias(const Place& place, double* columns) {
    Vec3 of[6];
    centripetal_columns(place.shift, of);
    std::fill_n(columns, 6, 0.0);
    for (int j = 0; j < 6; ++j) put(columns + 6 * (j + 1), stacked({0, 0, 0}, transpose_times(place.rotation, of[j])));
}

// ω of the child is Rᵀ ω + ν_ω and its origin moves at Rᵀ (v + ω × r) + ν_v, ν = S u. Derived once more:
//   ζ = (Rᵀ ω × ν_ω; Rᵀ E r + 2 Rᵀ ω × ν_v + ν_ω × ν_v) + Ṡ u.
Six moving_bias(const JointMotion& motion, const Place& place, const double* q, const double* u, const Six& twist,
                const Vec3& w) {
    const Vec3 carried = transpose_times(place.rotation, w);
    const Twist joint = as_motion(twist);
    const Vec3 linear = transpose_times(place.rotation, centripetal(w, place.shift)) + 2.0 * cross(carried, joint.v) +
                        cross(joint.w, joint.v);
    const Six out = stacked(cross(carried, joint.w), linear);
    return motion.is_axial() ? out : out + motion.subspace_rate(q, u);
}

Six gyroscopic(const Matrix6& inertia, const Vec3& w) {
    const Vec3 momentum = as_force(inertia * stacked(w, {0, 0, 0})).n;
    return -stacked(cross(w, momentum), centripetal(w, first_moment(inertia)));
}

double spread(const Matrix6& inertia, const Vec3& w) {
    return dot(w, w) * dot(w, as_force(inertia * stacked(w, {0, 0, 0})).n);
}

void gyroscopic_columns(const Matrix6& inertia, const double* force, double* columns) {
    const double xx = inertia(0, 0), yy = inertia(1, 1), zz = inertia(2, 2), xy = inertia(1, 0), xz = inertia(2, 0),
                 yz = inertia(2, 1);
    const Vec3 turning[6] = {{0, -xz, xy},       {yz, 0, -xy},       {-yz, xz, 0},
                             {xz, -yz, yy - xx}, {-xy, xx - zz, yz}, {zz - yy, xy, -xz}};
    Vec3 pulling[6];
    centripetal_columns(first_moment(inertia), pulling);
    std::copy_n(force, 6, columns);
    for (int j = 0; j < 6; ++j) put(columns + 6 * (j + 1), -stacked(turning[j], pulling[j]));
}

void spread_columns(const Matrix6& inertia, double* scalar) {
    const double square[6] = {1, 1, 1, 0, 0, 0},
                 moment[6] = {inertia(0, 0),       inertia(1, 1),       inertia(2, 2),
                              2.0 * inertia(1, 0), 2.0 * inertia(2, 0), 2.0 * inertia(2, 1)};
    std::fill_n(scalar, kColumns * kColumns, 0.0);
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 6; ++i)
            scalar[kColumns * (j + 1) + i + 1] = 0.5 * (square[i] * moment[j] + moment[i] * square[j]);
}

void collapse(const double* columns, const double* s, double* out) {
    Six sum = six(columns);
    for (int j = 0; j < 6; ++j) sum = sum + s[j] * six(columns + 6 * (j + 1));
    put(out, sum);
}

double collapse_scalar(const double* scalar, const double* s) {
    double sum = scalar[0];
    for (int j = 0; j < 6; ++j) {
        double column = 2.0 * scalar[kColumns * (j + 1)];
        for (int i = 0; i < 6; ++i) column += s[i] * scalar[kColumns * (j + 1) + i + 1];
        sum += s[j] * column;
    }
    return sum;
}

Composite Composite::of_body(const Link& link, const double* load) {
    Composite out;
    out.mass = link.mass;
    out.first = first_moment(link.inertia);
    const Matrix6& I = link.inertia;
    const double half = 0.5 * (I(0, 0) + I(1, 1) + I(2, 2));
    out.second = {{half - I(0, 0), half - I(1, 1), half - I(2, 2), -I(1, 0), -I(2, 0), -I(2, 1)}};
    out.moment = as_force(six(load)).n;
    out.force = as_force(six(load)).f;
    return out;
}

Composite Composite::seen_from(const Place& place) const {
    const Vec3& p = place.shift;
    const auto both = [](const Vec3& a, const Vec3& b) {  // a bᵀ + b aᵀ
        return SymmetricT<double>{{2.0 * a.x * b.x, 2.0 * a.y * b.y, 2.0 * a.z * b.z, a.x * b.y + a.y * b.x,
                                   a.x * b.z + a.z * b.x, a.y * b.z + a.z * b.y}};
    };
    Composite out;
    const Vec3 turned = place.rotation * first;
    out.mass = mass;
    out.first = turned + mass * p;
    out.second = rotated(place.rotation, second);
    out.second += both(turned + 0.5 * mass * p, p);
    out.force = place.rotation * force;
    out.moment = place.rotation * moment + cross(p, out.force);
    out.virial = rotated(place.rotation, virial);
    out.virial += both(0.5 * out.force, p);
    return out;
}

Composite& Composite::operator+=(const Composite& other) {
    mass += other.mass;
    first += other.first;
    second += other.second;
    virial += other.virial;
    force += other.force;
    moment += other.moment;
    return *this;
}

Matrix6 Composite::inertia() const {
    const double trace = second.xx() + second.yy() + second.zz();
    Articulated out{};
    out.A = {{trace - second.xx(), trace - second.yy(), trace - second.zz(), -second.xy(), -second.xz(), -second.yz()}};
    out.B = {{0, -first.z, first.y, first.z, 0, -first.x, -first.y, first.x, 0}};
    out.C = {{mass, mass, mass, 0, 0, 0}};
    return matrix6(out);
}

Six Composite::load(const Vec3& w) const { return stacked(moment, force) + gyroscopic(inertia(), w); }

double Composite::scalar(const Vec3& w) const {
    double s[6];
    products_of(w, s);
    const double along = s[0] * virial.xx() + s[1] * virial.yy() + s[2] * virial.zz() +
                         2.0 * (s[3] * virial.xy() + s[4] * virial.xz() + s[5] * virial.yz()),
                 trace = virial.xx() + virial.yy() + virial.zz();
    return spread(inertia(), w) - 2.0 * (along - dot(w, w) * trace);  // E : virial
}

}  // namespace bellcrank
