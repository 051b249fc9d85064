// The extension module: what it was built with, then the bindings of every layer.
#include "bindings.hpp"

#include <Eigen/Core>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace {

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
constexpr const char* compiler = "gcc " __VERSION__;
#else
constexpr const char* compiler = "unknown";
#endif

nb::dict build_info() {
    nb::dict info;
    info["variant"] = BELLCRANK_VARIANT;
    info["lanes"] = BELLCRANK_LANES;
    info["compiler"] = compiler;
    info["flags"] = BELLCRANK_FLAGS;
    const nb::str dot(".");
    info["eigen"] = nb::str(nb::int_(EIGEN_WORLD_VERSION)) + dot + nb::str(nb::int_(EIGEN_MAJOR_VERSION)) + dot +
                    nb::str(nb::int_(EIGEN_MINOR_VERSION));
    return info;
}

}  // namespace

NB_MODULE(BELLCRANK_MODULE, m) {
    m.doc() = "Compiled core of bellcrank.";
    m.attr("variant") = BELLCRANK_VARIANT;
    m.def("build_info", &build_info, nb::sig("def build_info() -> dict[str, str | int]"),
          "What this module was built with: variant, lanes, compiler, flags, and the version of Eigen.");
    bellcrank::bind_all(m);
}
