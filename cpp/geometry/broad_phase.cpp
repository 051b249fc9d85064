#include "geometry/broad_phase.hpp"

#include <cmath>
#include <cstdint>
#include <utility>

namespace bellcrank {

namespace {

double extent(const Bounds& b) { return std::max({b.hi.x - b.lo.x, b.hi.y - b.lo.y, b.hi.z - b.lo.z}); }

std::size_t hashed(int x, int y, int z) {
    std::uint64_t h = static_cast<std::uint32_t>(x) * 0x9E3779B97F4A7C15ull;
    h ^= static_cast<std::uint32_t>(y) * 0xC2B2AE3D27D4EB4Full;
    h ^= static_cast<std::uint32_t>(z) * 0x165667B19E3779F9ull;
    h ^= h >> 29;
    return static_cast<std::size_t>(h * 0xBF58476D1CE4E5B9ull >> 20);
}

constexpr double kLarge = 4.0;  // times the median

}  // namespace

const BoundsPairs& BroadPhase::pairs(const std::vector<Bounds>& bounds) {
    pairs_.clear();
    split(bounds);
    if (fill_table(bounds)) {
        compare_in_table();
    } else {
        sort_into_cells(bounds);
        compare_in_cells();
    }
    compare_large(bounds);
    sort_pairs(static_cast<int>(bounds.size()));
    return pairs_;
}

void BroadPhase::split(const std::vector<Bounds>& bounds) {
    const std::size_t n = bounds.size();
    small_.clear();
    large_.clear();
    sizes_.clear();
    for (const Bounds& b : bounds)
        if (const double size = extent(b); std::isfinite(size)) sizes_.push_back(size);
    if (sizes_.empty()) {
        for (std::size_t i = 0; i < n; ++i) large_.push_back(static_cast<int>(i));
        return;
    }
    auto middle = sizes_.begin() + static_cast<std::ptrdiff_t>(sizes_.size() / 2);
    std::nth_element(sizes_.begin(), middle, sizes_.end());
    const double largest = kLarge * *middle;
    size_ = 0.0;
    centres_ = {};
    for (std::size_t i = 0; i < n; ++i) {
        const double size = extent(bounds[i]);
        if (!(size <= largest)) {
            large_.push_back(static_cast<int>(i));
            continue;
        }
        small_.push_back(static_cast<int>(i));
        size_ = std::max(size_, size);
        centres_.add(bounds[i].centre());
    }
    if (small_.empty()) return;
    // Numbers of cells stay within 30 bits.
    size_ = std::max({size_ * (1.0 + 1e-9), extent(centres_) * 1e-9, 1e-300});
}

// A table of all cells between the outermost centres, with one more around it, unless most would be empty.
bool BroadPhase::fill_table(const std::vector<Bounds>& bounds) {
    entries_.clear();
    if (small_.empty()) return true;
    const Vec3 cells = (1.0 / size_) * (centres_.hi - centres_.lo);
    const double nx = std::floor(cells.x) + 3.0, ny = std::floor(cells.y) + 3.0, nz = std::floor(cells.z) + 3.0;
    if (!(nx * ny * nz <= 8.0 * static_cast<double>(small_.size()) + 64.0)) return false;
    row_ = static_cast<int>(nx), layer_ = static_cast<int>(nx * ny);
    first_.assign(static_cast<std::size_t>(nx * ny * nz) + 1, 0);
    cell_of_.resize(small_.size());
    for (std::size_t i = 0; i < small_.size(); ++i) {
        const Vec3 c = (1.0 / size_) * (bounds[small_[i]].centre() - centres_.lo);
        const int x = static_cast<int>(c.x) + 1, y = static_cast<int>(c.y) + 1, z = static_cast<int>(c.z) + 1;
        cell_of_[i] = z * layer_ + y * row_ + x;
        ++first_[cell_of_[i]];
    }
    int sum = 0;
    for (int& first : first_) sum += std::exchange(first, sum);
    entries_.resize(small_.size());
    for (std::size_t i = 0; i < small_.size(); ++i)
        entries_[first_[cell_of_[i]]++] = {bounds[small_[i]], small_[i], cell_of_[i]};
    // What was the first of a cell is now that of the next.
    for (std::size_t c = first_.size() - 1; c > 0; --c) first_[c] = first_[c - 1];
    first_[0] = 0;
    return true;
}

void BroadPhase::compare_with(int entry, int begin, int end) {
    const Entry& a = entries_[entry];
    for (int i = begin; i < end; ++i)
        if (overlap(a.bounds, entries_[i].bounds)) pairs_.push_back(std::minmax(a.body, entries_[i].body));
}

// Cells along x follow each other: the 13 neighbours ahead are four rows of three, and the next one.
void BroadPhase::compare_in_table() {
    const int rows[4] = {row_, layer_ - row_, layer_, layer_ + row_};
    for (int i = 0; i < static_cast<int>(entries_.size()); ++i) {
        const int cell = entries_[i].cell;
        compare_with(i, i + 1, first_[cell + 2]);
        for (int row : rows) compare_with(i, first_[cell + row - 1], first_[cell + row + 2]);
    }
}

void BroadPhase::compare_in_cells() {
    for (std::size_t c = 0; c < cells_.size(); ++c) {
        compare_cells(static_cast<int>(c), static_cast<int>(c));
        const Cell cell = cells_[c];
        // Half of the neighbours: the other half meets this cell in its turn.
        for (int k = 14; k < 27; ++k) {
            const int other = find(cell.x + k % 3 - 1, cell.y + k / 3 % 3 - 1, cell.z + k / 9 - 1);
            if (other >= 0) compare_cells(static_cast<int>(c), other);
        }
    }
}

int BroadPhase::find(int x, int y, int z) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hashed(x, y, z) & mask;; slot = (slot + 1) & mask) {
        const int c = slots_[slot];
        if (c < 0) return -1;
        if (cells_[c].x == x && cells_[c].y == y && cells_[c].z == z) return c;
    }
}

