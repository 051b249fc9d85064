#include "adaptive/loops.hpp"

#include <algorithm>
#include <map>

#include "adaptive/velocity_terms.hpp"
#include "spatial/body_state.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank {

Loops::Loops(std::shared_ptr<const Model> model, const Linkage& linkage) : model_(std::move(model)), linkage_(linkage) {
    std::map<int, Meeting> found;  // by node
    std::map<int, std::vector<int>> bodies_at;
    std::vector<std::uint8_t> gives_way(linkage.links.size(), 0);
    std::vector<std::vector<int>> ways;  // links between the bodies of rows
    for (size_t i = 0; i < linkage.closing_rows.size(); ++i) {
        const int row = linkage.closing_rows[i], block = model_->block_of(row),
                  formula = model_->formula_of_block[block];
        if (formula >= 0 && row != model_->blocks[block].row_begin) continue;  // its rows stand together
        std::vector<int> bodies = model_->bodies_of(block);
        // Formulas may speak of where bodies are in the world.
        if (formula >= 0 && std::find(bodies.begin(), bodies.end(), model_->ground()) == bodies.end())
            bodies.push_back(model_->ground());
        const int node = meeting_node(bodies);
        Meeting& meeting = found[node];
        formula >= 0 ? meeting.formulas.push_back(formula) : meeting.rows.push_back(row);
        if (formula >= 0) meeting.holds_positions.push_back(!model_->blocks[block].of_velocity);
        meeting.count += formula >= 0 ? model_->formula_rows[formula].rows() : 1;
        std::vector<int>& all = bodies_at[node];
        all.insert(all.end(), bodies.begin(), bodies.end());
        std::map<int, size_t> above;  // links, of how many of the bodies
        for (const int body : bodies)
            for (int link = body == model_->ground() ? -1 : linkage.link_of[body]; link >= 0;
                 link = linkage.links[link].parent)
                ++above[link];
        std::vector<int>& way = ways.emplace_back();
        for (const auto& [link, times] : above)
            if (times < bodies.size()) way.push_back(link);
        meeting.way.insert(meeting.way.end(), way.begin(), way.end());
        if (formula < 0 && model_->rows[row].function < 0) continue;
        for (const int link : way) gives_way[link] = 1;
    }
    // What is driven, or gives way, in a loop moves all of it.
    std::vector<std::uint8_t> leads = gives_way;
    for (const GivenMotion& motion : linkage.given) leads[motion.link] = 1;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (const std::vector<int>& way : ways) {
            if (std::none_of(way.begin(), way.end(), [&](int link) { return leads[link] != 0; })) continue;
            for (const int link : way) {
                goes_on |= leads[link] == 0;
                leads[link] = 1;
                gives_way[link] = linkage.links[link].motion.freedoms() > 0;
            }
        }
    }
    if (found.empty()) return;
    std::vector<int> node_of;
    std::vector<std::vector<int>> bodies_of;
    for (auto& [node, meeting] : found) {
        node_of.push_back(node);
        meetings_.push_back(std::move(meeting));
        bodies_of.push_back(bodies_at[node]);
    }
    add_ports(bodies_of, node_of);
    for (size_t link = 0; link < gives_way.size(); ++link)
        if (gives_way[link] != 0) giving_way_.push_back(static_cast<int>(link));
    const auto [least, most] = std::minmax_element(model_->mass.begin(), model_->mass.end());
    unevenness_ = *most / *least;
    x_.assign(static_cast<size_t>(kPose) * (model_->bodies() + 1), 0.0);
    u_ = x_;
    x_[kPose * model_->ground() + 4] = 1.0;
}

// The lowest node that all these bodies are in; the ground is in the root alone.
int Loops::meeting_node(const std::vector<int>& bodies) const {
    const std::vector<AssemblyNode>& nodes = linkage_.tree.nodes;
    int common = -1;
    for (const int body : bodies) {
        if (body == model_->ground()) return static_cast<int>(nodes.size()) - 1;
        int at = linkage_.tree.body_of[linkage_.link_of[body]];
        if (common < 0) common = at;
        while (at != common) {
            int& deeper = nodes[at].level >= nodes[common].level ? at : common;
            deeper = nodes[deeper].parent;
        }
    }
    return common;
}

// A body is a port up to the highest of its meetings.
void Loops::add_ports(const std::vector<std::vector<int>>& bodies_of, const std::vector<int>& node_of) {
    const AssemblyTree& tree = linkage_.tree;
    std::vector<int> top(linkage_.links.size(), -1);  // parts come before what is made of them
    for (size_t m = 0; m < node_of.size(); ++m)
        for (const int body : bodies_of[m])
            if (body != model_->ground())
                top[linkage_.link_of[body]] = std::max(top[linkage_.link_of[body]], node_of[m]);
    std::vector<std::vector<int>> kept(tree.nodes.size());  // links
    number_.assign(tree.nodes.size(), -1);
    for (size_t at = 0; at < tree.nodes.size(); ++at) {
        const AssemblyNode& node = tree.nodes[at];
        PortedNode ported{static_cast<int>(at), {}, 0, 0, false, {}, -1};
        for (const int part : {node.left, node.right}) {
            if (part < 0) continue;
            (part == node.left ? ported.left : ported.right) = static_cast<int>(kept[part].size());
            ported.links.insert(ported.links.end(), kept[part].begin(), kept[part].end());
        }
        if (node.kind == NodeKind::body && top[node.link] >= 0) {
            ported.own = true;
            ported.links.push_back(node.link);
        }
        if (ported.links.empty()) continue;
        for (size_t i = 0; i < ported.links.size(); ++i) {
            if (top[ported.links[i]] <= static_cast<int>(at)) continue;
            ported.kept.push_back(static_cast<int>(i));
            kept[at].push_back(ported.links[i]);
        }
        const auto met = std::find(node_of.begin(), node_of.end(), static_cast<int>(at));
        if (met != node_of.end()) ported.meeting = static_cast<int>(met - node_of.begin());
        number_[at] = static_cast<int>(nodes_.size());
        nodes_.push_back(std::move(ported));
    }
}

