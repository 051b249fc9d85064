// Options of all formulations that close constraints by multipliers and projections.
#pragma once

#include "model/stops.hpp"

namespace bellcrank {

struct ClosingOptions : StopOptions {
    double rank_tolerance = 1e-10;
    double stage_pivot = 1e-2;
    double doubt = 10.0;
    int max_corrections = 25;

    BELLCRANK_MORE_FIELDS(ClosingOptions, StopOptions,
                          (rank_tolerance, "",
                           "A row whose pivot falls below this part of its own diagonal entry is redundant."),
                          (position_tolerance, "m or rad/2", "Largest constraint error after a projection."),
                          (stage_pivot, "", "Smallest relative pivot below which the stages of a step are projected."),
                          (doubt, "",
                           "Angle between rows, in sizes of a correction, beyond which they are not compared."),
                          (max_corrections, "", "Position corrections before a projection gives up.", 1.0))
};

}  // namespace bellcrank
