// A marker with offset o from the com of its body (pose p, R; velocity v of the com, ω in principal axes) has
//   position p + R o,  attitude R A,  velocity v + R(ω×o),  angular velocity R ω,                            (1)
//   acceleration v̇ + R(ω̇×o) + R(ω×(ω×o)),  angular acceleration R ω̇.                                        (2)
// A gradient (g; h) against velocity and angular velocity of the marker is, against the twist of its body,
//   (g;  o × Rᵀg + Rᵀh),                                                                                     (3)
// which is also how force and moment at the marker act on the body. A gradient against the rate of a coordinate goes
// along that coordinate's own gradient.
#include "model/formula_rows.hpp"

#include "model/branches.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Inputs, outputs and workspace of whatever program runs; kept between calls.
struct Buffers {
    std::vector<double> in, out, work;
    std::vector<BodyCoordinate> coordinates;

    void prepare(const CompiledProgram& program, size_t count) {
        if (coordinates.size() < count) coordinates.resize(count);
        if (in.size() < static_cast<size_t>(program.inputs())) in.resize(program.inputs());
        if (out.size() < static_cast<size_t>(program.outputs())) out.resize(program.outputs());
        if (work.size() < static_cast<size_t>(program.work_size())) work.resize(program.work_size());
    }
};

Buffers& buffers() {
    thread_local Buffers own;
    return own;
}

void put(double*& to, const Vec3& v) {
    *to++ = v.x;
    *to++ = v.y;
    *to++ = v.z;
}

// (1), in the order of the programs' inputs.
void put_markers(const std::vector<FormulaMarker>& markers, const Scenery& at, double*& in) {
    for (const FormulaMarker& m : markers) {
        const Quat q = pose_rotation(at.x, m.body), marker = q * m.attitude;
        const Vec3 w = twist_angular(at.u, m.body);
        const Mat3 R = rotation_matrix(q);
        put(in, pose_position(at.x, m.body) + R * m.offset);
        for (double entry : {marker.w, marker.x, marker.y, marker.z}) *in++ = entry;
        put(in, twist_linear(at.u, m.body) + R * cross(w, m.offset));
        put(in, R * w);
    }
}

// The outputs; the coordinates that went into them are in buffers().coordinates.
const double* run_program(const CompiledProgram& program, const FormulaEnds& ends, const Scenery& at) {
    Buffers& b = buffers();
    b.prepare(program, ends.coordinates.size());
    double* in = b.in.data();
    *in++ = at.t;
    put_markers(ends.markers, at, in);
    for (size_t i = 0; i < ends.coordinates.size(); ++i) {
        evaluate_coordinate(at.model, at.branches, ends.coordinates[i], at.x, at.u, b.coordinates[i]);
        *in++ = b.coordinates[i].value;
        *in++ = b.coordinates[i].rate;
    }
    for (const double parameter : ends.parameters) *in++ = parameter;
    program.evaluate(b.in.data(), b.out.data(), b.work.data());
    return b.out.data();
}

Vec3 vector_at(const double* p) { return {p[0], p[1], p[2]}; }

}  // namespace

FormulaRows::FormulaRows(int rows, FormulaEnds ends, std::shared_ptr<const CompiledProgram> program)
    : rows_(rows), ends_(std::move(ends)), program_(std::move(program)) {}

