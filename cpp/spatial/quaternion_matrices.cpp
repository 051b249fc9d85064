#include "spatial/quaternion_matrices.hpp"

namespace bellcrank {

Eigen::Matrix4d left_product_matrix(const Quat& q) {
    Eigen::Matrix4d m;
    m << q.w, -q.x, -q.y, -q.z,  //
        q.x, q.w, -q.z, q.y,     //
        q.y, q.z, q.w, -q.x,     //
        q.z, -q.y, q.x, q.w;
    return m;
}

Eigen::Matrix4d right_product_matrix(const Quat& q) {
    Eigen::Matrix4d m;
    m << q.w, -q.x, -q.y, -q.z,  //
        q.x, q.w, q.z, -q.y,     //
        q.y, -q.z, q.w, q.x,     //
        q.z, q.y, -q.x, q.w;
    return m;
}

Eigen::Matrix<double, 3, 4> local_rate_matrix(const Quat& q) {
    return 2.0 * left_product_matrix(conjugate(q)).bottomRows<3>();
}

Eigen::Matrix<double, 3, 4> world_rate_matrix(const Quat& q) {
    return 2.0 * right_product_matrix(conjugate(q)).bottomRows<3>();
}

}  // namespace bellcrank
