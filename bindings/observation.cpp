// What is recorded of a state, where it stands in a frame, and what recorded efforts are on the bodies.
#include "model/observation.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "bindings.hpp"
#include "model/forces.hpp"
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

std::vector<Observation::Effort> checked_efforts(const Model& model, const Entries& given) {
    std::vector<Observation::Effort> efforts = entries_of<Observation::Effort>(given);
    check_efforts(model, efforts);
    return efforts;
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

// What recorded efforts are on the bodies: wrenches (T, n + 1, 6), the ground's last, and rates along the efforts.
std::pair<Rows, Rows> force_wrenches(const Model& model, const Entries& given, const std::vector<int>& bodies,
                                     const std::array<DoubleArray, 4>& motion, const std::vector<int>& followed,
                                     const DoubleArray& values, const DoubleArray& efforts) {
    const std::vector<Observation::Effort> which = checked_efforts(model, given);
    const size_t frames = efforts.shape(0), count = bodies.size(), width[4] = {3, 4, 3, 3};
    bool fits = efforts.size() == frames * which.size() && values.size() == frames * followed.size();
    for (int k = 0; k < 4; ++k) fits = fits && motion[k].size() == frames * count * width[k];
    for (const int body : bodies) fits = fits && body >= 0 && body < model.bodies();
    for (const int c : followed) fits = fits && c >= 0 && c < static_cast<int>(model.coordinates.size());
    if (!fits) throw std::invalid_argument("force_wrenches: the arrays do not fit each other");
    std::vector<double> x(kPose * (model.bodies() + 1), 0.0), u(x.size(), 0.0), all(6 * (model.bodies() + 1));
    put_ground(model, x.data(), u.data());
    AngleBranches branches(model);
    Rows wrench(frames, 6 * (count + 1)), rates(frames, which.size());
    for (size_t f = 0; f < frames; ++f) {
        const auto at = [&](int k, size_t i) { return motion[k].data() + width[k] * (f * count + i); };
        for (size_t i = 0; i < count; ++i)
            put_body(model, bodies[i], at(0, i), at(1, i), at(2, i), at(3, i), x.data(), u.data());
        for (size_t k = 0; k < followed.size(); ++k) branches.set(followed[k], values.data()[f * followed.size() + k]);
        for (size_t i = 0; i <= count; ++i)
            std::fill_n(all.data() + 6 * (i < count ? bodies[i] : model.ground()), 6, 0.0);
        add_force_wrenches({model, branches, 0.0, x.data(), u.data()}, which, efforts.data() + f * which.size(),
                           all.data(), rates.data() + f * which.size());
        for (size_t i = 0; i <= count; ++i)
            std::copy_n(all.data() + 6 * (i < count ? bodies[i] : model.ground()), 6,
                        wrench.data() + 6 * (f * (count + 1) + i));
    }
    return {std::move(wrench), std::move(rates)};
}

std::vector<int> force_bodies(const Model& model, const Entries& given) {
    std::vector<int> bodies;
    for (const Observation::Effort& e : checked_efforts(model, given))
        for (const int body : bodies_of(model, e))
            if (std::ranges::find(bodies, body) == bodies.end()) bodies.push_back(body);
    return bodies;
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
    m.def("force_bodies", &force_bodies, "model"_a, "efforts"_a,
          "The bodies that efforts act on, the ground included.");
    m.def(
        "force_wrenches", &force_wrenches, "model"_a, "efforts"_a, "bodies"_a, "motion"_a, "followed"_a, "values"_a,
        "recorded"_a,
        "What recorded efforts (T, n) are on the bodies, from their motion: position, rotation, velocity, angular\n"
        "velocity (T, bodies, 3 or 4). followed, values (T, k): coordinates of joints given by formulas. Returns\n"
        "moment about the frame's origin and force, world axes, (T, 6 (bodies + 1)), the ground's last, and the rates\n"
        "(T, n) along the efforts.");
}

}  // namespace bellcrank
