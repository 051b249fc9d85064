// Joints chosen by accelerations that are known: the largest first.
#pragma once

#include <cstdint>
#include <vector>

#include "adaptive/joint_choice.hpp"
#include "adaptive/linkage.hpp"

namespace bellcrank {

class Ranking final : public JointChoice {
  public:
    explicit Ranking(const Linkage& linkage);

    // rates: accelerations along S, per freedom. roundings: per link, by how much its joint's may be off. Those
    // `computed` stay so.
    void begin(const std::vector<double>& rates, const std::vector<double>& roundings, ErrorMeasure measure,
               const std::vector<int>& computed);
    void refine(double bound) override;

  private:
    const Linkage& linkage_;
    std::vector<double> square_;        // per link
    std::vector<std::uint8_t> chosen_;  // per link
    std::vector<int> order_;            // links to be computed, the largest acceleration first
    std::vector<double> left_;          // of each place in it and all behind, the sum of squares
    std::size_t next_ = 0;
};

}  // namespace bellcrank
