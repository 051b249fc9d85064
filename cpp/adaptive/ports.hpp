// Columns of nodes that have ports. Behind the columns of a node's own load stand six for a load at each of its ports:
// so Gauss' scalar tells how ports accelerate, and every equation of adaptive/node_equations.hpp holds as it is. At the
// node where rows are met it is stationary over their multipliers λ, which load the ports with Jᵀ λ:
//   of a stretch  E = ½ fᵀ Φ f + fᵀ b ξ + ½ ξᵀ c ξ + λᵀ bias,  of a law  Z = ½ aᵀ W a + aᵀ g ξ + ½ ξᵀ k ξ − λᵀ bias,
// ξ: the own columns' factors and the loads at ports. (docs/theory/adaptive_dynamics.md, loops.)
#pragma once

#include <vector>

#include "adaptive/loops.hpp"
#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

// What a node with ports answers, in columns of those that it keeps; and what it hands down with, in columns of all.
struct PortedColumns {
    PortedColumns(const PortedNode& node, int own, int freedoms, int rows);

    std::vector<double> b1, b2, c;  // of a law g and k; of a body by itself h and k
    std::vector<double> gamma, R;   // of a joint; of a rake g in the place of γ
    Matrix6 law;                    // of a rake: W before rows are met
    // λ = −(b1ᵀ first + b2ᵀ second + c ξ), per row, and the inverse of what rows leave of each other's multipliers.
    std::vector<double> row_b1, row_b2, row_c, inverse;
    std::vector<double> given;  // loads at ports that are kept, on the way down
};

// A part as it enters the node above. turn: its own columns by those of the node above (columns one after another);
// null: they are the same.
struct PartColumns {
    const double *b1, *b2, *c;
    int own, ports;
    const double* turn;
};
// Puts columns of a part, whose first port has this number, into columns of the whole, and adds its scalar.
void place_columns(const PartColumns& part, int first, int own, int all, double* b1, double* b2, double* c);

// Blocks of a mobility; of a law W alone.
struct OfEnds {
    Matrix6 *first, *between, *second;
};
// Meets rows: takes from matrices, columns and scalar of a node what multipliers do. sign: 1 of a stretch, −1 of a law.
// bias: per own column and row. of_load: columns are loads on a body by itself instead of what a law answers.
void meet(const MeetingRows& rows, const double* bias, double sign, bool of_load, int own, int all,
          const OfEnds& matrices, double* b1, double* b2, double* c, PortedColumns& out);

// Columns of the ports that are kept, of those of all.
void keep(const PortedNode& node, int own, int all, const double* b1, const double* b2, const double* c,
          PortedColumns& out);

// Loads at all ports of a node and multipliers of its rows, from loads at ports that it keeps, the factors ξ of its own
// columns, and what it is given.
void load_ports(const PortedNode& node, const MeetingRows& rows, const PortedColumns& of, const double* xi, int own,
                const double* kept, const Six& first, const Six& second, double* multipliers, double* loads);

// Σ of columns times factors: own ones, then loads at ports.
Six times(const double* columns, const double* xi, int own, const double* loads, int ports);
double square_of(const double* scalar, const double* xi, int own, const double* loads, int ports);

}  // namespace bellcrank
