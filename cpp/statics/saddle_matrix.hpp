// The saddle point matrix of a quadratic form on the displacements that rows admit, sparse, with its inertia; rows that
// do not hold are left out of it.
#pragma once

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <vector>

#include "statics/row_matrix.hpp"
#include "statics/tangent_stiffness.hpp"

namespace bellcrank {

//     ( H + AᵀA   Aᵀ )
//     (    A      −δ )      H = stiffness K + shift · 1 + inertia · M
//
// Adding AᵀA changes nothing where A v = 0 and makes the upper block regular where the form is positive there, so that
// L D Lᵀ needs no pivoting; −δ keeps dependent rows from being singular. Of the pivots D, as many are negative as there
// are rows, plus the directions that rows admit along which the form is negative (Sylvester's law; N. Gould, On
// practical conditions for the existence and uniqueness of solutions to the general equality quadratic programming
// problem, 1985).
class SaddleMatrix {
  public:
    SaddleMatrix(const TangentStiffness& stiffness, const RowMatrix& rows, const Eigen::VectorXd& mass);

    struct Form {
        double stiffness = 0.0, shift = 0.0, inertia = 0.0;  // factors of K, 1 and M
    };
    // False if a pivot vanishes.
    bool factor(const Form& form);
    // Directions along which the form is negative.
    int negative_directions() const;
    // (v, y) with H v + Aᵀ y = b and A v = c.
    void solve(const Eigen::VectorXd& b, const Eigen::VectorXd& c, Eigen::VectorXd& v, Eigen::VectorXd& y);

  private:
    void place();
    void add_squares();

    const TangentStiffness& stiffness_;
    const RowMatrix& rows_;
    const Eigen::VectorXd& mass_;
    int n_, m_;
    Eigen::SparseMatrix<double> matrix_;  // lower triangle
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> ldlt_;
    std::vector<int> block_places_, row_places_, diagonal_places_;
    struct Square {
        int one, two, block;  // entries of a row
    };
    std::vector<Square> squares_;
    Eigen::VectorXd right_, solution_, left_;
};

}  // namespace bellcrank
