// Which of many bounds overlap.
#pragma once

#include <utility>
#include <vector>

#include "geometry/bounds.hpp"

namespace bellcrank {

// Numbers i < j of two bounds.
using BoundsPairs = std::vector<std::pair<int, int>>;

// A uniform grid with cells as large as the largest of the bounds that are not much larger than most: each then meets
// those whose centres lie in the 27 cells around its own. The few large ones, planes and terrain among them, are
// compared with all. Cells are a table where the bounds fill it, otherwise hashed. It keeps its memory between calls.
class BroadPhase {
  public:
    // All overlapping pairs, sorted. Pairs of two bounds that are not finite are left out: what is so large does not
    // move.
    const BoundsPairs& pairs(const std::vector<Bounds>& bounds);

  private:
    void split(const std::vector<Bounds>& bounds);
    bool fill_table(const std::vector<Bounds>& bounds);
    void compare_in_table();
    void compare_with(int entry, int begin, int end);
    void sort_into_cells(const std::vector<Bounds>& bounds);
    void compare_in_cells();
    void compare_cells(int cell, int other);
    void compare_large(const std::vector<Bounds>& bounds);
    void sort_pairs(int bodies);

    struct Entry {
        Bounds bounds;
        int body, cell;
    };
    struct Cell {
        int x, y, z, first, count;
    };
    std::vector<int> small_, large_, slots_, cell_of_, first_;
    std::vector<double> sizes_;
    std::vector<Cell> cells_;
    std::vector<Entry> entries_;  // of the small ones, cell by cell
    BoundsPairs pairs_, sorted_;
    double size_ = 1.0;
    Bounds centres_;           // of the small ones
    int row_ = 0, layer_ = 0;  // of the table: from y to y + 1, from z to z + 1

    int find(int x, int y, int z) const;
};

}  // namespace bellcrank
