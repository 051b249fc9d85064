#include "adaptive/ranking.hpp"

#include <algorithm>
#include <cmath>

namespace bellcrank {

Ranking::Ranking(const Linkage& linkage)
    : linkage_(linkage), square_(linkage.links.size()), chosen_(linkage.links.size()) {
    order_.reserve(square_.size());
    left_.reserve(square_.size() + 1);
    computed_.reserve(square_.size());
    rate_.resize(linkage.freedoms);
}

void Ranking::begin(const std::vector<double>& rates, const std::vector<double>& roundings, ErrorMeasure measure,
                    const std::vector<int>& computed) {
    forget();
    measure_ = measure;
    rate_ = rates;
    std::fill(chosen_.begin(), chosen_.end(), 0);
    for (const int link : computed) {
        computed_.push_back(link);
        chosen_[link] = 1;
    }
    order_.clear();
    for (size_t i = 0; i < square_.size(); ++i) {
        const Link& link = linkage_.links[i];
        square_[i] = 0.0;
        for (int k = link.freedom; k < link.freedom + link.motion.freedoms(); ++k) square_[i] += rates[k] * rates[k];
        if (!link.floats) count(square_[i], roundings[i]);
        if (chosen_[i] != 0) continue;
        if (link.floats)
            computed_.push_back(static_cast<int>(i));
        else if (square_[i] > 0.0)
            order_.push_back(static_cast<int>(i));
    }
    std::sort(order_.begin(), order_.end(), [this](int a, int b) { return square_[a] > square_[b]; });
    left_.assign(order_.size() + 1, 0.0);
    for (size_t k = order_.size(); k-- > 0;) left_[k] = left_[k + 1] + square_[order_[k]];
    next_ = 0;
    refine(INFINITY);
}

void Ranking::refine(double bound) {
    const auto error = [this] {
        return measured(next_ < order_.size() ? std::sqrt(square_[order_[next_]]) : 0.0, left_[next_]);
    };
    for (error_ = error(); next_ < order_.size() && !(error_ <= bound); error_ = error())
        computed_.push_back(order_[next_++]);
}

}  // namespace bellcrank
