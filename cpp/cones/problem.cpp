#include "cones/problem.hpp"

#include <cmath>
#include <stdexcept>

namespace bellcrank {

void ConeLayout::clear() {
    blocks_.clear();
    weights_.clear();
    rows_ = values_ = 0;
}

void ConeLayout::append(ConeBlock block) {
    block.row = rows_;
    block.number = static_cast<int>(blocks_.size());
    block.values = values_;
    rows_ += block.size;
    values_ += block.size * block.size;
    blocks_.push_back(block);
    weights_.resize(rows_, 1.0);
}

void ConeLayout::add_equality(int size) {
    if (size < 1 || size > 6)
        throw std::invalid_argument("block " + std::to_string(blocks_.size()) + ": an equality has 1 to 6 rows, got " +
                                    std::to_string(size));
    ConeBlock block;
    block.size = size;
    block.equality = true;
    append(block);
}

void ConeLayout::add_interval(ImpulseRange range) {
    if (!(range.lower <= range.upper))
        throw std::invalid_argument("block " + std::to_string(blocks_.size()) +
                                    ": bounds must be in their order, got " + std::to_string(range.lower) + ", " +
                                    std::to_string(range.upper));
    ConeBlock block;
    block.size = 1;
    block.equality = std::isinf(range.lower) && std::isinf(range.upper);
    block.interval = !block.equality;
    block.range = range;
    append(block);
}

void ConeLayout::add_contact(const std::array<ConeDisc, 3>& discs) {
    ConeBlock block;
    block.size = 1;
    for (const ConeDisc& d : discs) {
        if (d.size == 0) continue;
        const auto who = [&] {
            return "block " + std::to_string(blocks_.size()) + ", disc " + std::to_string(block.discs);
        };
        if (d.size < 0 || d.size > 2)
            throw std::invalid_argument(who() + ": a disc has 1 or 2 rows, got " + std::to_string(d.size));
        if (!(d.coefficient >= 0.0) || !std::isfinite(d.coefficient))
            throw std::invalid_argument(who() + ": the coefficient must be finite and not negative, got " +
                                        std::to_string(d.coefficient));
        block.disc[block.discs++] = d;
        block.size += d.size;
    }
    if (block.size > 6)
        throw std::invalid_argument("block " + std::to_string(blocks_.size()) + ": a contact has at most 6 rows, got " +
                                    std::to_string(block.size));
    append(block);
}

void ConeLayout::set_given(int block, double impulse) {
    if (block < 0 || block >= static_cast<int>(blocks_.size()) || blocks_[block].equality || blocks_[block].interval)
        throw std::invalid_argument("block " + std::to_string(block) + " is no contact");
    if (!(impulse >= 0.0) || !std::isfinite(impulse))
        throw std::invalid_argument("block " + std::to_string(block) +
                                    ": a given impulse must be finite and not negative, got " +
                                    std::to_string(impulse));
    blocks_[block].given = impulse;
}

std::string name_of(ConeEnd end) {
    switch (end) {
        case ConeEnd::given:
            return "given";
        case ConeEnd::warm:
            return "warm";
        case ConeEnd::interior:
            return "interior";
        case ConeEnd::retry:
            return "retry";
        case ConeEnd::proximal:
            return "proximal";
        case ConeEnd::sweeps:
            return "sweeps";
        case ConeEnd::failed:
            return "failed";
    }
    return "";
}

}  // namespace bellcrank
