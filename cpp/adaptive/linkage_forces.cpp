#include "adaptive/linkage_forces.hpp"

#include <algorithm>

#include "model/forces.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

// Dry friction holds what is at rest; its smoothed law does nothing there, and something where bodies move.
std::vector<Obstacle> LinkageForces::obstacles(const Model& model, bool moves) {
    std::vector<Obstacle> found;
    if (!model.contacts.empty() && !moves) found.push_back({"it takes no contacts in its runs"});
    for (size_t i = 0; i < model.laws.size() && !moves; ++i) {
        const Law& law = model.laws[i];
        if (law.kind->name == "brake" || (law.kind->name == "friction" && std::max(law.params[1], law.params[2]) > 0.0))
            found.push_back(
                {"in its runs, whose joints are at rest at the start of each step, it takes no dry friction "
                 "and no brake",
                 Obstacle::Of::law, static_cast<int>(i)});
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
            loaded_.push_back({link, {}, false, false, -1});
        }
        Loaded& body = loaded_[number[link]];
        body.wrenches.push_back(static_cast<int>(w));
        if (!wrench.local && body.turned < 0) {
            body.turned = static_cast<int>(turned_.size());
            turned_.push_back(link);
        }
        for (const int function : wrench.function) body.by_time |= function >= 0;
    }
    std::vector<std::uint8_t> is_along(model.laws.size(), 0);
    for (size_t l = 0; l < model.laws.size(); ++l) {
        int own;
        const int link = linkage.link_along(model, model.laws[l].coordinate, &own);
        if (link < 0) continue;
        is_along[l] = 1;
        laws_.push_back({static_cast<int>(l), link, own});
        if (model.laws[l].function >= 0) driven_.push_back(link);
    }
    find_between(is_along);
    for (const int link : attached_) {
        if (number[link] < 0) {
            number[link] = static_cast<int>(loaded_.size());
            loaded_.push_back({link, {}, false, false, -1});
        }
        loaded_[number[link]].is_attached = true;
    }
    for (const Loaded& body : loaded_) {
        if (body.by_time || body.is_attached)
            by_time_.push_back(body);
        else if (body.turned >= 0)
            by_pose_.push_back(body);
    }
    std::stable_sort(laws_.begin(), laws_.end(), [](const Along& a, const Along& b) { return a.link < b.link; });
    for (const Along& along : laws_) ++first_law_[along.link + 1];
    for (size_t i = 1; i < first_law_.size(); ++i) first_law_[i] += first_law_[i - 1];
}

// Laws that are not along coordinates of the tree's joints, those between the same markers side by side, and formulas.
void LinkageForces::find_between(const std::vector<std::uint8_t>& is_along) {
    std::vector<std::uint8_t> is_attached(linkage_.links.size(), 0);
    const auto attach = [&](int body) {
        if (body != model_.ground()) is_attached[linkage_.link_of[body]] = 1;
    };
    const auto follow = [&](int coordinate, Between& of) {
        if (model_.coordinates[coordinate].followed()) of.followed.push_back(coordinate);
        for (const int body : model_.pairs[model_.coordinates[coordinate].pair].body) attach(body);
    };
    for (size_t l = 0; l < model_.laws.size();) {
        if (is_along[l] != 0) {
            ++l;
            continue;
        }
        Between& group = between_.emplace_back(Between{static_cast<int>(l), 0, -1, {}});
        const int pair = model_.coordinates[model_.laws[l].coordinate].pair;
        for (; l < model_.laws.size() && is_along[l] == 0; ++l) {
            if (model_.coordinates[model_.laws[l].coordinate].pair != pair) break;
            follow(model_.laws[l].coordinate, group);
            ++group.laws;
        }
    }
    for (size_t f = 0; f < model_.formula_forces.size(); ++f) {
        Between& of = between_.emplace_back(Between{-1, 0, static_cast<int>(f), {}});
        for (const FormulaMarker& marker : model_.formula_forces[f].ends().markers) attach(marker.body);
        for (const int coordinate : model_.formula_forces[f].ends().coordinates) follow(coordinate, of);
    }
    for (const ContactGroup& group : model_.contacts.groups)
        for (const int shape : group.shapes) attach(model_.contacts.shapes[shape].body);
    if (!model_.contacts.empty()) contacts_ = std::make_unique<Contacts>(model_.contacts);
    for (size_t link = 0; link < is_attached.size(); ++link)
        if (is_attached[link] != 0) attached_.push_back(static_cast<int>(link));
    if (!has_between()) return;
    const size_t size = static_cast<size_t>(kPose) * (model_.bodies() + 1);
    for (std::vector<double>* records : {&x_, &u_, &exerted_}) records->assign(size, 0.0);
    x_[kPose * model_.ground() + 4] = 1.0;
}

