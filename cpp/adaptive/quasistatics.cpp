#include "adaptive/quasistatics.hpp"

#include <algorithm>
#include <stdexcept>

#include "spatial/body_state.hpp"

namespace bellcrank {

std::vector<Obstacle> Quasistatics::obstacles(const Model& model) {
    std::vector<Obstacle> found = Linkage::obstacles(model, false);
    if (found.empty()) found = LinkageForces::obstacles(model, false);
    return found;
}

Quasistatics::Quasistatics(std::shared_ptr<const Model> model, double step, ErrorMeasure measure, bool with_totals)
    : model_(std::move(model)),
      linkage_(std::make_shared<Linkage>(*model_)),
      step_(step),
      measure_(measure),
      assembly_(linkage_, with_totals),
      descent_(assembly_),
      ranking_(*linkage_),
      forces_(*model_, *linkage_),
      q_(linkage_->coordinates, 0.0),
      recorder_(*linkage_) {
    if (const std::vector<Obstacle> found = obstacles(*model_); !found.empty())
        throw std::invalid_argument(text_of(found));
    moved_.reserve(linkage_->links.size());
    for (const Link& link : linkage_->links) unreleased_ += link.floats;
    assembly_.frames().choose(forces_.turned());
}

void Quasistatics::start(double t, const double* poses, const double* angles) {
    time_ = begin_ = t;
    steps_ = 0;
    const AngleBranches branches = starting_branches(*model_, t, poses, angles);
    linkage_->read(*model_, branches, poses, q_.data());
    for (size_t i = 0; i < linkage_->links.size(); ++i) place(static_cast<int>(i));
    assembly_.update_all_frames();
    forces_.begin(branches, poses, {});
    forces_.apply_all(t, q_.data(), nullptr, assembly_);
    assembly_.update_all(true);
    moved_.clear();
    if (assembly_.with_totals()) begin();
}

void Quasistatics::place(int number) {
    const Link& link = linkage_->links[number];
    const double* q = q_.data() + link.coordinate;
    double S[36];
    if (!link.motion.is_axial()) link.motion.subspace(q, S);
    assembly_.set_place(number, link.place(q), S);
}

void Quasistatics::begin() {
    is_exact_ = false;
    descent_.begin(-model_->gravity, measure_);
}

double Quasistatics::refine(double bound) {
    if (!is_exact_) {
        descent_.refine(bound);
        if (descent_.rounding() > bound) solve_exactly(descent_.computed());
    }
    if (is_exact_) ranking_.refine(bound);
    return choice().error();
}

void Quasistatics::solve_exactly(const std::vector<int>& computed) {
    if (exact_ == nullptr) exact_ = std::make_unique<ExactSolution>(*model_, *linkage_);
    exact_->solve(assembly_, -model_->gravity);
    ranking_.begin(exact_->rates(), exact_->roundings(), measure_, computed);
    is_exact_ = true;
}

void Quasistatics::solve() {
    is_exact_ = false;
    descent_.compute_all(-model_->gravity);
    if (descent_.has_digits()) return;
    solve_exactly({});
    ranking_.refine(0.0);
}

void Quasistatics::move() {
    moved_.clear();
    const StepFacts facts{choice().error(), 0.0, static_cast<int>(choice().computed().size()) - unreleased_};
    const double time = 0.5 * step_ * step_;
    for (const int number : choice().computed()) {
        const Link& link = linkage_->links[number];
        double* q = q_.data() + link.coordinate;
        double before[7], rates[7];
        std::copy_n(q, link.motion.coordinates(), before);
        link.motion.rates(q, choice().accelerations().data() + link.freedom, rates);
        link.motion.move(q, rates, time);
        if (std::equal(before, before + link.motion.coordinates(), q)) continue;
        moved_.push_back(number);
        place(number);
    }
    time_ = begin_ + step_ * static_cast<double>(++steps_);
    if (every_ > 0) {
        recorder_.note(moved_);
        if (steps_ % every_ == 0) recorder_.frame(time_, q_, facts);
    }
    const bool everything = !assembly_.with_totals();
    everything ? assembly_.update_all_frames() : assembly_.update_frames();
    forces_.apply(time_, q_.data(), nullptr, moved_, assembly_);
    everything ? assembly_.update_all() : assembly_.update();
    if (everything) return;
    if (assembly_.updated() > 0) begin();
}

bool Quasistatics::advance(double bound) {
    if (assembly_.with_totals())
        refine(bound);
    else
        solve();
    if (is_exact_ && exact_->leaves_open()) return false;
    const double error = choice().error();
    move();
    if (!moved_.empty()) largest_error_ = std::max(largest_error_, error);
    return true;
}

void Quasistatics::record_every(int steps) {
    every_ = steps;
    recorder_.note_all();
    recorder_.frame(time_, q_, {});
}

Place Quasistatics::pose(int body) const {
    const int link = linkage_->link_of[body];
    return assembly_.frames().pose(link) * linkage_->links[link].principal;
}

}  // namespace bellcrank
