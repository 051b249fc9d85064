// Which of many bounds overlap.
#pragma once

#include <utility>
#include <vector>

#include "geometry/bounds.hpp"

namespace bellcrank {

// A uniform grid, hashed, with cells as large as the largest of the bounds that are not much larger than most: each
// then meets those whose centres lie in the 27 cells around its own. The few large ones, planes and terrain among them,
// are compared with all. It keeps its memory between calls.
class BroadPhase {
  public:
    // All overlapping pairs (i, j), i < j, each once; the order depends on the bounds alone. Pairs of two bounds that
    // are not finite are left out: what is so large does not move.
    const std::vector<std::pair<int, int>>& pairs(const std::vector<Bounds>& bounds);

  private:
    void split(const std::vector<Bounds>& bounds);
    void sort_into_cells(const std::vector<Bounds>& bounds);
    void compare_cells(int cell, int other);
    void compare_large(const std::vector<Bounds>& bounds);

    struct Entry {
        Bounds bounds;
        int body;
    };
    struct Cell {
        int x, y, z, first, count;
    };
    std::vector<int> small_, large_, slots_, cell_of_;
    std::vector<double> sizes_;
    std::vector<Cell> cells_;
    std::vector<Entry> entries_;  // of the small ones, cell by cell
    std::vector<std::pair<int, int>> pairs_;
    double size_ = 1.0;
    Vec3 origin_{0.0, 0.0, 0.0};

    int find(int x, int y, int z) const;
};

}  // namespace bellcrank