void LinkageForces::begin(const AngleBranches& branches, const double* poses, std::span<const ContactMemory> memory) {
    if (!has_between()) return;
    branches_ = std::make_unique<AngleBranches>(branches);
    if (!has_contacts()) return;
    contacts_->forget();
    if (!memory.empty()) contacts_->remember(memory, poses);
}

std::vector<ContactMemory> LinkageForces::memory() const {
    return has_contacts() ? contacts_->memory(x_.data()) : std::vector<ContactMemory>();
}

// What forces between bodies exert, as records.
void LinkageForces::exert_between(double t, const LoadedAssembly& assembly) {
    for (const int number : attached_) {
        const Link& link = linkage_.links[number];
        const Place principal = assembly.placed().pose(number) * link.principal;
        const Twist own = inward(link.principal.rotation, link.principal.shift, assembly.twist_of(number));
        store(x_.data() + kPose * link.body, principal.shift);
        store(x_.data() + kPose * link.body + 4, quaternion_from_matrix(principal.rotation));
        store_twist(u_.data(), link.body, principal.rotation * own.v, own.w);
        std::fill_n(exerted_.data() + kTwist * link.body, kTwist, 0.0);
    }
    for (const Between& each : between_) {
        for (const int coordinate : each.followed) branches_->follow(model_, coordinate, x_.data());
        if (each.law >= 0)
            add_laws(model_, *branches_, each.law, t, x_.data(), u_.data(), exerted_.data());
        else
            model_.formula_forces[each.formula].add({model_, *branches_, t, x_.data(), u_.data()}, exerted_.data());
    }
    if (has_contacts()) contacts_->add_forces(x_.data(), u_.data(), exerted_.data());
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
    if (body.is_attached) {
        const double* record = exerted_.data() + kTwist * link.body;
        const Mat3 R = rotation_matrix(pose_rotation(x_.data(), link.body));
        sum = sum + stacked(load(record + 4), transpose_times(R, load(record)));
    }
    double own[6];
    put(own, force_out_of(link.principal, sum) + pull_on(body.link, assembly));
    assembly.set_force(body.link, own);
}

void LinkageForces::hold(int link, const Hand& hand) {
    release(link);
    hands_.emplace_back(link, hand);
    const auto is_its = [link](const Loaded& body) { return body.link == link; };
    if (std::any_of(by_time_.begin(), by_time_.end(), is_its)) return;
    if (std::none_of(loaded_.begin(), loaded_.end(), is_its)) loaded_.push_back({link, {}, false, false, -1});
    by_time_.push_back(*std::find_if(loaded_.begin(), loaded_.end(), is_its));
    std::erase_if(by_pose_, is_its);
}

// The body stays among those that are looked at, so that its pull is taken back.
void LinkageForces::release(int link) {
    std::erase_if(hands_, [link](const auto& each) { return each.first == link; });
}

// In axes of the body: k (target − p), or as much of it as there may be, − c v at the point; and the moment of that.
Six LinkageForces::pull_on(int link, const LoadedAssembly& assembly) const {
    for (const auto& [held, hand] : hands_) {
        if (held != link) continue;
        const Place pose = assembly.placed().pose(link);
        const Twist twist = assembly.twist_of(link);
        const Vec3 gap = transpose_times(pose.rotation, hand.target - pose.shift) - hand.point;
        const double pull = hand.stiffness * norm(gap);
        const double firm = pull > hand.most ? hand.stiffness * (hand.most / pull) : hand.stiffness;
        const Vec3 force = firm * gap - hand.damping * (twist.v + cross(twist.w, hand.point));
        return stacked(cross(hand.point, force), force);
    }
    return Six{};
}

