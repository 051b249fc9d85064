#include "formulations/recursive.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "formulations/recursive/cuts.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

using recursive::Drive;
using recursive::Load;
using recursive::RowEnd;

namespace {

std::shared_ptr<const Model> accepted(std::shared_ptr<const Model> model) {
    std::string reasons;
    for (const std::string& reason : recursive::refusals(*model)) reasons += (reasons.empty() ? "" : "; ") + reason;
    if (!reasons.empty()) throw std::invalid_argument(reasons);
    return model;
}

int block_of(const Model& model, int row) {
    const auto at = std::upper_bound(model.blocks.begin(), model.blocks.end(), row,
                                     [](int r, const Block& b) { return r < b.row_begin; });
    return static_cast<int>(at - model.blocks.begin()) - 1;
}

// A locked quaternion component turns half as fast as its angle, so its multiplier is twice a moment.
double row_weight(const Model& model, const Row& row) {
    if (row.term_begin == row.term_end) return 1.0;
    const std::string& name = model.coordinates[model.terms[row.term_begin].coordinate].kind->name;
    return name.size() == 2 && name[0] == 'e' ? 0.5 : 1.0;
}

}  // namespace

RowOrder Recursive::closing_order(const Model& model, const recursive::LinkTree& tree) {
    std::set<int> blocks;
    for (const int row : tree.closing_rows) blocks.insert(block_of(model, row));
    RowOrder order{{blocks.begin(), blocks.end()}, {}, {}, 1};
    order.evaluated.assign(blocks.size(), 0);
    order.solved.assign(blocks.size(), 0);
    return order;
}

// Every link that a closing row acts on, once; formulas of constraints may speak of the ground.
std::vector<RowEnd> Recursive::row_ends() const {
    std::vector<RowEnd> ends;
    for (size_t i = 0; i < tree_.closing_rows.size(); ++i) {
        const int block = block_of(*model_, tree_.closing_rows[i]);
        std::set<int> links;
        for (const int body : model_->bodies_of(block)) links.insert(tree_.bodies[body].link);
        if (model_->formula_of_block[block] >= 0) links.insert(-1);
        for (const int link : links) ends.push_back({static_cast<int>(i), link, {}});
    }
    return ends;
}

