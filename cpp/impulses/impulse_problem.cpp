#include "impulses/impulse_problem.hpp"

#include <algorithm>

#include "spatial/body_state.hpp"
#include "spatial/components.hpp"

namespace bellcrank {

namespace {

constexpr int kMostRows = 6;  // of a block of cones

// Two axes across a normal; they follow from it alone.
void put_axes(const Vec3& n, Vec3 (&axes)[3]) {
    const Vec3 least = std::abs(n.x) < 0.6 ? Vec3{1.0, 0.0, 0.0} : Vec3{0.0, 1.0, 0.0};
    const Vec3 t = least - dot(least, n) * n;
    axes[0] = n;
    axes[1] = (1.0 / norm(t)) * t;
    axes[2] = cross(n, axes[1]);
}

}  // namespace

ImpulseProblem::ImpulseProblem(const Model& model, const ConstraintRows& rows) : model_(model), model_rows_(rows) {
    for (const BlockLayout& b : rows.blocks()) add_pieces(b, model.blocks[b.block]);
}

void ImpulseProblem::add_pieces(const BlockLayout& b, const Block& block) {
    const int layout = static_cast<int>(&b - model_rows_.blocks().data());
    const int most = block.unilateral ? 1 : kMostRows;
    for (int r = 0; r < b.size; r += most)
        pieces_.push_back({b.row + r, std::min(most, b.size - r), layout, r, block.unilateral, block.of_velocity,
                           block.compliance, block.restitution});
}

int ImpulseProblem::add_sides(int block, std::span<const int> bodies) {
    for (const int body : bodies)
        if (body != model_.ground()) sides_.push_back({block, body});
    return block + 1;
}

void ImpulseProblem::lay_out(const std::vector<FoundContact>& points, std::span<const double> friction) {
    layout_.clear();
    sides_.clear();
    points_.clear();
    int block = 0;
    for (const Piece& piece : pieces_) {
        piece.unilateral ? layout_.add_contact() : layout_.add_equality(piece.size);
        for (const BlockSide& side : model_rows_.sides(model_rows_.blocks()[piece.layout]))
            add_sides(block, std::span(&side.body, 1));
        ++block;
    }
    for (size_t i = 0; i < points.size(); ++i) {
        const FoundContact& found = points[i];
        Point point{&found, layout_.rows(), {}, friction[i] > 0.0 ? 3 : 1, friction[i]};
        put_axes(found.point.normal, point.axes);
        points_.push_back(point);
        layout_.add_contact(friction[i] > 0.0 ? std::array<ConeDisc, 3>{ConeDisc{2, friction[i]}}
                                              : std::array<ConeDisc, 3>{});
        const auto& shapes = model_.contacts.shapes;
        const int bodies[2] = {shapes[found.a].body, shapes[found.b].body};
        block = add_sides(block, bodies);
    }
    operator_.set_pattern(layout_, model_.bodies(), sides_);
    q.assign(layout_.rows(), 0.0);
    impulses.assign(layout_.rows(), 0.0);
}

void ImpulseProblem::evaluate(const double* poses, bool positions) {
    std::fill_n(operator_.compliance(), layout_.rows(), 0.0);
    write_model_rows(positions);
    write_points(poses);
}

void ImpulseProblem::write_model_rows(bool positions) {
    int side = 0, row = 0;
    for (const Piece& piece : pieces_) {
        const bool left_out = positions && (piece.of_velocity || piece.compliance > 0.0);
        for (const BlockSide& s : model_rows_.sides(model_rows_.blocks()[piece.layout])) {
            if (s.body == model_.ground()) continue;
            double* J = operator_.jacobian(side++);
            for (int r = 0; r < piece.size; ++r) {
                double record[6] = {};
                if (!left_out) s.rows.read(model_rows_.J.data(), piece.first + r, record);
                std::copy_n(record, 6, J + BodyConeOperator::kRow * r);
            }
        }
        for (int r = 0; r < piece.size; ++r) operator_.compliance()[row + r] = left_out ? 1.0 : piece.compliance;
        row += piece.size;
    }
}

void ImpulseProblem::write_points(const double* poses) {
    int side = 0;
    for (const BodyConeOperator::Side& s : sides_) side += s.block < static_cast<int>(pieces_.size());
    const std::span<const double> scale = model_rows_.inverse_sqrt_mass();
    for (const Point& point : points_) {
        const auto& shapes = model_.contacts.shapes;
        for (const auto& [shape, sign] : {std::pair(point.found->a, 1.0), std::pair(point.found->b, -1.0)}) {
            const int body = shapes[shape].body;
            if (body == model_.ground()) continue;
            const Vec3 arm = point.found->point.position - pose_position(poses, body);
            const Mat3 R = rotation_matrix(pose_rotation(poses, body));
            double* J = operator_.jacobian(side++);
            for (int r = 0; r < point.size; ++r, J += BodyConeOperator::kRow) {
                store(J, sign * point.axes[r]);
                store(J + 3, sign * transpose_times(R, cross(arm, point.axes[r])));
                for (int k = 0; k < 6; ++k) J[k] *= scale[kTwist * body + kComponent[k]];
            }
        }
    }
}

ConeReport ImpulseProblem::solve(double tolerance) {
    ConeOptions options;
    options.tolerance = tolerance;
    return solver_.solve(layout_, operator_, q.data(), impulses.data(), options);
}

}  // namespace bellcrank
