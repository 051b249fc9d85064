// A marker with offset o from the com of its body (pose p, R; velocity v of the com, ω in principal axes) has
//   position p + R o,  attitude R A,  velocity v + R(ω×o),  angular velocity R ω,                            (1)
//   acceleration v̇ + R(ω̇×o) + R(ω×(ω×o)),  angular acceleration R ω̇.                                        (2)
// A gradient (g; h) against velocity and angular velocity of the marker is, against the twist of its body,
//   (g;  o × Rᵀg + Rᵀh),                                                                                     (3)
// which is also how force and moment at the marker act on the body.
#include "model/formula_rows.hpp"

#include "model/formulas.hpp"
#include "spatial/body_state.hpp"

namespace bellcrank {

namespace {

// Inputs, outputs and workspace of whatever program runs; kept between calls.
struct Buffers {
    std::vector<double> in, out, work;

    void prepare(const CompiledProgram& program) {
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
void put_markers(const std::vector<FormulaMarker>& markers, double t, const double* x, const double* u, double* in) {
    *in++ = t;
    for (const FormulaMarker& m : markers) {
        const Quat q = pose_rotation(x, m.body);
        const Vec3 w = twist_angular(u, m.body);
        const Mat3 R = rotation_matrix(q), A = rotation_matrix(q * m.attitude);
        put(in, pose_position(x, m.body) + R * m.offset);
        for (double entry : A.m) *in++ = entry;
        put(in, twist_linear(u, m.body) + R * cross(w, m.offset));
        put(in, R * w);
    }
}

const double* run_program(const CompiledProgram& program, const std::vector<FormulaMarker>& markers, double t,
                          const double* x, const double* u) {
    Buffers& b = buffers();
    b.prepare(program);
    put_markers(markers, t, x, u, b.in.data());
    program.evaluate(b.in.data(), b.out.data(), b.work.data());
    return b.out.data();
}

Vec3 vector_at(const double* p) { return {p[0], p[1], p[2]}; }

}  // namespace

FormulaRows::FormulaRows(int block, int rows, bool of_velocity, std::vector<FormulaMarker> markers,
                         std::shared_ptr<const CompiledProgram> program)
    : block_(block),
      rows_(rows),
      of_velocity_(of_velocity),
      markers_(std::move(markers)),
      program_(std::move(program)) {}

void FormulaRows::evaluate(double t, const double* x, const double* u, Values& out) const {
    const double* o = run_program(*program_, markers_, t, x, u);
    const int n = rows_, count = static_cast<int>(markers_.size());
    if (out.J.size() < static_cast<size_t>(6 * n * count)) out.J.resize(6 * n * count);
    for (int r = 0; r < n; ++r) {
        out.value[r] = o[r];
        out.drift[r] = o[n + r];
        out.bias[r] = o[2 * n + r];
    }
    for (int i = 0; i < count; ++i) {
        const FormulaMarker& m = markers_[i];
        const Mat3 R = rotation_matrix(pose_rotation(x, m.body));
        const Vec3 w = twist_angular(u, m.body), centripetal = R * cross(w, cross(w, m.offset));
        for (int r = 0; r < n; ++r) {
            const double* gradient = o + 3 * n + 6 * (r * count + i);
            const Vec3 g = vector_at(gradient), h = vector_at(gradient + 3);
            const Vec3 turn = cross(m.offset, transpose_times(R, g)) + transpose_times(R, h);
            double* J = &out.J[6 * (i * n + r)];
            put(J, g);
            put(J, turn);
            out.bias[r] += dot(g, centripetal);
        }
    }
}

FormulaForce::FormulaForce(std::vector<FormulaMarker> markers, bool has_potential,
                           std::shared_ptr<const CompiledProgram> program)
    : markers_(std::move(markers)), has_potential_(has_potential), program_(std::move(program)) {}

const double* FormulaForce::run(double t, const double* x, const double* u) const {
    return run_program(*program_, markers_, t, x, u);
}

void FormulaForce::add(double t, const double* x, const double* u, int ground, double* force) const {
    const double* o = run(t, x, u);
    for (const FormulaMarker& m : markers_) {
        const Vec3 f = vector_at(o), moment = vector_at(o + 3);
        o += 6;
        if (m.body == ground) continue;
        const Mat3 R = rotation_matrix(pose_rotation(x, m.body));
        const Vec3 turn = cross(m.offset, transpose_times(R, f)) + transpose_times(R, moment);
        double* record = force + kTwist * m.body;
        record[0] += f.x, record[1] += f.y, record[2] += f.z;
        record[4] += turn.x, record[5] += turn.y, record[6] += turn.z;
    }
}

double FormulaForce::potential(double t, const double* x, const double* u) const {
    return has_potential_ ? run(t, x, u)[6 * markers_.size()] : 0.0;
}

}  // namespace bellcrank
