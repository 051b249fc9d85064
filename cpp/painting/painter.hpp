// Pictures of solids by a depth buffer: meshes at poses, in parallel projection, with outlines and a soft shadow.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "spatial/algebra.hpp"

namespace bellcrank {

// Vertices and unit normals, three numbers each, and triangles.
struct PaintedMesh {
    std::vector<double> vertices, normals;
    std::vector<std::int32_t> triangles;
};

// A parallel projection onto samples: x = (right · p − left) scale, y = (high − up · p) scale, to the right and down,
// and the depth −toward · p, which grows away from the eye.
struct PaintedView {
    Vec3 right, up, toward;
    double left, high, scale;
};

// A part whose mesh is bent: in the place of its own vertices and unit normals it has others, as many, and, unless
// nullptr, a colour at each, red, green and blue.
struct PaintedBend {
    int part;
    const double *vertices, *normals, *colors;
};

// Parts at one instant, per part: position (3), rotation (4, scalar first), by which its mesh is longer along its own
// z, red, green, blue and opacity (4), by how much it counts as nearer than it is [m], and whether it is drawn.
struct PaintedInstant {
    const double *position, *rotation, *stretch, *color, *nearer;
    const std::uint8_t* drawn;
    double strength = 1.0;  // of the colours, 0 to 1
    std::vector<PaintedBend> bent = {};
};

// A floor at a height along `up`, on which parts cast a shadow, `dark` in its middle: behind all that is painted, and
// on what lies behind all, up to `thick` above the floor.
struct PaintedFloor {
    Vec3 up;
    double height, thick, dark;
    PaintedInstant casting;
};

// Pixels (height, width, 4): premultiplied by opacity, or on white, in bytes. One of them.
struct PaintedPixels {
    float* numbers = nullptr;
    std::uint8_t* bytes = nullptr;
};

// Paints tile by tile, each of which fits a cache: nothing is kept of the whole picture but the pixels, and no time is
// spent where nothing is.
class Painter {
  public:
    // mesh_of_part: the numbers of meshes.
    Painter(std::vector<PaintedMesh> meshes, std::vector<std::int32_t> mesh_of_part);

    int parts() const { return static_cast<int>(mesh_of_part_.size()); }
    std::ptrdiff_t vertices_of(int part) const {
        return static_cast<std::ptrdiff_t>(meshes_[mesh_of_part_[part]].vertices.size() / 3);
    }

    // The lowest and the highest place of each part along directions, two numbers per part and direction; of parts that
    // are not drawn ∞ and −∞.
    void bounds(const PaintedInstant& at, const std::vector<Vec3>& directions, double* out) const;

    // A pixel is the mean of `samples` each way. The first instant lies behind all others, which hide only what is
    // behind them there: each is painted over those before it. The shadow lies behind all but the first; nullptr: no
    // floor.
    void paint(const PaintedView& view, const std::vector<PaintedInstant>& instants, const PaintedFloor* floor,
               int width, int height, int samples, PaintedPixels out);

  private:
    using Float3 = std::array<float, 3>;
    using Color = std::array<float, 4>;
    struct Place {
        double x, y, depth;
    };
    struct Triangle {
        std::int32_t corners[3];  // in places_
        std::int32_t part;
        Color color;
        // Parts of the ways from corner 0 to 1 and to 2, linear in the sample: at (0, 0), across and down.
        Float3 first, second;
        bool tinted;    // its corners have colours
        bool flat;      // its normals are one
        Float3 normal;  // that of corner 0, towards the eye
    };
    // Opaque triangles of an instant, or transparent ones, of which the nearest is seen.
    struct Sheet {
        size_t begin, end;  // in triangles_
        float strength;
        bool transparent, behind;
    };
    // Samples of the picture.
    struct Tile {
        int top, left, rows, columns;
    };

    void place(const PaintedView& view, const PaintedInstant& at, bool behind);
    Triangle triangle_of(const std::int32_t* corners, std::int32_t first, std::int32_t part, const Color& color,
                         bool tinted) const;
    template <class F>
    void for_each_tile(const Triangle& triangle, const F& f) const;
    void sort_into_tiles();
    void cast_shadow(const PaintedView& view, const PaintedFloor& floor);
    bool is_empty(size_t tile) const;
    void paint_tile(size_t number, const PaintedView& view, const PaintedFloor* floor);
    bool find_nearest(size_t number, size_t sheet);
    void shade(const Tile& tile, const Sheet& sheet);
    PaintedBend surface_of(const PaintedInstant& at, int part) const;
    Float3 between(const Triangle& triangle, const std::vector<Float3>& at_corners, float x, float y) const;
    Float3 normal_at(const Triangle& triangle, float x, float y) const;
    float light_at(size_t here) const;
    void put_shadow(const Tile& tile, const PaintedView& view, const PaintedFloor& floor);
    void put_pixels(const Tile& tile, PaintedPixels out) const;
    // Of a sample in the buffers, which have one more at each side.
    size_t stride() const { return static_cast<size_t>(side_) + 2; }
    size_t at(const Tile& tile, int row, int column) const {
        return static_cast<size_t>(row - tile.top + 1) * stride() + (column - tile.left + 1);
    }

    const std::vector<PaintedMesh> meshes_;
    const std::vector<std::int32_t> mesh_of_part_;

    int wide_ = 0, high_ = 0, samples_ = 1;  // samples across and down; to a pixel, each way
    int side_ = 0, across_ = 0;              // samples of a tile; tiles across
    std::vector<Place> places_;              // of vertices
    std::vector<Float3> normals_;            // of vertices: right, up, towards the eye
    std::vector<Float3> tints_;              // of vertices: their colours
    std::vector<Triangle> triangles_;
    std::vector<Sheet> sheets_;
    std::vector<Tile> tiles_;
    std::vector<size_t> starts_;          // by tile and sheet, in in_tiles_
    std::vector<std::int32_t> in_tiles_;  // triangles, those of a sheet in their order

    // Of a tile.
    std::vector<float> depth_, behind_;
    std::vector<std::int32_t> nearest_;  // triangle
    std::vector<Float3> seen_;           // normals
    std::vector<Color> colors_;

    int shadow_wide_ = 0, shadow_high_ = 0;
    std::vector<float> shadow_, softened_, sums_;
};

}  // namespace bellcrank
