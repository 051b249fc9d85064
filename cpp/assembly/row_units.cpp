#include "assembly/row_units.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

namespace {

constexpr double kLeastGradient = 0.1;  // of a coordinate in natural units

bool is_lock_of_rotation(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return false;
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name.size() == 2 && name[0] == 'e';
}

}  // namespace

std::vector<double> body_lengths(const Model& model) {
    std::vector<double> length(model.bodies() + 1, 0.0);
    for (int b = 0; b < model.bodies(); ++b) {
        const Vec3& I = model.principal_inertia[b];
        length[b] = std::sqrt(0.5 * (I.x + I.y + I.z) / model.mass[b]);
    }
    for (const MarkerPair& pair : model.pairs)
        for (int s = 0; s < 2; ++s)
            if (pair.body[s] != model.ground())
                length[pair.body[s]] = std::max(length[pair.body[s]], norm(pair.offset[s]));
    return length;
}

// Errors of all rows as lengths: what moves a body's particles by about as much. A locked component of a quaternion is
// half an angle, whatever its gradient is just here; of other rows the gradient tells. Against rotation it also tells
// of the gap at hand, and so counts only where nothing else does: the rows of a joint are to weigh the same in all
// axes.
void weigh_rows(const Model& model, const ConstraintRows& rows, std::span<const double> length,
                std::span<const std::uint8_t> takes_part, std::span<double> unit) {
    for (const BlockLayout& b : rows.blocks()) {
        const auto sides = rows.sides(b);
        for (int r = 0; r < b.size; ++r) {
            double mean = 0.0, linear = 0.0, angular = 0.0;
            int count = 0;
            for (const BlockSide& s : sides) {
                if (s.body == model.ground()) continue;
                mean += length[s.body], ++count;
                double row[6];
                s.rows.read(rows.J.data(), r, row);
                const Vec3& I = model.principal_inertia[s.body];
                const double moment[3] = {I.x, I.y, I.z};
                double l = 0.0, a = 0.0;
                for (int k = 0; k < 3; ++k) {
                    l += row[k] * row[k] * model.mass[s.body];
                    a += row[3 + k] * row[3 + k] * moment[k];
                }
                linear = std::max(linear, std::sqrt(l)), angular = std::max(angular, std::sqrt(a));
            }
            mean = count > 0 && mean > 0.0 ? mean / count : 1.0;
            const Row& row = model.rows[model.blocks[b.block].row_begin + r];
            const double unit_of = is_lock_of_rotation(model, row) ? 2.0 * mean
                                   : linear > kLeastGradient       ? 1.0 / linear
                                                                   : mean / std::max(angular, kLeastGradient);
            unit[b.row + r] = takes_part[b.row + r] ? unit_of * unit_of : 0.0;
        }
    }
}

}  // namespace bellcrank