void FormulaRows::evaluate(const Scenery& at, Values& out) const {
    const double* o = run_program(*program_, ends_, at);
    const int n = rows_;
    const size_t markers = ends_.markers.size(), coordinates = ends_.coordinates.size();
    const size_t stride = 6 * markers + coordinates;
    out.sides.resize(markers + 2 * coordinates);
    for (int r = 0; r < n; ++r) {
        out.value[r] = o[r];
        out.drift[r] = o[n + r];
        out.bias[r] = o[2 * n + r];
    }
    const double* gradients = o + 3 * n;
    for (size_t i = 0; i < markers; ++i) {
        const FormulaMarker& m = ends_.markers[i];
        const Mat3 R = rotation_matrix(pose_rotation(at.x, m.body));
        const Vec3 w = twist_angular(at.u, m.body), centripetal = R * cross(w, cross(w, m.offset));
        out.sides[i].body = m.body;
        for (int r = 0; r < n; ++r) {
            const Vec3 g = vector_at(gradients + r * stride + 6 * i), h = vector_at(gradients + r * stride + 6 * i + 3);
            double* J = out.sides[i].J[r];
            put(J, g);
            put(J, cross(m.offset, transpose_times(R, g)) + transpose_times(R, h));
            out.bias[r] += dot(g, centripetal);
        }
    }
    for (size_t i = 0; i < coordinates; ++i) {
        const BodyCoordinate& c = buffers().coordinates[i];
        const MarkerPair& pair = at.model.pairs[at.model.coordinates[ends_.coordinates[i]].pair];
        for (int r = 0; r < n; ++r) {
            const double g = gradients[r * stride + 6 * markers + i];
            out.bias[r] += g * c.bias;
            for (int s = 0; s < 2; ++s)
                for (int k = 0; k < 6; ++k) out.sides[markers + 2 * i + s].J[r][k] = g * c.J[s][k];
        }
        for (int s = 0; s < 2; ++s) out.sides[markers + 2 * i + s].body = pair.body[s];
    }
}

FormulaForce::FormulaForce(FormulaEnds ends, bool has_potential, std::shared_ptr<const CompiledProgram> program)
    : ends_(std::move(ends)), has_potential_(has_potential), program_(std::move(program)) {}

const double* FormulaForce::evaluate(const Scenery& at) const { return run_program(*program_, ends_, at); }

void FormulaForce::add(const Scenery& at, double* force) const {
    const double* o = run_program(*program_, ends_, at);
    const int ground = at.model.ground();
    for (const FormulaMarker& m : ends_.markers) {
        const Vec3 f = vector_at(o), moment = vector_at(o + 3);
        o += 6;
        if (m.body == ground) continue;
        const Mat3 R = rotation_matrix(pose_rotation(at.x, m.body));
        const Vec3 turn = cross(m.offset, transpose_times(R, f)) + transpose_times(R, moment);
        double* record = force + kTwist * m.body;
        record[0] += f.x, record[1] += f.y, record[2] += f.z;
        record[4] += turn.x, record[5] += turn.y, record[6] += turn.z;
    }
    for (size_t i = 0; i < ends_.coordinates.size(); ++i, ++o) {
        const BodyCoordinate& c = buffers().coordinates[i];
        const MarkerPair& pair = at.model.pairs[at.model.coordinates[ends_.coordinates[i]].pair];
        for (int s = 0; s < 2; ++s)
            for (int k = 0; k < 6 && pair.body[s] != ground; ++k)
                force[kTwist * pair.body[s] + (k < 3 ? k : k + 1)] += *o * c.J[s][k];
    }
}

double FormulaForce::power(const Scenery& at) const {
    const double* o = run_program(*program_, ends_, at);
    double sum = 0.0;
    for (const FormulaMarker& m : ends_.markers) {
        const Mat3 R = rotation_matrix(pose_rotation(at.x, m.body));
        const Vec3 spin = twist_angular(at.u, m.body);
        sum += dot(vector_at(o), twist_linear(at.u, m.body) + R * cross(spin, m.offset));
        sum += dot(vector_at(o + 3), R * spin);
        o += 6;
    }
    for (size_t i = 0; i < ends_.coordinates.size(); ++i, ++o) sum += *o * buffers().coordinates[i].rate;
    return sum;
}

double FormulaForce::potential(const Scenery& at) const {
    return has_potential_ ? evaluate(at)[6 * ends_.markers.size() + ends_.coordinates.size()] : 0.0;
}

}  // namespace bellcrank