Recursive::Recursive(std::shared_ptr<const Model> model, const RecursiveOptions& options)
    : model_(accepted(std::move(model))),
      options_(options),
      tree_(recursive::make_links(*model_, recursive::cut_tree(*model_))),
      kinematics_(*model_, tree_),
      branches_(*model_),
      closing_(*model_, branches_, closing_order(*model_, tree_)),
      rows_(*model_, branches_),
      recursion_(tree_, static_cast<int>(tree_.closing_rows.size()), row_ends()) {
    const int m = recursion_.rows();
    if (recursive::TreePass::takes(*model_, tree_)) pass_ = std::make_unique<recursive::TreePass>(*model_, tree_);
    trusted_pivot_ = options_.rank_tolerance;
    for (auto* v : {&compliance_, &natural_, &targets_, &errors_, &lambda_}) v->assign(m, 0.0);
    given_.assign(tree_.drives.size(), 0.0);
    step_.assign(tangent_size(), 0.0);
    udot_.assign(tangent_size(), 0.0);
    observed_.assign(tangent_size(), 0.0);
    for (size_t r = 0; r < model_->rows.size(); ++r) block_of_row_.push_back(block_of(*model_, static_cast<int>(r)));
    std::set<int> free_blocks;
    for (const int row : tree_.closing_rows) free_blocks.insert(block_of_row_[row]);
    for (const recursive::Rotor& rotor : tree_.rotors) free_blocks.insert(block_of_row_[rotor.row]);
    free_blocks_.assign(free_blocks.begin(), free_blocks.end());
    loads_.resize(tree_.links.size());
    link_accelerations_.resize(tree_.links.size());
    for (auto* v : {&poses_, &twists_, &rates_, &force_}) v->assign(kPose * (model_->bodies() + 1), 0.0);
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3& I = model_->principal_inertia[b];
        const double m = model_->mass[b];
        for (const double entry : {m, m, m, I.x, I.y, I.z}) root_mass_.push_back(std::sqrt(entry));
    }
    last_rotation_.assign(model_->bodies(), {1, 0, 0, 0});
    row_lambda_.assign(model_->rows.size(), 0.0);
    for (const Row& row : model_->rows) weight_.push_back(row_weight(*model_, row));
    layout_of_.assign(model_->blocks.size(), -1);
    for (size_t i = 0; i < rows_.blocks().size(); ++i) layout_of_[rows_.blocks()[i].block] = static_cast<int>(i);

    std::map<std::pair<int, int>, int> end_of;
    for (size_t e = 0; e < recursion_.ends().size(); ++e)
        end_of[{recursion_.ends()[e].row, recursion_.ends()[e].link}] = static_cast<int>(e);
    std::map<int, size_t> layout;
    for (size_t i = 0; i < closing_.blocks().size(); ++i) layout[closing_.blocks()[i].block] = i;
    for (int i = 0; i < m; ++i) {
        const int block = block_of(*model_, tree_.closing_rows[i]);
        const BlockLayout& b = closing_.blocks()[layout[block]];
        const int in_block = tree_.closing_rows[i] - model_->blocks[block].row_begin;
        compliance_[i] = model_->blocks[block].compliance;
        storage_.push_back(b.row + in_block);
        for (int s = b.side_begin; s < b.side_end; ++s) {
            const int link = tree_.bodies[closing_.sides(b)[s - b.side_begin].body].link;
            entries_.push_back({s, in_block, end_of.at({i, link}), i});
        }
    }
    for (const BlockLayout& b : closing_.blocks())
        for (const BlockSide& side : closing_.sides(b)) sides_.push_back(side);

    turns_.assign(tree_.coordinates, -1);
    std::vector<bool> own(model_->coordinates.size(), false);
    for (int i = 0; i < tree_.coordinates; ++i) {
        const int c = tree_.coordinate_of[i];
        if (c < 0) continue;
        own[c] = true;
        if (model_->coordinates[c].kind->angular) turns_[i] = c;
        if (model_->coordinates[c].of_formula()) formula_coordinates_.emplace_back(i, c);
    }
    for (size_t c = 0; c < own.size(); ++c)
        has_other_angles_ = has_other_angles_ || (!own[c] && model_->coordinates[c].followed());
    for (const recursive::JointMap& map : tree_.joints)
        if (map.ball >= 0) {
            balls_.push_back(map.ball);
            ball_speeds_.push_back(map.ball_speed);
        }
}

// Ends of the closing rows at the configuration of poses_: loads per unit of the multiplier.
void Recursive::load_jacobians(double t) {
    closing_.evaluate_jacobians(t, poses_.data());
    for (RowEnd& end : recursion_.ends()) end.load = {{0, 0, 0}, {0, 0, 0}};
    std::fill(natural_.begin(), natural_.end(), 0.0);
    for (const Entry& e : entries_) {
        const BlockSide& side = sides_[e.side];
        if (side.body == model_->ground()) continue;
        double row[6];
        side.rows.read(closing_.J.data(), e.row_in_block, row);
        for (int k = 0; k < 6; ++k) {
            natural_[e.row] += row[k] * row[k];
            row[k] *= root_of_mass(side.body, k);
        }
        const recursive::BodyPlace& place = tree_.bodies[side.body];
        if (place.link < 0) continue;
        const Vec3 f = transpose_times(kinematics_.world[place.link], Vec3{row[0], row[1], row[2]});
        recursion_.ends()[e.end].load +=
            Load{place.at.rotation * Vec3{row[3], row[4], row[5]} + cross(place.at.shift, f), f};
    }
}

