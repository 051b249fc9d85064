// How impulses on the links of a tree change velocities: the recursion with impulses for forces and jumps for
// accelerations, nothing else being known of either (docs/theory/recursive.md, "Impulses").
#pragma once

#include <span>
#include <vector>

#include "formulations/recursive/recursion.hpp"

namespace bellcrank::recursive {

class ImpulseResponse {
  public:
    explicit ImpulseResponse(const LinkTree& tree);

    // Inertias of the tree at a state.
    void factor(const TreeState& k);

    // G = J M⁻¹ Jᵀ of rows, each with a load on the links of its ends; (rows, rows), row-major, symmetric. Ends on the
    // ground may be there. O(n + m d + m²) for n links, m ends, and paths of d links to the root.
    void between(const TreeState& k, std::span<const RowEnd> ends, int rows, double* G);

    // u += the jumps that impulses on the links make.
    void add_jumps(const TreeState& k, const Load* impulses, double* u);
    // Speeds of a tree whose links have these momenta in all, with efforts' impulses, and given ones where it is
    // driven.
    void find_speeds(const TreeState& k, const Load* momenta, const double* efforts, const double* given, double* u);
    // Accelerations of a tree that nothing closes, and those of its links.
    void accelerate(const TreeState& k, const Load* loads, const double* given, double* udot);
    void accelerations(const TreeState& k, const double* udot, std::vector<Twist>& links) const {
        recursion_.accelerations(k, k.bias.data(), udot, links);
    }
    // Rates of the rows, J u; twice the kinetic energy of the links.
    double rates(const TreeState& k, std::span<const RowEnd> ends, const double* u, std::span<double> out);

  private:
    // The jump that an impulse makes, v = A f + B n and w = Bᵀ f + C n, in the blocks of an inertia.
    struct Mobility {
        Articulated of;
        Twist operator*(const Load& P) const {
            const Load a = of * Twist{P.f, P.n};
            return {a.f, a.n};
        }
    };
    void sort_ends(std::span<const RowEnd> ends);
    void whiten_joint(const TreeState& k, int link);
    Mobility inward(const TreeState& k, int link) const;
    void find_mobility(const TreeState& k, int link);
    void pass(const TreeState& k, int link);
    void pair(const Mobility& at, int first, int middle, int last, int rows, double* G);
    bool is_free(const Link& link) const { return link.given < 0 && link.speeds == 6; }

    const LinkTree& tree_;
    Recursion recursion_;     // without rows
    const bool has_light_;    // bodies beside what they carry: digits may be lost
    std::vector<int> last_;   // link of each link's subtree
    std::vector<int> begin_;  // first end on each link, and how many ends there are
    std::vector<int> filled_;
    std::vector<int> row_;      // of each end, by ascending link
    std::vector<Load> column_;  // of each end, where the way up has come
    std::vector<Twist> moved_;  // by each end
    std::vector<Mobility> mobility_;
    std::vector<Twist> S_, motion_;  // S L⁻ᵀ per speed; motions of links
    std::vector<Load> U_;            // U L⁻ᵀ per speed
    std::vector<double> jump_;
};

}  // namespace bellcrank::recursive
