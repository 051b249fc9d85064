#include "adaptive/moves.hpp"

#include <stdexcept>
#include <utility>

namespace bellcrank {

void MoveRecorder::note(const std::vector<int>& moved) {
    for (const int link : moved) {
        if (last_[link] == frame_) continue;
        last_[link] = frame_;
        pending_.push_back(link);
    }
}

void MoveRecorder::note_all() {
    for (size_t link = 0; link < last_.size(); ++link) note({static_cast<int>(link)});
}

void MoveRecorder::frame(double time, const std::vector<double>& coordinates, const StepFacts& step) {
    for (const int number : pending_) {
        const Link& link = linkage_.links[number];
        record_.body.push_back(link.body);
        const double* q = coordinates.data() + link.coordinate;
        record_.value.insert(record_.value.end(), q, q + link.motion.coordinates());
    }
    pending_.clear();
    record_.time.push_back(time);
    record_.rows.push_back(static_cast<std::int64_t>(record_.body.size()));
    record_.values.push_back(static_cast<std::int64_t>(record_.value.size()));
    record_.error.push_back(step.error);
    record_.lost.push_back(step.lost);
    record_.free.push_back(step.free);
    record_.kinetic.push_back(step.kinetic);
    record_.potential.push_back(step.potential);
    record_.work.push_back(step.work);
    ++frame_;
}

MoveRecord MoveRecorder::take() { return std::exchange(record_, MoveRecord{}); }

MoveReplay::MoveReplay(const Model& model)
    : linkage_(model, TreeShape::balanced, true), frames_(linkage_.tree), marks_(linkage_.tree) {}

void MoveReplay::apply(const int* bodies, size_t rows, const double* values, size_t count) {
    size_t used = 0;
    for (size_t i = 0; i < rows; ++i) {
        if (bodies[i] < 0 || bodies[i] >= static_cast<int>(linkage_.links.size()))
            throw std::invalid_argument("there is no body " + std::to_string(bodies[i]));
        const int number = linkage_.link_of[bodies[i]];
        const Link& link = linkage_.links[number];
        if (used + link.motion.coordinates() > count) throw std::invalid_argument("there are too few values");
        frames_.place(number) = link.place(values + used);
        used += link.motion.coordinates();
        marks_.mark(linkage_.tree.joint_of[number], 1);
    }
    if (used != count) throw std::invalid_argument("there are too many values");
}

Place MoveReplay::pose(int body) {
    const auto update = [this](int node, std::uint8_t) {
        if (linkage_.tree.nodes[node].kind == NodeKind::join) frames_.update(linkage_.tree.nodes[node]);
    };
    marks_.sweep(update);
    const int link = linkage_.link_of[body];
    return frames_.pose(link) * linkage_.links[link].principal;
}

std::vector<int> MoveReplay::widths() const {
    std::vector<int> out(linkage_.links.size());
    for (const Link& link : linkage_.links) out[link.body] = link.motion.coordinates();
    return out;
}

std::vector<int> MoveReplay::blocks() const {
    std::vector<int> out(linkage_.links.size());
    for (const Link& link : linkage_.links) out[link.body] = link.motion.joint().block;
    return out;
}

}  // namespace bellcrank
