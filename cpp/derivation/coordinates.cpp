#include "derivation/coordinates.hpp"

#include <numbers>
#include <optional>

#include "joints/pole.hpp"

namespace bellcrank::symbolic {

namespace {

// The second marker of a pair seen from the first.
class PairPose : public SymbolicPose {
  public:
    PairPose(LinkPoses& link_poses, const BodyPlace& first, const BodyPlace& second)
        : poses_of_links_(link_poses), first_(first), second_(second) {}

    const Vector& position() override { return pose().position; }
    const Matrix& rotation() override { return pose().rotation; }
    const QuatT<Expression>& quaternion() override {
        if (!quaternion_) quaternion_ = poses_of_links_.quaternion_between(first_, second_);
        return *quaternion_;
    }

  private:
    const Pose& pose() {
        if (!pose_) pose_ = poses_of_links_.between(first_, second_);
        return *pose_;
    }

    LinkPoses& poses_of_links_;
    BodyPlace first_, second_;
    std::optional<Pose> pose_;
    std::optional<QuatT<Expression>> quaternion_;
};

}  // namespace

Coordinates::Coordinates(const MechanismTree& mechanism, LinkPoses& link_poses)
    : mechanism_(mechanism),
      poses_of_links_(link_poses),
      values_(mechanism.model.coordinates.size()),
      branches_(mechanism.model.coordinates.size()) {}

Expression Coordinates::value(int number) {
    Expression& value = values_[number];
    if (value.graph != nullptr) return value;
    const Coordinate& coordinate = mechanism_.model.coordinates[number];
    value = mechanism_.own_coordinate(coordinate);
    if (value.graph != nullptr) return value;
    if (const int axis = turned_axis(*coordinate.kind); axis >= 0) {
        Expression near[3];
        for (int k = 0; k < 3; ++k) near[k] = branch(number - axis + k);
        PairPose pose(poses_of_links_, mechanism_.marker(coordinate.pair, 0), mechanism_.marker(coordinate.pair, 1));
        return value = coordinate.kind->formula(pose, std::span<const Expression>(near));
    }
    value = formula(number);
    if (coordinate.kind->angular()) {
        Graph& graph = mechanism_.graph;
        branch(number);
        constexpr double kTurn = 2.0 * std::numbers::pi;
        const Expression turns = (branches_[number] - value) / kTurn + 0.5;
        value = value + kTurn * Expression{&graph, graph.apply(Op::floor, turns.ref)};
    }
    return value;
}

Expression Coordinates::branch(int number) {
    Expression& near = branches_[number];
    Graph& graph = mechanism_.graph;
    if (near.graph == nullptr) near = {&graph, graph.symbol("near " + std::to_string(number))};
    return near;
}

QuatT<Expression> Coordinates::quaternion(int pair) {
    return poses_of_links_.quaternion_between(mechanism_.marker(pair, 0), mechanism_.marker(pair, 1));
}

Expression Coordinates::formula(int number) {
    const Coordinate& coordinate = mechanism_.model.coordinates[number];
    const int first = mechanism_.model.data().coordinate_param_start[number];
    std::vector<Expression> params;
    for (size_t i = 0; i < coordinate.params.size(); ++i)
        params.push_back(
            mechanism_.numbers.number("coordinate_params", first + static_cast<int>(i), coordinate.params[i]));
    PairPose pose(poses_of_links_, mechanism_.marker(coordinate.pair, 0), mechanism_.marker(coordinate.pair, 1));
    return coordinate.kind->formula(pose, params);
}

}  // namespace bellcrank::symbolic
