#include "formulations/recursive/links.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "spatial/inertia.hpp"
#include "spatial/rotation.hpp"

namespace bellcrank::recursive {

namespace {

// A rotation whose z axis is a unit vector; exact where that is one of the coordinate axes.
Mat3 frame_along(const Vec3& z) {
    const double part[3] = {std::abs(z.x), std::abs(z.y), std::abs(z.z)};
    const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto most = static_cast<int>(std::max_element(part, part + 3) - part);
    const Vec3 side = axes[(most + 1) % 3];
    const Vec3 x = (1.0 / norm(side - dot(side, z) * z)) * (side - dot(side, z) * z), y = cross(z, x);
    return {{x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z}};
}

// Walks along the joints: `at` is the frame reached, in the frame of link `link`.
class Builder {
  public:
    Builder(const Model& model, LinkTree& tree) : model_(model), tree_(tree) {
        tree_.bodies.resize(model.bodies() + 1);
    }

    void add(const TreeJoint& joint) {
        tree_.joints.push_back({});
        map().joint = joint;
        map().rows = joint.rows;
        const BodyPlace& parent = tree_.bodies[joint.parent];
        link_ = parent.link;
        at_ = parent.at * joint.before;
        if (const Chain* chain = chain_of(joint))
            take(joint, *chain);
        else
            for (const JointStep& step : joint.steps()) take(joint, step);
        const Place behind = at_ * inverse(joint.behind);
        tree_.bodies[joint.child] = {{link_, behind}, quaternion_from_matrix(behind.rotation)};
        add_mass(joint.child);
    }

  private:
    JointMap& map() { return tree_.joints.back(); }

    const Chain* chain_of(const TreeJoint& joint) const {
        if (joint.formula < 0) return nullptr;
        const Chain& chain = model_.data().formulas.joints[joint.formula].chain;
        return chain.lines.empty() ? nullptr : &chain;
    }

    // Turns and slides, one link each:  exp(ξ q) = P Z(q) P⁻¹,  P a frame with z along the line.
    void take(const TreeJoint& joint, const Chain& chain) {
        const Place last{chain.rotation, chain.position};
        map().own.assign(chain.lines.size(), -1);
        map().own_speed = map().own;
        std::vector<ChainLine> lines = chain.lines;
        if (joint.reversed) {
            std::ranges::reverse(lines);
            at_ = at_ * inverse(last);
        }
        for (const ChainLine& line : lines) {
            const Vec3 axis = joint.reversed ? -line.axis : line.axis;
            const Place frame{frame_along(axis), line.point};
            Link made;
            made.motion = line.turns ? Motion::turn : Motion::slide;
            made.at = at_ * frame;
            at_ = inverse(frame);
            map().own[line.coordinate] = tree_.coordinates;
            map().own_speed[line.coordinate] = tree_.speeds;
            append(made, 1, 1);
        }
        if (!joint.reversed) at_ = at_ * last;
    }

    void append(Link& made, int coordinates, int speeds) {
        made.parent = link_;
        made.joint = static_cast<int>(tree_.joints.size()) - 1;
        made.x = tree_.coordinates;
        made.u = tree_.speeds;
        made.speeds = speeds;
        tree_.coordinates += coordinates;
        tree_.speeds += speeds;
        link_ = static_cast<int>(tree_.links.size());
        tree_.links.push_back(made);
    }

    void take(const TreeJoint& joint, const JointStep& step) {
        const auto [coordinates, speeds] = sizes(joint, step.motion);
        Link made;
        made.motion = step.motion;
        made.held = step.axis;
        made.formula = joint.formula;
        made.reversed = joint.reversed;
        made.at = at_;
        at_ = {};
        if (step.motion == Motion::turn || step.motion == Motion::slide || step.motion == Motion::screw) {
            Mat3 axis = z_to_axis(step.axis);
            if (joint.reversed) axis = axis * Mat3{{1, 0, 0, 0, -1, 0, 0, 0, -1}};
            made.at.rotation = made.at.rotation * axis;
            at_.rotation = transpose(axis);
        }
        if (step.motion == Motion::screw) {
            made.lead = joint.advance;
            made.at.shift += made.at.rotation * Vec3{0, 0, joint.start};
        }
        const int own = step.motion == Motion::general ? coordinates : 1;
        for (int i = 0; i < own; ++i) enter(step, tree_.coordinates + i, tree_.speeds + i, map());
        append(made, coordinates, speeds);
    }

    std::pair<int, int> sizes(const TreeJoint& joint, Motion motion) const {
        switch (motion) {
            case Motion::ball:
                return {4, 3};
            case Motion::free:
                return {7, 6};
            case Motion::swing:
                return {4, 2};
            case Motion::general: {
                const int count = model_.formula_joints[joint.formula].joint.coordinates();
                return {count, count};
            }
            default:
                return {1, 1};
        }
    }

    void add_mass(int body) {
        const BodyPlace& place = tree_.bodies[body];
        if (place.link < 0) return;
        Link& link = tree_.links[place.link];
        const Articulated I = rigid_inertia(model_.mass[body], model_.principal_inertia[body], place.at);
        link.mass += model_.mass[body];
        link.moment += model_.mass[body] * place.at.shift;
        for (int k = 0; k < 6; ++k) link.second[k] += I.A.m[k];
    }

