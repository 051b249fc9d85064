// A tree of bodies as a Pinocchio model with its states, for drivers; see trees.h for what is read.
#ifndef BELLCRANK_PINOCCHIO_ENGINE_H
#define BELLCRANK_PINOCCHIO_ENGINE_H

#include <pinocchio/multibody.hpp>
#include <string>
#include <vector>

#include "trees.h"

struct Engine {
    pinocchio::Model model;
    pinocchio::Data data;
    std::vector<Eigen::VectorXd> q, v, effort;
};

inline pinocchio::Model model_of(const Trees& trees) {
    pinocchio::Model model;
    model.gravity.linear() << 0.0, 0.0, -9.81;
    std::vector<pinocchio::JointIndex> joints;
    for (int k = 0; k < trees.bodies; ++k) {
        const TreeBody& b = trees.body[k];
        const pinocchio::SE3 place(Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.rotation),
                                   Eigen::Map<const Eigen::Vector3d>(b.position));
        const pinocchio::JointIndex parent = b.parent < 0 ? 0 : joints[static_cast<std::size_t>(b.parent)];
        const std::string name = "joint " + std::to_string(k);
        joints.push_back(b.kind ? model.addJoint(parent, pinocchio::JointModelFreeFlyer(), place, name)
                                : model.addJoint(parent, pinocchio::JointModelRZ(), place, name));
        const pinocchio::Inertia inertia(b.mass, Eigen::Map<const Eigen::Vector3d>(b.com),
                                         Eigen::Map<const Eigen::Matrix3d>(b.inertia));
        model.appendBodyToJoint(joints.back(), inertia, pinocchio::SE3::Identity());
    }
    return model;
}

// Quaternions are x, y, z, w here.
inline Eigen::VectorXd configuration(const Trees& trees, int state) {
    Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(trees.q + state * trees.nq, trees.nq);
    for (int k = 0; k < trees.bodies; ++k)
        if (trees.body[k].kind) {
            const double w = q[trees.body[k].q + 3];
            for (int i = 3; i < 6; ++i) q[trees.body[k].q + i] = q[trees.body[k].q + i + 1];
            q[trees.body[k].q + 6] = w;
        }
    return q;
}

inline Engine engine_of(const Trees& trees) {
    Engine engine;
    engine.model = model_of(trees);
    engine.data = pinocchio::Data(engine.model);
    for (int s = 0; s < trees.states; ++s) {
        engine.q.push_back(configuration(trees, s));
        engine.v.emplace_back(Eigen::Map<const Eigen::VectorXd>(trees.v + s * trees.nv, trees.nv));
        engine.effort.emplace_back(Eigen::Map<const Eigen::VectorXd>(trees.effort + s * trees.nv, trees.nv));
    }
    return engine;
}

// Prints what an algorithm finds of accelerations in each state, and its times.
inline void report(const char* name, Work evaluate, Engine& engine, const Trees& trees, int samples) {
    std::vector<double> rows;
    for (int s = 0; s < trees.states; ++s) {
        evaluate(&engine, s);
        rows.insert(rows.end(), engine.data.ddq.data(), engine.data.ddq.data() + trees.nv);
    }
    printf("\"%s\": {", name);
    print_rows("accelerations", rows.data(), trees.states, trees.nv);
    printf(",\n");
    print_times("nanoseconds", evaluate, &engine, trees.states, samples);
    printf("}");
}

#endif