void BroadPhase::sort_into_cells(const std::vector<Bounds>& bounds) {
    cells_.clear();
    std::size_t slots = 16;
    while (slots < 2 * small_.size()) slots *= 2;
    slots_.assign(slots, -1);
    cell_of_.resize(small_.size());
    for (std::size_t i = 0; i < small_.size(); ++i) {
        const Vec3 c = (1.0 / size_) * (bounds[small_[i]].centre() - centres_.lo);
        const int x = static_cast<int>(c.x), y = static_cast<int>(c.y), z = static_cast<int>(c.z);
        std::size_t slot = hashed(x, y, z) & (slots - 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            if (slots_[slot] < 0) {
                slots_[slot] = static_cast<int>(cells_.size());
                cells_.push_back({x, y, z, 0, 0});
            }
            const Cell& cell = cells_[slots_[slot]];
            if (cell.x == x && cell.y == y && cell.z == z) break;
        }
        cell_of_[i] = slots_[slot];
        ++cells_[slots_[slot]].count;
    }
    int first = 0;
    for (Cell& cell : cells_) {
        cell.first = first;
        first += cell.count;
        cell.count = 0;
    }
    entries_.resize(small_.size());
    for (std::size_t i = 0; i < small_.size(); ++i) {
        Cell& cell = cells_[cell_of_[i]];
        entries_[cell.first + cell.count++] = {bounds[small_[i]], small_[i], cell_of_[i]};
    }
}

void BroadPhase::compare_cells(int cell, int other) {
    const Cell &a = cells_[cell], &b = cells_[other];
    for (int i = a.first; i < a.first + a.count; ++i)
        compare_with(i, cell == other ? i + 1 : b.first, cell == other ? a.first + a.count : b.first + b.count);
}

void BroadPhase::compare_large(const std::vector<Bounds>& bounds) {
    for (std::size_t k = 0; k < large_.size(); ++k) {
        const Bounds& large = bounds[large_[k]];
        for (const Entry& e : entries_)
            if (overlap(large, e.bounds)) pairs_.push_back(std::minmax(large_[k], e.body));
        for (std::size_t m = k + 1; m < large_.size(); ++m) {
            const Bounds& other = bounds[large_[m]];
            if (!std::isfinite(extent(large)) && !std::isfinite(extent(other))) continue;
            if (overlap(large, other)) pairs_.push_back(std::minmax(large_[k], large_[m]));
        }
    }
}

// Sorts by counting the first numbers; few pairs share one.
void BroadPhase::sort_pairs(int bodies) {
    first_.assign(bodies + 1, 0);
    for (const auto& pair : pairs_) ++first_[pair.first];
    int sum = 0;
    for (int& first : first_) sum += std::exchange(first, sum);
    sorted_.resize(pairs_.size());
    for (const auto& pair : pairs_) sorted_[first_[pair.first]++] = pair;
    std::swap(pairs_, sorted_);
    for (int i = 0, begin = 0; i < bodies; begin = first_[i++])
        if (first_[i] - begin > 1) std::sort(pairs_.begin() + begin, pairs_.begin() + first_[i]);
}

}  // namespace bellcrank
