#include "adaptive/linkage_forces.hpp"

#include <algorithm>

#include "trees/joint_coordinates.hpp"

namespace bellcrank {

namespace {

// Which coordinate of a link's joint a coordinate of the model is; −1: none of its own.
int own_coordinate(const Link& link, const Coordinate& coordinate) {
    const JointPart part = part_of(link.motion.joint(), coordinate);
    if (part.kind == JointPart::Kind::none) return -1;
    if (part.kind == JointPart::Kind::turn) return link.motion.is_ball() ? -1 : link.motion.slides() + part.number;
    int place = 0;
    for (int i = 0; i < part.number; ++i) place += link.motion.joint().slides[i] && link.motion.joint().screw_axis != i;
    return link.motion.joint().screw_axis == part.number ? -1 : place;
}

int link_along(const Model& model, const Linkage& linkage, const Coordinate& coordinate, int* own) {
    const MarkerPair& pair = model.pairs[coordinate.pair];
    for (const int body : pair.body) {
        if (body == model.ground()) continue;
        const int link = linkage.link_of[body];
        if (linkage.links[link].motion.joint().pair != coordinate.pair) continue;
        *own = own_coordinate(linkage.links[link], coordinate);
        return *own < 0 ? -1 : link;
    }
    return -1;
}

}  // namespace

// Dry friction holds what is at rest; its smoothed law does nothing there, and something where bodies move.
std::vector<Obstacle> LinkageForces::obstacles(const Model& model, bool moves) {
    std::vector<Obstacle> found;
    for (size_t i = 0; i < model.formula_forces.size(); ++i)
        found.push_back(
            {"it takes no forces given by formulas in its runs", Obstacle::Of::formula_force, static_cast<int>(i)});
    const Linkage linkage(model);
    for (size_t i = 0; i < model.laws.size(); ++i) {
        const Law& law = model.laws[i];
        const int number = static_cast<int>(i);
        int own;
        if (link_along(model, linkage, model.coordinates[law.coordinate], &own) < 0)
            found.push_back(
                {"in its runs it takes no spring, damper or motor between bodies, only along coordinates of "
                 "the tree's joints",
                 Obstacle::Of::law, number});
        else if (!moves && (law.kind->name == "brake" ||
                            (law.kind->name == "friction" && std::max(law.params[1], law.params[2]) > 0.0)))
            found.push_back(
                {"in its runs, whose joints are at rest at the start of each step, it takes no dry friction "
                 "and no brake",
                 Obstacle::Of::law, number});
    }
    return found;
}

LinkageForces::LinkageForces(const Model& model, const Linkage& linkage)
    : model_(model), linkage_(linkage), first_law_(linkage.links.size() + 1, 0) {
    std::vector<int> number(linkage.links.size(), -1);
    for (size_t w = 0; w < model.wrenches.size(); ++w) {
        const Wrench& wrench = model.wrenches[w];
        if (wrench.body == model.ground()) continue;
        const int link = linkage.link_of[wrench.body];
        if (number[link] < 0) {
            number[link] = static_cast<int>(loaded_.size());
            loaded_.push_back({link, {}, false, -1});
        }
        Loaded& body = loaded_[number[link]];
        body.wrenches.push_back(static_cast<int>(w));
        if (!wrench.local && body.turned < 0) {
            body.turned = static_cast<int>(turned_.size());
            turned_.push_back(link);
        }
        for (const int function : wrench.function) body.by_time |= function >= 0;
    }
    for (const Loaded& body : loaded_) {
        if (body.by_time) by_time_.push_back(body);
        if (body.turned >= 0 && !body.by_time) by_pose_.push_back(body);
    }
    for (size_t l = 0; l < model.laws.size(); ++l) {
        int own;
        const int link = link_along(model, linkage, model.coordinates[model.laws[l].coordinate], &own);
        laws_.push_back({static_cast<int>(l), link, own});
        if (model.laws[l].function >= 0) driven_.push_back(link);
    }
    std::stable_sort(laws_.begin(), laws_.end(), [](const Along& a, const Along& b) { return a.link < b.link; });
    for (const Along& along : laws_) ++first_law_[along.link + 1];
    for (size_t i = 1; i < first_law_.size(); ++i) first_law_[i] += first_law_[i - 1];
}

void LinkageForces::apply_to(const Loaded& body, double t, LoadedAssembly& assembly) const {
    const Link& link = linkage_.links[body.link];
    Mat3 world{};
    if (body.turned >= 0) world = assembly.placed().chosen().rotation(body.turned) * link.principal.rotation;
    Six sum{};
    for (const int number : body.wrenches) {
        const Wrench& wrench = model_.wrenches[number];
        double c[6];
        for (int i = 0; i < 6; ++i)
            c[i] = wrench.constant[i] + (wrench.function[i] < 0 ? 0.0 : model_.functions[wrench.function[i]](t).f);
        Vec3 moment{c[0], c[1], c[2]}, force{c[3], c[4], c[5]};
        if (wrench.local) {
            const Mat3 R = rotation_matrix(wrench.rotation);
            moment = R * moment, force = R * force;
        } else
            moment = transpose_times(world, moment), force = transpose_times(world, force);
        sum = sum + stacked(moment + cross(wrench.offset, force), force);
    }
    double own[6];
    put(own, force_out_of(link.principal, sum));
    assembly.set_force(body.link, own);
}

void LinkageForces::apply_along(int number, double t, const double* q, const double* u,
                                LoadedAssembly& assembly) const {
    const int begin = first_law_[number], end = first_law_[number + 1];
    if (begin == end) return;
    const Link& link = linkage_.links[number];
    double along[7] = {}, rates[7] = {}, Q[6];
    if (u != nullptr) link.motion.rates(q + link.coordinate, u + link.freedom, rates);
    for (int i = begin; i < end; ++i) {
        const Law& law = model_.laws[laws_[i].law];
        const double value = q[link.coordinate + laws_[i].coordinate];
        const LawFunction<double> function(law.function < 0 ? nullptr : &model_.functions[law.function]);
        along[laws_[i].coordinate] += law.kind->effort({value, rates[laws_[i].coordinate], t}, law.params, function);
    }
    link.motion.efforts(q + link.coordinate, along, Q);
    assembly.set_effort(number, Q);
}

void LinkageForces::apply_all(double t, const double* q, const double* u, LoadedAssembly& assembly) {
    for (const Loaded& body : loaded_) apply_to(body, t, assembly);
    for (size_t i = 0; i < linkage_.links.size(); ++i) apply_along(static_cast<int>(i), t, q, u, assembly);
}

void LinkageForces::apply(double t, const double* q, const double* u, const std::vector<int>& moved,
                          LoadedAssembly& assembly) {
    for (const Loaded& body : by_time_) apply_to(body, t, assembly);
    for (const int link : driven_) apply_along(link, t, q, u, assembly);
    if (moved.empty()) return;
    for (const Loaded& body : by_pose_)
        if (assembly.placed().chosen().has_changed(body.turned)) apply_to(body, t, assembly);
    for (const int link : moved) apply_along(link, t, q, u, assembly);
}

}  // namespace bellcrank