void LinkageForces::efforts_along(int number, double t, const double* q, const double* u, const double* given,
                                  double* along) const {
    const Link& link = linkage_.links[number];
    double rates[7] = {};
    if (u != nullptr) link.motion.rates(q + link.coordinate, u + link.freedom, rates);
    for (int i = 0; given != nullptr && i < link.motion.coordinates(); ++i) rates[i] += given[i];
    for (int i = first_law_[number]; i < first_law_[number + 1]; ++i) {
        const Law& law = model_.laws[laws_[i].law];
        const double value = q[link.coordinate + laws_[i].coordinate];
        const LawFunction<double> function(law.function < 0 ? nullptr : &model_.functions[law.function]);
        along[laws_[i].coordinate] += law.kind->effort({value, rates[laws_[i].coordinate], t}, law.params, function);
    }
}

double LinkageForces::potential_along(int number, const double* q) const {
    double sum = 0.0;
    for (int i = first_law_[number]; i < first_law_[number + 1]; ++i) {
        const Law& law = model_.laws[laws_[i].law];
        if (law.kind->potential == nullptr) continue;
        const Function* function = law.function < 0 ? nullptr : &model_.functions[law.function];
        sum += law.kind->potential(q[linkage_.links[number].coordinate + laws_[i].coordinate], law.params, function);
    }
    return sum;
}

// What a law with a potential exerts at rest is the slope of that.
double LinkageForces::stored_power(int number, double t, const double* q, const double* u, const double* given) const {
    if (first_law_[number] == first_law_[number + 1]) return 0.0;
    const Link& link = linkage_.links[number];
    double rates[7] = {}, sum = 0.0;
    link.motion.rates(q + link.coordinate, u + link.freedom, rates);
    for (int i = 0; given != nullptr && i < link.motion.coordinates(); ++i) rates[i] += given[i];
    for (int i = first_law_[number]; i < first_law_[number + 1]; ++i) {
        const Law& law = model_.laws[laws_[i].law];
        if (law.kind->potential == nullptr) continue;
        const LawFunction<double> function(law.function < 0 ? nullptr : &model_.functions[law.function]);
        const double value = q[link.coordinate + laws_[i].coordinate];
        sum += rates[laws_[i].coordinate] * law.kind->effort({value, 0.0, t}, law.params, function);
    }
    return sum;
}

double LinkageForces::potential_between(double t) const {
    double sum = 0.0;
    if (!has_between()) return sum;
    const Scenery at{model_, *branches_, t, x_.data(), u_.data()};
    for (const Between& each : between_) {
        if (each.formula >= 0) sum += model_.formula_forces[each.formula].potential(at);
        for (int law = each.law; law < each.law + each.laws; ++law) sum += law_potential(at, model_.laws[law]);
    }
    return sum;
}

void LinkageForces::apply_along(int number, double t, const double* q, const double* u,
                                LoadedAssembly& assembly) const {
    if (first_law_[number] == first_law_[number + 1]) return;
    const Link& link = linkage_.links[number];
    double along[7] = {}, Q[6];
    efforts_along(number, t, q, u, nullptr, along);
    link.motion.efforts(q + link.coordinate, along, Q);
    assembly.set_effort(number, Q);
}

void LinkageForces::apply_all(double t, const double* q, const double* u, LoadedAssembly& assembly) {
    if (has_between()) exert_between(t, assembly);
    for (const Loaded& body : loaded_) apply_to(body, t, assembly);
    for (size_t i = 0; i < linkage_.links.size(); ++i) apply_along(static_cast<int>(i), t, q, u, assembly);
}

void LinkageForces::apply(double t, const double* q, const double* u, const std::vector<int>& moved,
                          LoadedAssembly& assembly) {
    if (has_between()) exert_between(t, assembly);
    for (const Loaded& body : by_time_) apply_to(body, t, assembly);
    for (const int link : driven_) apply_along(link, t, q, u, assembly);
    if (moved.empty() && linkage_.given.empty()) return;
    for (const Loaded& body : by_pose_)
        if (assembly.placed().chosen().has_changed(body.turned)) apply_to(body, t, assembly);
    for (const int link : moved) apply_along(link, t, q, u, assembly);
}

}  // namespace bellcrank
