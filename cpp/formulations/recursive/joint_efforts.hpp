// Laws along coordinates whose rates are speeds of the tree: their efforts are there without measuring bodies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "formulations/recursive/links.hpp"

namespace bellcrank::recursive {

struct JointEffort {
    const Law* law;
    int x, u;  // coordinate and speed of the tree

    double at(const Model& model, double t, double value, double rate) const {
        const Function* function = law->function < 0 ? nullptr : &model.functions[law->function];
        return law->kind->effort({value, rate, t}, law->params, function);
    }
};

class JointEfforts {
  public:
    JointEfforts(const Model& model, const LinkTree& tree) : model_(model), taken_(model.laws.size(), 0) {
        for (size_t i = 0; i < model.laws.size(); ++i) {
            const auto [link, speed] = tree.speed_of[model.laws[i].coordinate];
            if (link < 0) continue;
            taken_[i] = 1;
            list_.push_back({&model.laws[i], tree.links[link].x + speed - tree.links[link].u, speed});
        }
    }

    const std::vector<JointEffort>& list() const { return list_; }
    bool takes_all() const { return list_.size() == taken_.size(); }
    const std::uint8_t* taken() const { return taken_.data(); }  // per law

    void find(double t, const double* x, const double* u, std::vector<double>& efforts) const {
        std::fill(efforts.begin(), efforts.end(), 0.0);
        for (const JointEffort& e : list_) efforts[e.u] += e.at(model_, t, x[e.x], u[e.u]);
    }

  private:
    const Model& model_;
    std::vector<JointEffort> list_;
    std::vector<std::uint8_t> taken_;
};

}  // namespace bellcrank::recursive
