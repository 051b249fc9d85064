// Bodies that hang together, by joining sets.
#pragma once

#include <numeric>
#include <vector>

namespace bellcrank {

class BodySets {
  public:
    explicit BodySets(int size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
    // Whether they were in two sets until now.
    bool join(int a, int b) {
        a = find(a);
        b = find(b);
        if (a == b) return false;
        parent_[a] = b;
        return true;
    }
    // The body that stands for a set.
    int find(int i) {
        while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
        return i;
    }

  private:
    std::vector<int> parent_;
};

}  // namespace bellcrank