// γ = Qc less what velocities alone make of J u̇.
void Recursive::load_targets(double t) {
    closing_.evaluate_biases(t, poses_.data(), twists_.data());
    for (size_t i = 0; i < targets_.size(); ++i) targets_[i] = closing_.Qc[storage_[i]];
    for (const Entry& e : entries_) {
        const BlockSide& side = sides_[e.side];
        if (side.body == model_->ground()) continue;
        double row[6];
        side.rows.read(closing_.J.data(), e.row_in_block, row);
        const Vec3 a = kinematics_.centripetal(side.body);
        targets_[e.row] -= root_of_mass(side.body, 0) * (row[0] * a.x + row[1] * a.y + row[2] * a.z);
    }
}

void Recursive::factor() {
    recursion_.factor(kinematics_, compliance_.data(), natural_.data(), trusted_pivot_);
    ++statistics_.factorizations;
    statistics_.dropped_rows =
        static_cast<int>(std::count(recursion_.dropped().begin(), recursion_.dropped().end(), std::uint8_t{1}));
    statistics_.smallest_pivot = recursion_.smallest_pivot();
}

void Recursive::accelerate(double t, const double* x, const double* u, double* udot) {
    ++statistics_.evaluations;
    if (pass_ != nullptr) return pass_->accelerate(t, x, u, udot);
    to_records(t, x, u, poses_.data(), twists_.data());
    applied_forces(*model_, branches_, t, poses_.data(), twists_.data(), force_.data());
    for (int b = 0; b < model_->bodies(); ++b) {
        const Vec3 a = model_->mass[b] * kinematics_.centripetal(b);
        double* f = force_.data() + kTwist * b;
        f[0] -= a.x, f[1] -= a.y, f[2] -= a.z;
    }
    std::fill(loads_.begin(), loads_.end(), Load{{0, 0, 0}, {0, 0, 0}});
    kinematics_.add_loads(force_.data(), 1.0, loads_.data());
    for (size_t i = 0; i < given_.size(); ++i) {
        const Drive& drive = tree_.drives[i];
        given_[i] = drive.function < 0 ? 0.0 : model_->functions[drive.function](t).d2 / drive.factor;
    }
    if (!is_open()) {
        load_jacobians(t);
        load_targets(t);
    }
    factor();
    recursion_.solve(kinematics_, {loads_.data(), nullptr, kinematics_.bias.data(), given_.data(), targets_.data()},
                     udot, lambda_.data());
}

void Recursive::accelerate_batch(double t, int states, const double* x, const double* u, double* udot) {
    const int nx = configuration_size(), nu = tangent_size();
    int s = 0;
    if (pass_ != nullptr) {
        batch_.resize(nx + 2 * nu);
        Lane *lx = batch_.data(), *lu = lx + nx, *la = lu + nu;
        for (; s < states; s += kLanes) {
            const auto at = [&](int l) { return std::min(s + l, states - 1); };  // the last state fills up
            for (int l = 0; l < kLanes; ++l) {
                for (int i = 0; i < nx; ++i) lane_set(lx[i], l, x[static_cast<size_t>(nx) * at(l) + i]);
                for (int i = 0; i < nu; ++i) lane_set(lu[i], l, u[static_cast<size_t>(nu) * at(l) + i]);
            }
            pass_->accelerate(t, lx, lu, la);
            for (int l = 0; l < kLanes && s + l < states; ++l)
                for (int i = 0; i < nu; ++i) udot[static_cast<size_t>(nu) * (s + l) + i] = lane_get(la[i], l);
        }
        statistics_.evaluations += states;
        return;
    }
    for (; s < states; ++s)
        accelerate(t, x + static_cast<size_t>(nx) * s, u + static_cast<size_t>(nu) * s,
                   udot + static_cast<size_t>(nu) * s);
}

std::vector<int> Recursive::dropped_rows() const {
    std::vector<int> out;
    for (size_t i = 0; i < recursion_.dropped().size(); ++i)
        if (recursion_.dropped()[i]) out.push_back(tree_.closing_rows[i]);
    return out;
}

std::vector<int> Recursive::open_rows() const {
    std::vector<int> out;
    for (size_t i = 0; i < tree_.links.size(); ++i) out.push_back(recursion_.open_at(static_cast<int>(i)));
    return out;
}

}  // namespace bellcrank
