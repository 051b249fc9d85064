#include "impulses/impulse_space.hpp"

#include <algorithm>

#include "model/constraint_rows.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

void ImpulseSpace::weigh_pieces(const Model& model) {
    if (const double size = model.contacts.largest_size(); size > 0.0) {
        arm_ = size;
        length_ = 10.0 * size;
        speed_ = model.contacts.speed(size);
    }
    is_length_.clear();
    for (const ImpulsePiece& piece : pieces_)
        for (int r = 0; r < piece.size; ++r) is_length_.push_back(is_length(model, model.rows[piece.model_row + r]));
}

namespace {

constexpr int kMostRows = 6;  // of a block of cones

}  // namespace

// Bodies are scaled as in ConstraintRows: v̂ = M^(1/2) u, six numbers for each body.
class BodySpace::Rows final : public ImpulseRows {
  public:
    explicit Rows(const BodySpace& space) : space_(space), bodies_(6 * static_cast<size_t>(space.model_.bodies())) {}

    void lay_out(const ConeLayout& layout, const std::vector<ImpulsePoint>& points) override;
    void evaluate(const std::vector<ImpulsePoint>& points, const std::vector<char>& left_out) override;
    void to_rows(const double* u, double* rows) override;
    void add_response(const double* impulses, double* u) override;
    ConeOperator& response() override { return operator_; }

  private:
    void add_side(int block, int body) {
        if (body != space_.model_.ground()) sides_.push_back({block, body});
    }
    int write_pieces(const std::vector<char>& left_out);
    void write_points(const std::vector<ImpulsePoint>& points, int side);

    const BodySpace& space_;
    BodyConeOperator operator_;
    std::vector<BodyConeOperator::Side> sides_;
    std::vector<double> bodies_;
};

void BodySpace::Rows::lay_out(const ConeLayout& layout, const std::vector<ImpulsePoint>& points) {
    sides_.clear();
    int block = 0;
    for (const Source& source : space_.sources_) {
        for (const BlockSide& side : space_.rows_.sides(space_.rows_.blocks()[source.block]))
            add_side(block, side.body);
        ++block;
    }
    for (const ImpulsePoint& point : points) {
        for (const int body : point.bodies) add_side(block, body);
        ++block;
    }
    operator_.set_pattern(layout, space_.model_.bodies(), sides_);
}

void BodySpace::Rows::evaluate(const std::vector<ImpulsePoint>& points, const std::vector<char>& left_out) {
    std::fill_n(operator_.compliance(), operator_.rows(), 0.0);
    write_points(points, write_pieces(left_out));
}

int BodySpace::Rows::write_pieces(const std::vector<char>& left_out) {
    int side = 0, row = 0;
    for (size_t i = 0; i < space_.pieces_.size(); ++i) {
        const ImpulsePiece& piece = space_.pieces_[i];
        const Source& source = space_.sources_[i];
        for (const BlockSide& s : space_.rows_.sides(space_.rows_.blocks()[source.block])) {
            if (s.body == space_.model_.ground()) continue;
            double* J = operator_.jacobian(side++);
            for (int r = 0; r < piece.size; ++r) {
                double record[6] = {};
                if (!left_out[i]) s.rows.read(space_.rows_.J.data(), source.first + r, record);
                std::copy_n(record, 6, J + BodyConeOperator::kRow * r);
            }
        }
        for (int r = 0; r < piece.size; ++r) operator_.compliance()[row + r] = left_out[i] ? 1.0 : piece.compliance;
        row += piece.size;
    }
    return side;
}

void BodySpace::Rows::write_points(const std::vector<ImpulsePoint>& points, int side) {
    const std::span<const double> scale = space_.rows_.inverse_sqrt_mass();
    for (const ImpulsePoint& point : points)
        for (const auto& [body, sign] : {std::pair(point.bodies[0], 1.0), std::pair(point.bodies[1], -1.0)}) {
            if (body == space_.model_.ground()) continue;
            const Vec3 arm = point.position - pose_position(space_.poses_, body);
            const Mat3 R = rotation_matrix(pose_rotation(space_.poses_, body));
            double* J = operator_.jacobian(side++);
            for (int r = 0; r < point.size; ++r, J += BodyConeOperator::kRow) {
                const bool force = r < point.forces;
                store(J, force ? sign * point.axes[r] : Vec3{0.0, 0.0, 0.0});
                store(J + 3, sign * transpose_times(R, force ? cross(arm, point.axes[r]) : point.axes[r]));
                for (int k = 0; k < 6; ++k) J[k] *= scale[kTwist * body + kComponent[k]];
            }
        }
}

void BodySpace::Rows::to_rows(const double* u, double* rows) {
    const std::span<const double> inverse = space_.rows_.inverse_sqrt_mass();
    for (int b = 0; b < space_.model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = kTwist * b + kComponent[k];
            bodies_[6 * b + k] = u[at] / inverse[at];
        }
    operator_.to_rows(bodies_.data(), rows);
}

void BodySpace::Rows::add_response(const double* impulses, double* u) {
    const std::span<const double> inverse = space_.rows_.inverse_sqrt_mass();
    operator_.to_bodies(impulses, bodies_.data());
    for (int b = 0; b < space_.model_.bodies(); ++b)
        for (int k = 0; k < 6; ++k) {
            const int at = kTwist * b + kComponent[k];
            u[at] += bodies_[6 * b + k] * inverse[at];
        }
}

BodySpace::BodySpace(const Model& model, ConstraintRows& rows, const Manifold& manifold, Closing close_rows,
                     Settling settle)
    : model_(model),
      rows_(rows),
      manifold_(manifold),
      close_rows_(std::move(close_rows)),
      settle_(std::move(settle)),
      xi_(manifold.tangent_size()) {
    for (const BlockLayout& b : rows.blocks()) {
        const Block& block = model.blocks[b.block];
        const int most = block.unilateral ? 1 : kMostRows;
        for (int r = 0; r < b.size; r += most) {
            sources_.push_back({static_cast<int>(&b - rows.blocks().data()), r});
            pieces_.emplace_back(block, block.row_begin + r, std::min(most, b.size - r));
        }
    }
    weigh_pieces(model);
}

std::unique_ptr<ImpulseRows> BodySpace::make_rows() { return std::make_unique<Rows>(*this); }

void BodySpace::place(double t, const double* x) {
    poses_ = x;
    rows_.evaluate_jacobians(t, x);
}

void BodySpace::advance(double, double h, const double* x, double* u, double* x1) {
    for (size_t k = 0; k < xi_.size(); ++k) xi_[k] = h * u[k];
    manifold_.retract(x, xi_.data(), x1);
}

void BodySpace::kick(double, const double*, const double* on_bodies, ImpulseRows& rows, const double* impulses,
                     double* change, double* of_twists) {
    const std::span<const double> scale = rows_.inverse_sqrt_mass();
    for (int k = 0; k < speeds(); ++k) change[k] = scale[k] * scale[k] * on_bodies[k];
    rows.add_response(impulses, change);
    std::copy_n(change, speeds(), of_twists);
}

}  // namespace bellcrank
