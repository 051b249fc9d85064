#include "assemblies/body_loads.hpp"

#include "spatial/body_state.hpp"
#include "spatial/lanes.hpp"

namespace bellcrank {

BodyLoads::BodyLoads(const Model& model, const ConstraintRows& rows)
    : inverse_sqrt_mass_(rows.inverse_sqrt_mass().data()) {
    std::vector<std::vector<Rows>> on(model.bodies());
    for (const BlockLayout& b : rows.blocks())
        for (const BlockSide& side : rows.sides(b))
            if (side.body != model.ground()) on[side.body].push_back({side.rows, b.row});
    for (const std::vector<Rows>& one : on) {
        begin_.push_back(static_cast<int>(rows_.size()));
        rows_.insert(rows_.end(), one.begin(), one.end());
    }
    begin_.push_back(static_cast<int>(rows_.size()));
}

void BodyLoads::accelerate(int begin, int end, const double* J, const double* lambda, double* udot) const {
    for (int b = begin; b < end; ++b) {
        Quad linear{}, angular{};
        for (int i = begin_[b]; i < begin_[b + 1]; ++i) {
            const BodyRows& rows = rows_[i].rows;
            const double* l = lambda + rows_[i].row;
            for (int r = 0; r < rows.linear_rows; ++r)
                linear.add_scaled(rows.scale * l[r], Quad::load(J + rows.linear + kRow * r));
            for (int r = 0; r < rows.rows; ++r) angular.add_scaled(l[r], Quad::load(J + rows.angular + kRow * r));
        }
        const double* scale = inverse_sqrt_mass_ + kTwist * b;
        Quad a{}, w{};
        a.add_product(linear, Quad::load(scale));
        w.add_product(angular, Quad::load(scale + 4));
        a.store(udot + kTwist * b);
        w.store(udot + kTwist * b + 4);
    }
}

}  // namespace bellcrank