void Loops::begin(const AngleBranches& branches) {
    if (!empty()) branches_ = std::make_unique<AngleBranches>(branches);
}

// Near to where rows begin to depend on each other, errors of positions move what is off by little far: so such a row
// is left alone until it is off by more, which stays well below the error to which loops are closed. But pivots may be
// as small where masses are as uneven.
MeetingRows Loops::room_for(const PortedNode& node) const {
    constexpr double kDependent = 1e-7, kLeast = 1e-12;
    MeetingRows rows{};
    rows.dependent = std::max(kLeast, kDependent / unevenness_);
    rows.count = node.meeting < 0 ? 0 : meetings_[node.meeting].count;
    for (std::vector<double>* each : {&rows.C, &rows.drift, &rows.bias, &rows.sizes}) each->assign(rows.count, 0.0);
    rows.J.assign(6 * node.links.size() * rows.count, 0.0);
    rows.on_ground.assign(rows.count, {0, 0, 0});
    return rows;
}

// A row's Jacobian for a body, by the velocity v of its centre of mass in axes of the node and by its angular velocity
// in principal axes, is the load (c × f + J_ω; f) in the frame of the link, f = Rᵀ J_v, c the centre of mass; v̇ is
// there r̈ + ω̇ × c + E c.
void Loops::find(const PortedNode& node, double t, const Place* places, const Twist* twists, MeetingRows& rows) {
    const Meeting& meeting = meetings_[node.meeting];
    const int ports = static_cast<int>(node.links.size());
    for (int p = 0; p < ports; ++p) {
        const Link& link = linkage_.links[node.links[p]];
        const Place principal = places[p] * link.principal;
        store(x_.data() + kPose * link.body, principal.shift);
        store(x_.data() + kPose * link.body + 4, quaternion_from_matrix(principal.rotation));
        Twist own{{0, 0, 0}, {0, 0, 0}};
        if (twists != nullptr) own = inward(link.principal.rotation, link.principal.shift, twists[p]);
        store_twist(u_.data(), link.body, principal.rotation * own.v, own.w);
    }
    std::fill(rows.J.begin(), rows.J.end(), 0.0);
    std::fill(rows.sizes.begin(), rows.sizes.end(), 0.0);
    std::fill(rows.on_ground.begin(), rows.on_ground.end(), Vec3{0, 0, 0});
    int row = 0;
    const auto add = [&](int at, int body, double factor, const double* J) {
        const Vec3 linear = factor * load(J), angular = factor * load(J + 3);
        if (body == model_->ground()) {
            rows.on_ground[at] += linear;
            return;
        }
        const Vec3& moments = model_->principal_inertia[body];
        rows.sizes[at] += dot(linear, linear) / model_->mass[body] + angular.x * angular.x / moments.x +
                          angular.y * angular.y / moments.y + angular.z * angular.z / moments.z;
        for (int p = 0; p < ports; ++p) {
            const Link& link = linkage_.links[node.links[p]];
            if (link.body != body) continue;
            const Vec3 f = transpose_times(places[p].rotation, linear), &c = link.principal.shift;
            double* own = rows.J.data() + 6 * (static_cast<size_t>(ports) * at + p);
            put(own, six(own) + stacked(cross(c, f) + link.principal.rotation * angular, f));
            if (twists != nullptr) rows.bias[at] += dot(f, centripetal(twists[p].w, c));
            return;
        }
    };
    for (const int number : meeting.rows) {
        const Row& of = model_->rows[number];
        FunctionValue f{0.0, 0.0, 0.0};
        if (of.function >= 0) f = model_->functions[of.function](t);
        rows.C[row] = -of.constant - f.f;
        rows.drift[row] = -f.d1;
        rows.bias[row] = -f.d2;
        for (int k = of.term_begin; k < of.term_end; ++k) {
            const Term& term = model_->terms[k];
            const Coordinate& coordinate = model_->coordinates[term.coordinate];
            if (coordinate.followed()) branches_->follow(*model_, term.coordinate, x_.data());
            BodyCoordinate on_bodies;
            evaluate_coordinate(*model_, *branches_, term.coordinate, x_.data(), u_.data(), on_bodies);
            rows.C[row] += term.coefficient * on_bodies.value;
            rows.bias[row] += term.coefficient * on_bodies.bias;
            for (int side = 0; side < 2; ++side)
                add(row, model_->pairs[coordinate.pair].body[side], term.coefficient, on_bodies.J[side]);
        }
        ++row;
    }
    for (size_t index = 0; index < meeting.formulas.size(); ++index) {
        const int number = meeting.formulas[index];
        const FormulaRows& of = model_->formula_rows[number];
        for (const int coordinate : of.ends().coordinates)
            if (model_->coordinates[coordinate].followed()) branches_->follow(*model_, coordinate, x_.data());
        of.evaluate({*model_, *branches_, t, x_.data(), u_.data()}, formula_);
        for (int r = 0; r < of.rows(); ++r) {
            rows.C[row + r] = meeting.holds_positions[index] != 0 ? formula_.value[r] : 0.0;
            rows.drift[row + r] = formula_.drift[r];
            rows.bias[row + r] = formula_.bias[r];
        }
        for (const FormulaRows::Side& side : formula_.sides)
            for (int r = 0; r < of.rows(); ++r) add(row + r, side.body, 1.0, side.J[r]);
        row += of.rows();
    }
}

}  // namespace bellcrank
