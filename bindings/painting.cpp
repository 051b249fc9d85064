// Pictures of meshes: arrays of poses and colours in, pixels out.
#include "painting/painter.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "bindings.hpp"
#include "records.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bellcrank {

namespace {

using Triangles = Eigen::Matrix<std::int32_t, Eigen::Dynamic, 3, Eigen::RowMajor>;
using Flags = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>;
using Bends = std::vector<std::tuple<int, Rows, Rows, Rows>>;
using Instant = std::tuple<Rows, Rows, Column, Rows, Column, Flags, double, Bends>;
using View = std::tuple<Vec3, Vec3, Vec3, double, double, double>;
using Floor = std::tuple<Vec3, double, double, double, Instant>;

void check_size(Eigen::Index got, Eigen::Index wanted, const char* what) {
    if (got != wanted)
        throw std::invalid_argument(std::string(what) + " must be " + std::to_string(wanted) + ", got " +
                                    std::to_string(got));
}

std::vector<double> numbers(const Rows& table) { return {table.data(), table.data() + table.size()}; }

// Flat tables without rows have no colours.
std::vector<PaintedBend> bends_of(const Painter& painter, const Bends& given) {
    std::vector<PaintedBend> found;
    for (const auto& [part, vertices, normals, colors] : given) {
        if (part < 0 || part >= painter.parts()) throw std::invalid_argument("there is no part to bend");
        check_size(vertices.rows(), painter.vertices_of(part), "vertices");
        check_size(vertices.cols(), 3, "coordinates of a vertex");
        check_size(normals.rows(), vertices.rows(), "normals");
        check_size(normals.cols(), 3, "components of a normal");
        if (colors.rows() > 0) {
            check_size(colors.rows(), vertices.rows(), "colours");
            check_size(colors.cols(), 3, "components of a colour");
        }
        found.push_back({part, vertices.data(), normals.data(), colors.rows() > 0 ? colors.data() : nullptr});
    }
    return found;
}

Painter made(const std::vector<std::tuple<Rows, Rows, Triangles>>& meshes, std::vector<std::int32_t> mesh_of_part) {
    std::vector<PaintedMesh> found;
    for (const auto& [vertices, normals, triangles] : meshes) {
        check_size(vertices.cols(), 3, "coordinates of a vertex");
        check_size(normals.cols(), 3, "components of a normal");
        check_size(normals.rows(), vertices.rows(), "normals");
        if (triangles.size() > 0 && (triangles.minCoeff() < 0 || triangles.maxCoeff() >= vertices.rows()))
            throw std::invalid_argument("a triangle has a corner that is no vertex");
        found.push_back({numbers(vertices), numbers(normals), {triangles.data(), triangles.data() + triangles.size()}});
    }
    for (const std::int32_t mesh : mesh_of_part)
        if (mesh < 0 || mesh >= static_cast<std::int32_t>(found.size()))
            throw std::invalid_argument("a part has no mesh of number " + std::to_string(mesh));
    return {std::move(found), std::move(mesh_of_part)};
}

PaintedInstant instant_of(const Painter& painter, const Instant& given) {
    const auto& [position, rotation, stretch, color, nearer, drawn, strength, bent] = given;
    check_size(position.rows(), painter.parts(), "positions");
    check_size(position.cols(), 3, "coordinates of a position");
    check_size(rotation.rows(), painter.parts(), "rotations");
    check_size(rotation.cols(), 4, "components of a rotation");
    check_size(stretch.size(), painter.parts(), "stretches");
    check_size(color.rows(), painter.parts(), "colours");
    check_size(color.cols(), 4, "components of a colour");
    check_size(nearer.size(), painter.parts(), "lengths");
    check_size(drawn.size(), painter.parts(), "flags");
    return {position.data(), rotation.data(), stretch.data(), color.data(),
            nearer.data(),   drawn.data(),    strength,       bends_of(painter, bent)};
}

template <class T>
using Pixels = nb::ndarray<T, nb::shape<-1, -1, 4>, nb::c_contig, nb::device::cpu>;

template <class T>
void paint(Painter& painter, const View& view, const std::vector<Instant>& instants, const std::optional<Floor>& floor,
           int samples, Pixels<T> out) {
    if (instants.empty() || samples < 1) throw std::invalid_argument("nothing to paint");
    std::vector<PaintedInstant> all;
    for (const Instant& each : instants) all.push_back(instant_of(painter, each));
    const auto [right, up, toward, left, high, scale] = view;
    PaintedFloor on{};
    if (floor) {
        const auto& [upright, height, thick, dark, casting] = *floor;
        on = {upright, height, thick, dark, instant_of(painter, casting)};
    }
    PaintedPixels pixels;
    if constexpr (std::is_same_v<T, float>)
        pixels.numbers = out.data();
    else
        pixels.bytes = out.data();
    const nb::gil_scoped_release unlocked;
    painter.paint({right, up, toward, left, high, scale}, all, floor ? &on : nullptr, static_cast<int>(out.shape(1)),
                  static_cast<int>(out.shape(0)), samples, pixels);
}

}  // namespace

void bind_painting(nb::module_& m) {
    nb::class_<Painter>(m, "Painter", "Paints meshes at poses by a depth buffer.")
        .def(
            "__init__",
            [](Painter* self, const std::vector<std::tuple<Rows, Rows, Triangles>>& meshes,
               std::vector<std::int32_t> mesh_of_part) { new (self) Painter(made(meshes, std::move(mesh_of_part))); },
            "meshes"_a, "mesh_of_part"_a, "meshes: vertices (n, 3), normals (n, 3) and triangles (m, 3) of each.")
        .def(
            "bounds",
            [](const Painter& self, const Instant& instant, const Rows& directions) {
                check_size(directions.cols(), 3, "components of a direction");
                std::vector<Vec3> all;
                for (Eigen::Index i = 0; i < directions.rows(); ++i)
                    all.push_back({directions(i, 0), directions(i, 1), directions(i, 2)});
                Rows out(self.parts() * static_cast<Eigen::Index>(all.size()), 2);
                self.bounds(instant_of(self, instant), all, out.data());
                return out;
            },
            "instant"_a, "directions"_a,
            "Lowest and highest places (parts * directions, 2) of the parts that are drawn, along directions.")
        .def(
            "paint", &paint<float>, "view"_a, "instants"_a, "floor"_a.none(), "samples"_a, "out"_a.noconvert(),
            "Paints into pixels (height, width, 4), premultiplied by opacity.\n\n"
            "view: unit vectors to the right, up and towards the eye, left and high ends, and samples per metre.\n"
            "instants: positions (n, 3), rotations (n, 4), stretches (n,), colours (n, 4), by how much parts count as\n"
            "nearer (n,), whether they are drawn (n,), the strength of the colours, and parts that are bent, by "
            "number,\n"
            "with vertices, normals and colours (k, 3) of their own; the first lies behind all others.\n"
            "floor: up, height, how thick it is, how dark the shadow is, and the instant that casts it.")
        .def("paint", &paint<std::uint8_t>, "view"_a, "instants"_a, "floor"_a.none(), "samples"_a, "out"_a.noconvert(),
             "Paints on white, into bytes.");
}

}  // namespace bellcrank
