// What a System counts, and the moments at which its digits are judged.
#pragma once

#include <nanobind/nanobind.h>

#include "state_of.hpp"

namespace bellcrank {

inline nanobind::dict statistics_dict(const SystemAt& self) {
    const Statistics& s = const_cast<SystemAt&>(self).core().statistics();
    nanobind::dict d;
    d["evaluations"] = s.evaluations;
    d["factorizations"] = s.factorizations;
    d["corrections"] = s.corrections;
    if (s.linearizations > 0) d["linearizations"] = s.linearizations;
    d["impacts"] = s.impacts;
    d["dropped_rows"] = s.dropped_rows;
    d["smallest_pivot"] = s.smallest_pivot;
    d["smallest_inertia"] = s.smallest_inertia;
    d["precise"] = s.precise;
    d["uncertainty"] = s.uncertainty;
    return d;
}

inline bool go_to_doubtful_moment(SystemAt& self) {
    Moment doubtful;
    if (!self.core().take_doubtful_moment(doubtful)) return false;
    self.left = {self.time, self.x, self.u};
    self.time = doubtful.t, self.x = doubtful.x, self.u = doubtful.u;
    return true;
}

inline void go_back(SystemAt& self) {
    self.time = self.left.t, self.x = self.left.x, self.u = self.left.u;
    self.scenery();  // angles follow
}

inline void bind_statistics(nanobind::class_<SystemAt>& c) {
    using namespace nanobind::literals;
    c.def("statistics", &statistics_dict, nanobind::sig("def statistics(self) -> dict[str, float]"),
          "What the solver did so far.")
        .def("go_to_doubtful_moment", &go_to_doubtful_moment,
             "Goes to the moment since the last call at which digits were the fewest; False if none was noted.")
        .def("go_back", &go_back, "To where it was before.");
}

}  // namespace bellcrank
