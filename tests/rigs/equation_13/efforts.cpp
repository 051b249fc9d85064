// Equation (13) as it stands in the paper: 4×4 transforms from the world, every derivative by differentiation.
#include <algorithm>

#include "expression/derivative.hpp"
#include "forms.hpp"

namespace bellcrank::symbolic {

namespace {

struct Matrix4 {
    std::array<Expression, 16> m;
    Expression& operator()(int i, int j) { return m[4 * i + j]; }
    const Expression& operator()(int i, int j) const { return m[4 * i + j]; }
};

Matrix4 operator*(const Matrix4& a, const Matrix4& b) {
    Matrix4 c;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            c(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j) + a(i, 3) * b(3, j);
    return c;
}
Matrix4 operator+(const Matrix4& a, const Matrix4& b) {
    Matrix4 c;
    for (int i = 0; i < 16; ++i) c.m[i] = a.m[i] + b.m[i];
    return c;
}
Expression trace_of_product(const Matrix4& a, const Matrix4& b) {
    Expression sum = a(0, 0) * b(0, 0);
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            if (i + j > 0) sum = sum + a(i, j) * b(j, i);
    return sum;
}

class Literal {
  public:
    explicit Literal(const LinkTree& tree) : tree_(tree), graph_(*tree.graph) {}

    std::vector<Expression> forces() {
        const size_t n = tree_.links.size();
        for (const Link& link : tree_.links) {
            A_.push_back(local(link));
            W_.push_back(link.parent < 0 ? A_.back() : W_[link.parent] * A_.back());
        }
        std::vector<Matrix4> phi(n);
        for (size_t i = 0; i < n; ++i) phi[i] = load(i);
        std::vector<Expression> Q(tree_.speeds(), tree_.number(0.0));
        for (size_t j = n; j-- > 0;) {
            project(j, phi[j], Q);
            const int parent = tree_.links[j].parent;
            if (parent >= 0) phi[parent] = phi[parent] + A_[j] * phi[j];
        }
        return Q;
    }

  private:
    Matrix4 rigid(const Matrix& R, const Vector& p) const {
        const Expression o = tree_.number(0.0), one = tree_.number(1.0);
        return {{R.m[0], R.m[1], R.m[2], p.x, R.m[3], R.m[4], R.m[5], p.y, R.m[6], R.m[7], R.m[8], p.z, o, o, o, one}};
    }

    // A_j of equation (1): offset, setting and motion multiplied out.
    Matrix4 local(const Link& link) const {
        Matrix R = identity_matrix(graph_);
        for (const Turn& turn : link.setting) R = R * rotation_matrix_of(graph_, turn);
        Matrix own = identity_matrix(graph_);
        if (link.motion == Motion::turn) own = rotation_matrix_of(graph_, link.turn);
        if (link.motion == Motion::ball || link.motion == Motion::general) own = link.rotation;
        return rigid(R, link.offset) * rigid(own, displacement(tree_, link));
    }

    // d/dt along the motion.
    std::vector<Expression> rates(const std::vector<Expression>& values) const {
        const Symbols& s = tree_.symbols;
        std::vector<Ref> roots, symbols, speeds;
        const auto add = [](std::vector<Ref>& to, const std::vector<Expression>& from) {
            for (const Expression& e : from) to.push_back(e.ref);
        };
        add(roots, values);
        add(symbols, s.coordinates);
        add(speeds, s.coordinate_rates);
        add(symbols, s.speeds);
        add(speeds, s.accelerations);
        symbols.push_back(s.time.ref);
        speeds.push_back(tree_.number(1.0).ref);
        std::vector<Expression> out;
        for (const Ref r : rate(graph_, roots, symbols, speeds)) out.push_back({&graph_, r});
        return out;
    }
    Vector rate_of(const Vector& v) const {
        const std::vector<Expression> r = rates({v.x, v.y, v.z});
        return {r[0], r[1], r[2]};
    }

