// The terminal event that ends a run, along directions and backwards: g(t, state) = 0 is met δt = −δg / ġ later.
#include "integrate/run_tangent.hpp"
#include "model/model.hpp"
#include "tangents/frame_motion.hpp"

namespace bellcrank {

// What the function of a terminal event reads, as what is watched.
void RunTangent::read_ending() {
    const Tape::Ending& end = *tape_.ending();
    const int bodies = model_.bodies();
    const FrameLayout layout(FrameCounts::of(end.measured, bodies));
    const auto at = [&](Section section) { return layout.begin(section); };
    for (const int place : end.event.inputs) {
        const auto of_body = [&](Section section, int first) {
            const int k = place - at(section);
            return Ending::Input{false, {Watched::What::frame, kFrameNumbers * (k / 3) + first + k % 3}};
        };
        const auto of_coordinate = [&](Section section, Watched::What what) {
            return Ending::Input{false, {what, end.measured.coordinates[place - at(section)]}};
        };
        if (place < 0)
            ending_.inputs.push_back({true, {}});
        else if (place < at(Section::rotation))
            ending_.inputs.push_back(of_body(Section::position, 0));
        else if (place < at(Section::velocity))
            throw Refusal("derivatives of runs that end by a quaternion are not implemented");
        else if (place < at(Section::angular_velocity))
            ending_.inputs.push_back(of_body(Section::velocity, 3));
        else if (place < at(Section::coordinates))
            ending_.inputs.push_back(of_body(Section::angular_velocity, 9));
        else if (place < at(Section::rates))
            ending_.inputs.push_back(of_coordinate(Section::coordinates, Watched::What::value));
        else
            ending_.inputs.push_back(of_coordinate(Section::rates, Watched::What::rate));
        measured_.of_frames |= !ending_.inputs.back().is_time && ending_.inputs.back().of.what == Watched::What::frame;
    }
}

// The derivatives of its function g at the last station: by what it reads, and ġ.
void RunTangent::find_ending() {
    const Tape::Ending& end = *tape_.ending();
    const int last = tape_.count() - 1;
    const double t = tape_[last].t, *x = tape_.x(last), *u = tape_.u(last);
    std::vector<double> values(ports_.record.observation_size(end.measured));
    ports_.record.measure(t, x, u, end.measured, values.data());
    std::vector<Dual4> in;
    for (const int place : end.event.inputs) in.push_back(place < 0 ? t : values[place]);
    ending_.by_inputs.assign(in.size(), 0.0);
    for (size_t from = 0; from < in.size(); from += kDirections) {
        const size_t count = std::min<size_t>(kDirections, in.size() - from);
        for (size_t k = 0; k < count; ++k) in[from + k].d[k] = 1.0;
        const Dual4 g = end.event.program->tangent(in)[0];
        for (size_t k = 0; k < count; ++k) {
            ending_.by_inputs[from + k] = g.d[k];
            in[from + k].d[k] = 0.0;
        }
    }
    const size_t n = udot_.size();
    std::vector<double> along_x(kDirections * n, 0.0), along_u(along_x);
    for (size_t j = 0; j < n; ++j) along_x[kDirections * j] = u[j], along_u[kDirections * j] = udot_[j];
    const double along_t[kDirections] = {1.0};
    ports_.derivatives.measure_tangent(t, x, u, udot_.data(), {along_t, along_x.data(), along_u.data(), nullptr},
                                       nullptr, measured_);
    ending_.rate = 0.0;
    for (size_t i = 0; i < in.size(); ++i)
        ending_.rate += ending_.by_inputs[i] * (ending_.inputs[i].is_time ? 1.0 : changed(ending_.inputs[i].of, 0));
}

// Of what was measured, along a direction.
double RunTangent::changed(const Watched& of, int direction) {
    return list_of(of.what, loads_)[kDirections * of.number + direction];
}

// The run ends later by δt = −δg / ġ, with the state that it has then.
void RunTangent::reach_ending(Lanes& lanes) {
    const int last = tape_.count() - 1;
    const double *x = tape_.x(last), *u = tape_.u(last);
    ports_.derivatives.measure_tangent(tape_[last].t, x, u, udot_.data(), of(lanes, lanes.x, lanes.u), nullptr,
                                       measured_);
    for (int k = 0; k < kDirections; ++k) {
        double change = 0.0;
        for (size_t i = 0; i < ending_.inputs.size(); ++i)
            if (!ending_.inputs[i].is_time) change += ending_.by_inputs[i] * changed(ending_.inputs[i].of, k);
        lanes.t[k] = -change / ending_.rate;
        for (size_t j = 0; j < udot_.size(); ++j) {
            lanes.x[kDirections * j + k] += u[j] * lanes.t[k];
            lanes.u[kDirections * j + k] += udot_[j] * lanes.t[k];
        }
    }
}

// The transpose of reach_ending().
void RunTangent::leave_ending() {
    const int last = tape_.count() - 1;
    const double *x = tape_.x(last), *u = tape_.u(last);
    const double seed = -(by_t_ + dot(by_x_, u) + dot(by_u_, udot_.data())) / ending_.rate;
    for (std::vector<double>& list : measured_.coordinates) list.assign(model_.coordinates.size(), 0.0);
    measured_.rows.clear();
    measured_.frames.assign(measured_.of_frames ? kFrameNumbers * model_.bodies() : 0, 0.0);
    for (size_t i = 0; i < ending_.inputs.size(); ++i)
        if (const Watched& of = ending_.inputs[i].of; !ending_.inputs[i].is_time)
            list_of(of.what, loads_)[of.number] += seed * ending_.by_inputs[i];
    ports_.derivatives.measure_adjoint(tape_[last].t, x, u, udot_.data(), measured_, further_, found_, by_numbers_);
    add(by_x_, found_.x), add(by_u_, found_.u);
}

}  // namespace bellcrank
