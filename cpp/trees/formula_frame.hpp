// The frame behind a joint given by formulas in the one before it, and how speeds move it: its velocity is S u, its
// rate at constant speeds `bias`, in axes of the frame behind.
#pragma once

#include <algorithm>

#include "spatial/spatial_vectors.hpp"

namespace bellcrank {

// By what they give (joints/parametric.hpp), with p, Λ the pose of marker 2 in marker 1, ω its angular velocity and a
// bar on what ṡ adds to accelerations there:
//   forward   S = Λᵀ (w; ∂p),       bias = Λᵀ (ω̄̇;  p̄̈ − ω × ṗ)
//   reversed  S = (−w; w × p − ∂p), bias = (−ω̄̇;  ω̄̇ × p + ω × ṗ − p̄̈)
template <class T>
struct FormulaFrameT {
    Mat3T<T> rotation;
    Vec3T<T> shift;
    MotionT<T> S[6], bias;

    FormulaFrameT(const T* given, const T* rates, int coordinates, bool reversed) {
        const auto vector = [&given] {
            const Vec3T<T> out{given[0], given[1], given[2]};
            given += 3;
            return out;
        };
        const Vec3T<T> p = vector();
        Mat3T<T> R;
        std::copy_n(given, 9, R.m);
        given += 9;
        Vec3T<T> pdot{0.0, 0.0, 0.0}, omega{0.0, 0.0, 0.0};
        for (int k = 0; k < coordinates; ++k) {
            const Vec3T<T> dp = vector(), w = vector();
            pdot += rates[k] * dp;
            omega += rates[k] * w;
            S[k] =
                reversed ? MotionT<T>{-w, cross(w, p) - dp} : MotionT<T>{transpose_times(R, w), transpose_times(R, dp)};
        }
        const Vec3T<T> a = vector(), alpha = vector();
        rotation = reversed ? transpose(R) : R;
        shift = reversed ? -transpose_times(R, p) : p;
        bias = reversed ? MotionT<T>{-alpha, cross(alpha, p) + cross(omega, pdot) - a}
                        : MotionT<T>{transpose_times(R, alpha), transpose_times(R, a - cross(omega, pdot))};
    }
};

}  // namespace bellcrank
