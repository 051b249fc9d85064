// What is recorded of a state, where it stands in a frame, and what recorded efforts are on the bodies.
#include "model/observation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bindings.hpp"
#include "model/branches.hpp"
#include "model/exerted.hpp"
#include "spatial/body_state.hpp"
#include "state_of.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using DoubleArray = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Entries = std::vector<std::tuple<std::string, int, int>>;
using EffortOf = Observation::Effort::Of;

constexpr const char* kKinds[] = {"law", "wrench", "formula", "contact", "block"};  // as Of of accounts, and of efforts

// Efforts or accounts.
template <class Entry>
std::vector<Entry> entries_of(const Entries& given) {
    constexpr bool efforts = std::is_same_v<Entry, Observation::Effort>;
    const auto end = std::end(kKinds) - (efforts ? 1 : 0);
    std::vector<Entry> out;
    for (const auto& [of, number, place] : given) {
        const auto kind = std::find(std::begin(kKinds), end, of);
        if (kind == end)
            throw std::invalid_argument(efforts ? "efforts: of law, wrench, formula or contact"
                                                : "accounts: of law, wrench, formula, contact or block");
        out.push_back({static_cast<typename Entry::Of>(kind - std::begin(kKinds)), number, place});
    }
    return out;
}

void check_efforts(const Model& model, const std::vector<Observation::Effort>& efforts) {
    for (const Observation::Effort& e : efforts) {
        size_t count = model.laws.size(), components = 1;
        if (e.of == EffortOf::wrench) count = model.wrenches.size(), components = 6;
        if (e.of == EffortOf::formula) count = model.formula_forces.size();
        if (e.of == EffortOf::contact) count = model.contacts.groups.size();
        const auto number = static_cast<size_t>(e.number), component = static_cast<size_t>(e.component);
        if (number < count && e.of == EffortOf::formula) {
            const FormulaEnds& ends = model.formula_forces[number].ends();
            components = 6 * ends.markers.size() + ends.coordinates.size();
        }
        if (number < count && e.of == EffortOf::contact) components = 6 * model.contacts.groups[number].bodies.size();
        if (number >= count || component >= components)
            throw std::invalid_argument("efforts: the model has no such law, wrench, formula or component");
    }
}

nb::list frame_sections(const FrameCounts& counts) {
    const FrameLayout layout(counts);
    nb::list out;
    for (int k = 0; k < kSections; ++k) {
        const auto section = static_cast<Section>(k);
        const FrameLayout::Shape s = FrameLayout::shape(section, counts);
        if (!s.recorded) continue;
        const nb::tuple shape = s.count < 0    ? nb::make_tuple()
                                : s.width == 1 ? nb::make_tuple(s.count)
                                               : nb::make_tuple(s.count, s.width);
        out.append(nb::make_tuple(s.name, layout.begin(section), shape));
    }
    return out;
}

// Efforts of forces, and multipliers of rows, in the order in which they are given.
class ExertedEfforts {
  public:
    ExertedEfforts(const Model& model, const Entries& given) : model_(model) {
        Entries forces;
        for (const auto& entry : given) {
            const bool of_row = std::get<0>(entry) == "row";
            const int row = std::get<1>(entry);
            if (of_row && (row < 0 || row >= static_cast<int>(model.rows.size())))
                throw std::invalid_argument("efforts: the model has no such row");
            rows_.push_back(of_row ? row : -1);
            if (!of_row) forces.push_back(entry);
        }
        const auto found = entries_of<Observation::Effort>(forces);
        check_efforts(model, found);
        auto next = found.begin();
        for (const int row : rows_) efforts_.push_back(row >= 0 ? Observation::Effort{} : *next++);
    }

    size_t count() const { return rows_.size(); }
    const std::vector<EffortSide>& sides(const Scenery& at, size_t which) {
        sides_.clear();
        if (rows_[which] >= 0)
            append_sides(at, rows_[which], room_, sides_);
        else
            append_sides(at, efforts_[which], sides_);
        return sides_;
    }

  private:
    const Model& model_;
    std::vector<int> rows_;  // −1: an effort
    std::vector<Observation::Effort> efforts_;
    FormulaRows::Values room_;
    std::vector<EffortSide> sides_;
};

// The states of some bodies of a model, frame by frame.
class FramesOfBodies {
  public:
    FramesOfBodies(const Model& model, const std::vector<int>& bodies, const std::array<DoubleArray, 4>& motion,
                   const DoubleArray& time, const std::vector<int>& followed, const DoubleArray& values)
        : model_(model),
          bodies_(bodies),
          motion_(motion),
          time_(time),
          followed_(followed),
          values_(values),
          branches_(model),
          x_(kPose * (model.bodies() + 1), 0.0),
          u_(x_.size(), 0.0) {
        bool fits = values.size() == frames() * followed.size();
        for (int k = 0; k < 4; ++k) fits = fits && motion[k].size() == frames() * bodies.size() * kWidth[k];
        for (const int body : bodies) fits = fits && body >= 0 && body < model.bodies();
        for (const int c : followed) fits = fits && c >= 0 && c < static_cast<int>(model.coordinates.size());
        if (!fits) throw std::invalid_argument("exerted: the arrays do not fit each other");
        put_ground(model, x_.data(), u_.data());
    }

    size_t frames() const { return time_.size(); }
    Scenery at(size_t f) {
        const auto of = [&](int k, size_t i) { return motion_[k].data() + kWidth[k] * (f * bodies_.size() + i); };
        for (size_t i = 0; i < bodies_.size(); ++i)
            put_body(model_, bodies_[i], of(0, i), of(1, i), of(2, i), of(3, i), x_.data(), u_.data());
        for (size_t k = 0; k < followed_.size(); ++k)
            branches_.set(followed_[k], values_.data()[f * followed_.size() + k]);
        return {model_, branches_, time_.data()[f], x_.data(), u_.data()};
    }