    const Model& model_;
    LinkTree& tree_;
    int link_ = -1;
    Place at_;
};

// Rows that say of one turn or slide how it moves, and rotors that turn with one, need no multiplier.
void take_drives_and_rotors(const Model& model, const JointTree& joints, LinkTree& tree) {
    const auto moved = [&](int row) {
        const Row& r = model.rows[row];
        return r.term_end == r.term_begin + 1 ? tree.link_of[model.terms[r.term_begin].coordinate] : -1;
    };
    for (const int row : joints.closing_rows) {
        const int i = moved(row);
        const Row& r = model.rows[row];
        if (i < 0 || tree.links[i].given >= 0 || model.terms[r.term_begin].coefficient == 0.0) {
            tree.closing_rows.push_back(row);
            continue;
        }
        tree.links[i].given = static_cast<int>(tree.drives.size());
        tree.drives.push_back({row, i, r.function, model.terms[r.term_begin].coefficient, r.constant});
        tree.joints[tree.links[i].joint].rows.push_back(row);
    }
    for (const int b : joints.inertances)
        for (int row = model.blocks[b].row_begin; row < model.blocks[b].row_end; ++row) {
            const Row& r = model.rows[row];
            const bool single = r.term_end == r.term_begin + 1;
            if (!single || tree.speed_of[model.terms[r.term_begin].coordinate].first < 0) {
                tree.closing_rows.push_back(row);
                continue;
            }
            const Term& term = model.terms[r.term_begin];
            const auto [i, speed] = tree.speed_of[term.coordinate];
            tree.links[i].rotor[speed - tree.links[i].u] +=
                term.coefficient * term.coefficient / model.blocks[b].compliance;
            tree.rotors.push_back({row, speed, term.coefficient, model.blocks[b].compliance});
        }
    tree.stops = joints.stops.size();
    tree.closing_rows.insert(tree.closing_rows.end(), joints.stops.begin(), joints.stops.end());
}

// Ratios from which a body is light beside what it carries; inertias go with the square of lengths too.
constexpr double kMass = 1e4, kInertia = 1e5;

// The least moment of inertia about the com.
double least_inertia(const Link& link) {
    const Vec3& h = link.moment;
    const std::array<double, 6>& J = link.second;
    const double w = 1.0 / link.mass;
    Eigen::Matrix3d I;
    I << J[0] - w * (h.y * h.y + h.z * h.z), J[3] + w * h.x * h.y, J[4] + w * h.x * h.z,  //
        J[3] + w * h.x * h.y, J[1] - w * (h.x * h.x + h.z * h.z), J[5] + w * h.y * h.z,   //
        J[4] + w * h.x * h.z, J[5] + w * h.y * h.z, J[2] - w * (h.x * h.x + h.y * h.y);
    return Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues()[0];
}

}  // namespace

std::vector<std::string> refusals(const Model& model) {
    if (model.bodies() == 0) return {"there is no body"};
    return {};
}

LinkTree make_links(const Model& model, const JointTree& joints) {
    LinkTree tree;
    Builder builder(model, tree);
    for (const TreeJoint& joint : joints.joints) builder.add(joint);
    const std::vector<int> same = model_coordinates(model, tree.joints, tree.coordinates);
    tree.link_of.assign(model.coordinates.size(), -1);
    tree.speed_of.assign(model.coordinates.size(), {-1, -1});
    for (size_t i = 0; i < tree.links.size(); ++i) {
        const Link& link = tree.links[i];
        const bool single = link.motion == Motion::turn || link.motion == Motion::slide;
        if (single && same[link.x] >= 0) tree.link_of[same[link.x]] = static_cast<int>(i);
        for (int k = 0; k < link.speeds && (single || link.motion == Motion::general); ++k)
            if (same[link.x + k] >= 0) tree.speed_of[same[link.x + k]] = {static_cast<int>(i), link.u + k};
    }
    take_drives_and_rotors(model, joints, tree);
    return tree;
}

bool carries_heavier(const LinkTree& tree) {
    const size_t n = tree.links.size();
    std::vector<double> mass(n, 0.0), turning(n, 0.0);  // largest of what hangs on a link, the link included
    for (size_t i = n; i-- > 0;) {
        const Link& link = tree.links[i];
        // A joint of several elementary freedoms: links without mass before that of the body.
        int freedoms = link.speeds;
        for (int p = link.parent; p >= 0 && tree.links[p].mass == 0.0; p = tree.links[p].parent)
            freedoms += tree.links[p].speeds;
        if (link.mass > 0.0 && freedoms > 1) {
            if (mass[i] > kMass * link.mass || turning[i] > kInertia * least_inertia(link)) return true;
        }
        mass[i] = std::max(mass[i], link.mass);
        turning[i] = std::max(turning[i], link.second[0] + link.second[1] + link.second[2]);
        if (link.parent < 0) continue;
        const Vec3& r = link.at.shift;
        mass[link.parent] = std::max(mass[link.parent], mass[i]);
        turning[link.parent] = std::max({turning[link.parent], turning[i], mass[i] * dot(r, r)});
    }
    return false;
}

}  // namespace bellcrank::recursive
