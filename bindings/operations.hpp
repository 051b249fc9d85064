// How many operations a program does, as Python is told.
#pragma once

#include <nanobind/nanobind.h>

#include "expression/lower.hpp"

namespace bellcrank {

nanobind::dict operations_dict(const OperationCount& operations);

}  // namespace bellcrank