  private:
    static constexpr size_t kWidth[4] = {3, 4, 3, 3};
    const Model& model_;
    const std::vector<int>& bodies_;
    const std::array<DoubleArray, 4>& motion_;
    const DoubleArray& time_;
    const std::vector<int>& followed_;
    const DoubleArray& values_;
    AngleBranches branches_;
    std::vector<double> x_, u_;
};

using Sides = std::vector<std::tuple<int, int, std::array<double, 3>>>;

// Of all efforts, each with the number of its effort, its body and the place there.
Sides exerted_sides(const Model& model, const Entries& given) {
    ExertedEfforts efforts(model, given);
    std::vector<double> x(kPose * (model.bodies() + 1), 0.0), u(x.size(), 0.0);
    for (int b = 0; b <= model.bodies(); ++b) x[kPose * b + 4] = 1.0;
    const AngleBranches branches(model);
    Sides found;
    for (size_t i = 0; i < efforts.count(); ++i)
        for (const EffortSide& side : efforts.sides({model, branches, 0.0, x.data(), u.data()}, i)) {
            const Vec3 place = place_in_frame(model, side);
            found.push_back({static_cast<int>(i), side.body, {place.x, place.y, place.z}});
        }
    return found;
}

// What efforts of one exert side by side (T, 6 sides), and the rates (T, n) along the efforts.
std::pair<Rows, Rows> exerted(const Model& model, const Entries& given, const std::vector<int>& bodies,
                              const std::array<DoubleArray, 4>& motion, const DoubleArray& time,
                              const std::vector<int>& followed, const DoubleArray& values) {
    ExertedEfforts efforts(model, given);
    FramesOfBodies states(model, bodies, motion, time, followed, values);
    Rows wrench(states.frames(), 6 * exerted_sides(model, given).size()), rates(states.frames(), efforts.count());
    double* out = wrench.data();
    for (size_t f = 0; f < states.frames(); ++f) {
        const Scenery at = states.at(f);
        for (size_t i = 0; i < efforts.count(); ++i) {
            rates(f, i) = 0.0;
            for (const EffortSide& side : efforts.sides(at, i)) {
                const double* u = at.u + kTwist * side.body;
                for (int k = 0; k < 6; ++k) rates(f, i) += side.J[k] * u[kComponent[k]];
                out = std::ranges::copy(wrench_of(at, side), out).out;
            }
        }
    }
    return {std::move(wrench), std::move(rates)};
}

}  // namespace

template <class Entry>
    requires requires { typename Entry::Of; }
struct Given<std::vector<Entry>> {
    using Type = Entries;
    static auto made(const Type& given) { return entries_of<Entry>(given); }
};
template <>
struct Given<std::vector<Observation::Reaction>> {
    using Type = std::vector<std::pair<std::vector<int>, int>>;
    static auto made(const Type& given) { return reactions_of(given); }
};

Rows observe(SystemAt& self, const Observation& what) {
    Rows frame(1, 1 + self.core().observation_size(what));
    frame(0, 0) = self.time;
    self.core().observe(self.time, self.x.data(), self.u.data(), what, frame.data() + 1);
    return frame;
}

void bind_observation(nb::module_& m) {
    auto what = bind_record<Observation>(
        m, "Observation",
        "What to record of a state of a model, by index. coordinates: of joints, then so many other angles, then so\n"
        "many others that forces act along. rows: whose multipliers. reactions: (blocks, pair). efforts, potentials:\n"
        "(\"law\", number, 0), (\"wrench\", number, component: moment, then force) or (\"formula\", number, output), "
        "or\n(\"contact\", group, component: of each body force, then moment). inputs: all that the model has, or 0.\n"
        "contacts: how many points touch. accounts: (\"law\", \"wrench\", \"formula\", \"contact\" or \"block\", "
        "number,\ncolumn of the works, of which there are so many; the last two have what moves and impacts bring "
        "in).");
    make_by_name<Missing::initial>(what);
    auto counts = bind_record<FrameCounts>(m, "FrameCounts", "How many of each a frame holds.");
    make_by_name<Missing::initial>(counts);
    m.def("frame_sections", &frame_sections, "counts"_a,
          nb::sig("def frame_sections(counts: FrameCounts) -> list[tuple[str, int, tuple[int, ...]]]"),
          "The sections of a frame, after its time: name, first number, shape.");
    m.def("observe", &observe, "system"_a, "what"_a, "The frame (1, 1 + width) of a system at its state.");
    m.def("exerted_sides", &exerted_sides, "model"_a, "efforts"_a,
          "What efforts act on, side by side: number of the effort, body, the ground being the number of bodies, and\n"
          "place in its frame. Efforts are those of an Observation, or (\"row\", number, 0): a row's multiplier.");
    m.def("exerted", &exerted, "model"_a, "efforts"_a, "bodies"_a, "motion"_a, "time"_a, "followed"_a, "values"_a,
          "What efforts of one exert, from the motion of the bodies that they act on: position, rotation, velocity,\n"
          "angular velocity (T, bodies, 3 or 4). followed, values (T, k): coordinates that depend on where they were.\n"
          "Returns moment about the origin of the body's frame and force, world axes, of each of exerted_sides\n"
          "(T, 6 sides), and the rates (T, n) along the efforts.");
}

}  // namespace bellcrank