    // t_cm aᵀ − ½ B Uᵀ with a = m (r̈_cm − g), b = I ω̇ + ω × I ω, ω = vee(Rᵀ Ṙ).
    Matrix4 load(size_t i) const {
        const Moments& m = tree_.links[i].moments;
        Matrix4 phi;
        phi.m.fill(tree_.number(0.0));
        if (is_zero(m.mass)) return phi;
        const Matrix4& W = W_[i];
        const Vector com = (tree_.number(1.0) / m.mass) * m.first;
        const Vector r{W(0, 0) * com.x + W(0, 1) * com.y + W(0, 2) * com.z + W(0, 3),
                       W(1, 0) * com.x + W(1, 1) * com.y + W(1, 2) * com.z + W(1, 3),
                       W(2, 0) * com.x + W(2, 1) * com.y + W(2, 2) * com.z + W(2, 3)};
        const Vector a = m.mass * (rate_of(rate_of(r)) - tree_.gravity);
        const Expression force[3] = {a.x, a.y, a.z}, centre[4] = {com.x, com.y, com.z, tree_.number(1.0)};
        const Vector b = spin_load(m, com, W);
        const Expression o = tree_.number(0.0);
        const Expression skew[3][3] = {{o, -b.z, b.y}, {b.z, o, -b.x}, {-b.y, b.x, o}};
        for (int r4 = 0; r4 < 4; ++r4)
            for (int c = 0; c < 3; ++c) {
                phi(r4, c) = centre[r4] * force[c];
                if (r4 == 3) continue;
                const Expression turned = skew[r4][0] * W(c, 0) + skew[r4][1] * W(c, 1) + skew[r4][2] * W(c, 2);
                phi(r4, c) = phi(r4, c) - half(turned);
            }
        return phi;
    }

    Vector spin_load(const Moments& m, const Vector& com, const Matrix4& W) const {
        const Symmetric C = shifted(Moments{-m.mass, zero_vector(graph_), m.second}, com).second;  // about the com
        const Matrix I{
            {C.yy() + C.zz(), -C.xy(), -C.xz(), -C.xy(), C.xx() + C.zz(), -C.yz(), -C.xz(), -C.yz(), C.xx() + C.yy()}};
        std::vector<Expression> R;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) R.push_back(W(i, j));
        const std::vector<Expression> dR = rates(R);
        const auto product = [&](int i, int j) { return R[i] * dR[j] + R[3 + i] * dR[3 + j] + R[6 + i] * dR[6 + j]; };
        const Vector w{product(2, 1), product(0, 2), product(1, 0)};
        return I * rate_of(w) + cross(w, I * w);
    }

    // Q_j += tr(W_{p_j} ∂A_j/∂q_j φ_j); ∂A/∂q is what multiplies the speed in dA/dt.
    void project(size_t j, const Matrix4& phi, std::vector<Expression>& Q) const {
        const Link& link = tree_.links[j];
        std::vector<Ref> roots;
        for (const Expression& e : rates({A_[j].m.begin(), A_[j].m.end()})) roots.push_back(e.ref);
        std::vector<int> moved;
        for (int i = link.first_axis; i < link.first_axis + link.axes; ++i)
            for (const Share& share : tree_.axes[i].shares)
                if (std::find(moved.begin(), moved.end(), share.speed) == moved.end()) moved.push_back(share.speed);
        for (const int speed : moved) {
            const Ref symbol = tree_.symbols.speeds[speed].ref;
            const std::vector<Ref> d = derivative(graph_, roots, std::span(&symbol, 1), DerivativeForm::forward);
            Matrix4 dA;
            for (int i = 0; i < 16; ++i) dA.m[i] = {&graph_, d[i]};
            if (link.parent >= 0) dA = W_[link.parent] * dA;
            Q[speed] = Q[speed] + trace_of_product(dA, phi);
        }
    }

    const LinkTree& tree_;
    Graph& graph_;
    std::vector<Matrix4> A_, W_;
};

}  // namespace

std::vector<Expression> efforts_of_equation_13(const LinkTree& tree) { return Literal(tree).forces(); }

}  // namespace bellcrank::symbolic
