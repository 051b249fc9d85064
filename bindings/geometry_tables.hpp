// Tables of poses, points and numbers that the bindings of geometry take and return.
#pragma once

#include <nanobind/eigen/dense.h>

#include <ctime>
#include <stdexcept>
#include <string>
#include <vector>

#include "geometry/pose.hpp"

namespace bellcrank {

using PoseTable = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using PointNumbers = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;
using IndexTable = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline void check_columns(const PoseTable& table, int columns, const char* what) {
    if (table.cols() != columns)
        throw std::invalid_argument(std::string(what) + " must have " + std::to_string(columns) + " columns, got " +
                                    std::to_string(table.cols()));
}

// A row (x, y, z, w, x, y, z) of position and unit quaternion.
inline Pose pose_of(const PoseTable& poses, Eigen::Index row) {
    const double* p = poses.data() + 7 * (poses.rows() == 1 ? 0 : row);
    return {{p[0], p[1], p[2]}, rotation_matrix(Quat{p[3], p[4], p[5], p[6]})};
}

inline Eigen::Index common_rows(const PoseTable& a, const PoseTable& b) {
    check_columns(a, 7, "poses");
    check_columns(b, 7, "poses");
    if (a.rows() != b.rows() && a.rows() != 1 && b.rows() != 1)
        throw std::invalid_argument("poses of the two shapes must be as many, or one for all, got " +
                                    std::to_string(a.rows()) + " and " + std::to_string(b.rows()));
    return std::max(a.rows(), b.rows());
}

inline std::vector<Pose> poses_of(const PoseTable& table, Eigen::Index rows) {
    std::vector<Pose> out;
    for (Eigen::Index i = 0; i < rows; ++i) out.push_back(pose_of(table, i));
    return out;
}

inline std::vector<Vec3> points_from(const PoseTable& table, const char* what) {
    check_columns(table, 3, what);
    std::vector<Vec3> out;
    for (Eigen::Index i = 0; i < table.rows(); ++i) out.push_back({table(i, 0), table(i, 1), table(i, 2)});
    return out;
}

// Time of the processor, which other programs do not count in.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace bellcrank
