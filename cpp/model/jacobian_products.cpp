// Products of the rows' Jacobian with vectors.
#include <algorithm>

#include "model/constraint_rows.hpp"
#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

namespace {

// Blocks from the one at hand to the one whose Jacobian is fetched into the cache.
constexpr int kAhead = 8;

Quad times(double s, const Quad& q) {
    Quad out{};
    out.add_scaled(s, q);
    return out;
}

// Ĵ v̂ of one block for two of its bodies.
template <int K>
void multiply_sides(const double* J, const BodyRows& a, const double* va, const BodyRows& b, const double* vb,
                    double* out) {
    const Quad linear_a = times(a.scale, Quad::load(va)), linear_b = times(b.scale, Quad::load(vb));
    const Quad angular_a = Quad::load(va + 4), angular_b = Quad::load(vb + 4);
    for (int r = 0; r < K; ++r) {
        Quad product{};
        product.add_product(Quad::load(J + a.angular + kRow * r), angular_a);
        product.add_product(Quad::load(J + b.angular + kRow * r), angular_b);
        if (r < a.linear_rows) {
            product.add_product(Quad::load(J + a.linear + kRow * r), linear_a);
            product.add_product(Quad::load(J + b.linear + kRow * r), linear_b);
        }
        out[r] = product.sum();
    }
}

struct Sums {
    Quad linear, angular;
};

// Ĵᵀ λ of one body.
template <int K>
Sums transposed(const double* J, const BodyRows& rows, const double* lambda) {
    Sums sum{};
    for (int r = 0; r < K; ++r) sum.angular.add_scaled(lambda[r], Quad::load(J + rows.angular + kRow * r));
    for (int r = 0; r < rows.linear_rows; ++r) sum.linear.add_scaled(lambda[r], Quad::load(J + rows.linear + kRow * r));
    return sum;
}

// v += Ĵᵀ λ of one body. The sum is formed before v is read: the next block is waiting for it.
template <int K>
void add_side(const double* J, const BodyRows& rows, const double* lambda, double* v) {
    const Sums sum = transposed<K>(J, rows, lambda);
    Quad linear = Quad::load(v), angular = Quad::load(v + 4);
    linear.add_scaled(rows.scale, sum.linear);
    angular.add_scaled(1.0, sum.angular);
    linear.store(v);
    angular.store(v + 4);
}

// u̇ += M^(−1/2) s of one body, s = Ĵᵀ λ but for the scale of its linear part.
void accelerate_body(const BlockSide& side, const Sums& sum, const double* scale, double* udot) {
    const double* s = scale + kTwist * side.body;
    double* a = udot + kTwist * side.body;
    Quad linear = Quad::load(a), angular = Quad::load(a + 4);
    linear.add_scaled(side.rows.scale * s[0], sum.linear);
    angular.add_product(sum.angular, Quad::load(s + 4));
    linear.store(a);
    angular.store(a + 4);
}

// u̇ += M^(−1/2) Ĵᵀ λ of a block's bodies. Most blocks have two, which share the linear parts of their rows.
template <int K>
void accelerate_sides(const double* J, std::span<const BlockSide> sides, const double* lambda, const double* scale,
                      double* udot) {
    if (sides.size() == 2 && sides[0].rows.linear == sides[1].rows.linear) {
        const double *J1 = J + sides[0].rows.angular, *J2 = J + sides[1].rows.angular;
        Sums one{}, two{};
        for (int r = 0; r < K; ++r) {
            one.angular.add_scaled(lambda[r], Quad::load(J1 + kRow * r));
            two.angular.add_scaled(lambda[r], Quad::load(J2 + kRow * r));
        }
        const double* linear = J + sides[0].rows.linear;
        for (int r = 0; r < sides[0].rows.linear_rows; ++r)
            one.linear.add_scaled(lambda[r], Quad::load(linear + kRow * r));
        two.linear = one.linear;
        accelerate_body(sides[0], one, scale, udot);
        accelerate_body(sides[1], two, scale, udot);
        return;
    }
    for (const BlockSide& side : sides) accelerate_body(side, transposed<K>(J, side.rows, lambda), scale, udot);
}

using MultiplyKernel = void (*)(const double*, const BodyRows&, const double*, const BodyRows&, const double*, double*);
using AddKernel = void (*)(const double*, const BodyRows&, const double*, double*);
using AccelerateKernel = void (*)(const double*, std::span<const BlockSide>, const double*, const double*, double*);
constexpr MultiplyKernel kMultiply[6] = {multiply_sides<1>, multiply_sides<2>, multiply_sides<3>,
                                         multiply_sides<4>, multiply_sides<5>, multiply_sides<6>};
constexpr AddKernel kAdd[6] = {add_side<1>, add_side<2>, add_side<3>, add_side<4>, add_side<5>, add_side<6>};
constexpr AccelerateKernel kAccelerate[6] = {accelerate_sides<1>, accelerate_sides<2>, accelerate_sides<3>,
                                             accelerate_sides<4>, accelerate_sides<5>, accelerate_sides<6>};

}  // namespace

void ConstraintRows::multiply(const double* v, double* out) const {
    static constexpr double none[kTwist] = {};
    for (const BlockLayout& b : layout_) {
        const MultiplyKernel kernel = kMultiply[b.size - 1];
        const BlockSide& first = sides_[b.side_begin];
        const double* v1 = v + kTwist * first.body;
        if (b.side_end - b.side_begin == 2) {
            const BlockSide& second = sides_[b.side_begin + 1];
            kernel(J.data(), first.rows, v1, second.rows, v + kTwist * second.body, out + b.row);
            continue;
        }
        kernel(J.data(), first.rows, v1, first.rows, none, out + b.row);
        for (int s = b.side_begin + 1; s < b.side_end; ++s) {
            double more[6];
            kernel(J.data(), sides_[s].rows, v + kTwist * sides_[s].body, sides_[s].rows, none, more);
            for (int r = 0; r < b.size; ++r) out[b.row + r] += more[r];
        }
    }
}

void ConstraintRows::add_transposed(const double* lambda, double* v) const {
    for (const BlockLayout& b : layout_)
        for (int s = b.side_begin; s < b.side_end; ++s)
            kAdd[b.size - 1](J.data(), sides_[s].rows, lambda + b.row, v + kTwist * sides_[s].body);
}

// Backward, as what is solved for last is in the cache, where a single stage is as a whole.
void ConstraintRows::add_accelerations(int stage, const double* lambda, double* udot) const {
    const bool far = stages() > 1;
    for (int i = stages_[stage].block_end - 1; i >= stages_[stage].block_begin; --i) {
        const BlockLayout& b = layout_[i];
        if (far) {
            const BlockLayout& ahead = layout_[std::max(i - kAhead, 0)];
            prefetch(&J[ahead.jacobian], ahead.jacobian_end - ahead.jacobian);
        }
        kAccelerate[b.size - 1](J.data(), sides(b), lambda + b.row, inverse_sqrt_.data(), udot);
    }
}

void ConstraintRows::add_accelerations(const double* lambda, double* udot) const {
    for (int s = stages() - 1; s >= 0; --s) add_accelerations(s, lambda, udot);
}

}  // namespace bellcrank
