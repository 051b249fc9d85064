#include "impulses/impulse_space.hpp"

#include "model/constraint_rows.hpp"

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

}  // namespace bellcrank
