// The transpose of equations_tangent.cpp: each sum over bodies, pairs and rows backwards. Within a coordinate, a law, a
// function or a formula derivatives are taken forwards, along all that it depends on, of its one sum with the seeds.
#include <algorithm>

#include "spatial/body_state.hpp"
#include "tangents/equations_tangent.hpp"
#include "tangents/law_numbers.hpp"

namespace bellcrank {

namespace {

double& part_of(Vec3& v, int i) { return i == 0 ? v.x : i == 1 ? v.y : v.z; }

// Number k of `at`, in four directions of `from` on.
void seed(Vec3T<Dual4>& at, int first, int from) {
    Dual4* const parts[] = {&at.x, &at.y, &at.z};
    for (int i = 0; i < 3; ++i)
        if (const int k = first + i - from; k >= 0 && k < kDirections) parts[i]->d[k] = 1.0;
}

Vec3T<Dual4> in_duals(const Vec3& v) { return {v.x, v.y, v.z}; }

// A relative motion along four of the twelve numbers r, its rotation in marker-1 axes, ṙ and ω.
RelativeMotionT<Dual4> relative_along(const RelativeMotion& m, int from) {
    RelativeMotionT<Dual4> out{in_duals(m.r), {m.q.w, m.q.x, m.q.y, m.q.z}, in_duals(m.rdot), in_duals(m.omega)};
    seed(out.r, 0, from);
    seed(out.rdot, 6, from);
    seed(out.omega, 9, from);
    for (int i = 0; i < 3; ++i) {
        const int k = 3 + i - from;
        if (k < 0 || k >= kDirections) continue;
        const Quat half{0.0, i == 0 ? 0.5 : 0.0, i == 1 ? 0.5 : 0.0, i == 2 ? 0.5 : 0.0}, change = half * m.q;
        out.q.w.d[k] = change.w, out.q.x.d[k] = change.x, out.q.y.d[k] = change.y, out.q.z.d[k] = change.z;
    }
    return out;
}

void add_to(PairGradient::OfBody& sum, const PairGradient::OfBody& more) {
    sum.position += more.position, sum.turn += more.turn, sum.velocity += more.velocity;
    sum.omega += more.omega, sum.acceleration += more.acceleration, sum.omega_dot += more.omega_dot;
}

}  // namespace

class EquationsTangent::Transpose {
  public:
    Transpose(EquationsTangent& owner, const MotionPoint& at, const Seeds& seeds, std::span<const NumberPlace> further,
              ModelGradient& by_numbers)
        : own_(owner), model_(owner.model_), at_(at), seeds_(seeds), by_numbers_(by_numbers) {
        const auto take = [](const std::vector<int>& starts, int index, std::vector<std::vector<int>>& wanted) {
            const auto after = std::upper_bound(starts.begin(), starts.end(), index);
            wanted[after - starts.begin() - 1].push_back(index - *(after - 1));
        };
        wanted_.resize(model_.functions.size());
        wanted_of_coordinates_.resize(model_.coordinates.size());
        for (const NumberPlace& place : further)
            if (place.array == NumberArray::function_params)
                take(model_.data().function_param_start, place.index, wanted_);
            else if (place.array == NumberArray::coordinate_params)
                take(model_.data().coordinate_param_start, place.index, wanted_of_coordinates_);
        const int bodies = model_.bodies() + 1;
        for (int b = 0; b < bodies; ++b) {
            bodies_.push_back({pose_position(at.x, b), twist_linear(at.u, b), twist_linear(at.udot, b),
                               pose_rotation(at.x, b), twist_angular(at.u, b), twist_angular(at.udot, b)});
            const bool seeded = seeds.loads != nullptr && b != model_.ground();
            other_.push_back(seeded ? BodyRateT<double>{twist_linear(seeds.loads, b), twist_angular(seeds.loads, b)}
                                    : BodyRateT<double>{{0, 0, 0}, {0, 0, 0}});
        }
        by_body_.resize(bodies);
        by_shapes_.resize(bodies);
        for (size_t c = 0; c < model_.coordinates.size(); ++c) {
            Seeded s{};
            for (int level = 0; level < 3; ++level)
                if (seeds.coordinates[level] != nullptr) s.level[level] += seeds.coordinates[level][c];
            for (const Use& use : own_.terms_of_[c]) {
                const double coefficient = model_.terms[use.term].coefficient;
                for (int level = 0; level < 3; ++level) s.level[level] += coefficient * row_seed(level, use.row);
                s.tension += coefficient * at.multipliers[use.row];
            }
            coordinates_.push_back(s);
        }
    }

    void find(Gradient& out) {
        add_inertia();
        if (at_.applied) add_wrenches(), add_contacts();
        add_formulas();
        add_pairs();
        add_rows();
        const size_t size = kTwist * by_body_.size();
        for (std::vector<double>* records : {&out.x, &out.u, &out.udot}) records->assign(size, 0.0);
        out.t = by_time_;
        for (int b = 0; b < model_.bodies(); ++b) {
            const PairGradient::OfBody& of = by_body_[b];
            store_twist(out.x.data(), b, of.position + by_shapes_[b].position, of.turn);
            store_twist(out.u.data(), b, of.velocity + by_shapes_[b].velocity, of.omega);
            store_twist(out.udot.data(), b, of.acceleration, of.omega_dot);
            // A centre of mass that moves in its body takes its state along.
            MarkerGradient by;
            by.position = of.position, by.velocity = of.velocity, by.acceleration = of.acceleration;
            by_numbers_.add_body(
                b, 0.0, bellcrank::transposed(bodies_[b], {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}, by).offset, Mat3{});
        }
    }

  private:
    // What a coordinate is multiplied by: its value, rate and second rate; and what acts along it.
    struct Seeded {
        double level[3], tension;
    };
    // A coordinate in numbers, and its rate at the seeds of loads.
    struct Known {
        double value, rate, second, other;
    };

    double row_seed(int level, int row) const { return seeds_.rows[level] == nullptr ? 0.0 : seeds_.rows[level][row]; }

    // sum: of what a function does, for its numbers; along those that are asked for.
    template <class Sum>
    void take_function(int function, const Sum& sum) {
        take_numbers(wanted_[function], own_.unit_numbers_.function_params(function), NumberArray::function_params,
                     model_.data().function_param_start[function], sum);
    }

    // wanted: of some numbers, which begin at a place of an array.
    template <class Sum>
    void take_numbers(const std::vector<int>& wanted, std::span<const Dual4> given, NumberArray array, int begin,
                      const Sum& sum) {
        if (wanted.empty()) return;
        numbers_in_.assign(given.begin(), given.end());
        double* gradient = &by_numbers_[array][begin];
        for (size_t from = 0; from < wanted.size(); from += kDirections) {
            const size_t count = std::min<size_t>(kDirections, wanted.size() - from);
            for (size_t k = 0; k < count; ++k) numbers_in_[wanted[from + k]].d[k] = 1.0;
            const Dual4 found = sum(std::span<const Dual4>(numbers_in_));
            for (size_t k = 0; k < count; ++k) {
                gradient[wanted[from + k]] += found.d[k];
                numbers_in_[wanted[from + k]].d[k] = 0.0;
            }
        }
    }

    void add_inertia() {
        for (int b = 0; b < model_.bodies(); ++b) {
            const MovingBody& body = bodies_[b];
            const Vec3 I = model_.principal_inertia[b], &w = body.omega, &a = body.omega_dot, &f = other_[b].velocity,
                       &n = other_[b].omega, spin{I.x * w.x, I.y * w.y, I.z * w.z}, across = cross(n, w);
            by_body_[b].acceleration += -model_.mass[b] * f;
            by_body_[b].omega_dot += -Vec3{I.x * n.x, I.y * n.y, I.z * n.z};
            by_body_[b].omega += -cross(spin, n) - Vec3{I.x * across.x, I.y * across.y, I.z * across.z};
            Mat3 inertia;
            for (int i = 0; i < 3; ++i)
                for (int j = 0; j < 3; ++j)
                    inertia.m[3 * i + j] = -component(n, i) * component(a, j) - component(across, i) * component(w, j);
            const Vec3 gravity = at_.applied ? model_.gravity : Vec3{0.0, 0.0, 0.0};
            by_numbers_.add_body(b, dot(f, gravity - body.acceleration), {0, 0, 0}, inertia);
            if (at_.applied) add(by_numbers_[NumberArray::gravity].data(), model_.mass[b] * f);
        }
    }

    void take(int body, NumberArray positions, NumberArray rotations, int marker, const Vec3& offset,
              const MarkerGradient& by) {
        const MarkerBodyGradient found = bellcrank::transposed(bodies_[body], offset, other_[body], by);
        add_to(by_body_[body], found.body);
        by_numbers_.add_marker(body, positions, rotations, marker, found.offset, found.turn);
    }

    void add_wrenches() {
        for (size_t i = 0; i < model_.wrenches.size(); ++i) {
            const Wrench& w = model_.wrenches[i];
            const Mat3 R = rotation_matrix(bodies_[w.body].rotation), axes = R * rotation_matrix(w.rotation);
            const BodyRateT<double>& other = other_[w.body];
            const Vec3 speed = other.velocity + R * cross(other.omega, w.offset), turning = R * other.omega;
            double value[6], along[6];
            for (int k = 0; k < 6; ++k) {
                const Vec3 part{k % 3 == 0 ? 1.0 : 0.0, k % 3 == 1 ? 1.0 : 0.0, k % 3 == 2 ? 1.0 : 0.0};
                along[k] = dot(w.local ? axes * part : part, k < 3 ? turning : speed);
                by_numbers_[NumberArray::wrench_constant][6 * i + k] += along[k];
                value[k] = w.constant[k];
                if (w.function[k] < 0) continue;
                const Function& function = model_.functions[w.function[k]];
                const FunctionValue f = function(at_.t);
                value[k] += f.f;
                by_time_ += along[k] * f.d1;
                take_function(w.function[k], [&](std::span<const Dual4> numbers) {
                    return along[k] * function.tangent(numbers, at_.t).f;
                });
            }
            Vec3 moment{value[0], value[1], value[2]}, force{value[3], value[4], value[5]};
            MarkerGradient by;
            if (w.local) {
                moment = axes * moment;
                force = axes * force;
                by.turn = cross(force, speed) + cross(moment, turning);
            }
            by.rate = {force, moment};
            take(w.body, NumberArray::wrench_position, NumberArray::wrench_rotation, static_cast<int>(i), w.offset, by);
        }
    }

    // Of Σ f·v + m·ω at the seeds v and ω, with moments m = Rᵀ(p − x)×f.
    void add_contacts() {
        own_.find_contacts(at_);
        for (const ContactSlopes& c : own_.touching_) {
            Vec3 by_force{0, 0, 0}, by_place{0, 0, 0};
            for (const auto& [body, sign] : {std::pair(c.a, 1.0), std::pair(c.b, -1.0)}) {
                if (body == model_.ground()) continue;
                const MovingBody& at = bodies_[body];
                const BodyRateT<double>& other = other_[body];
                const Mat3 R = rotation_matrix(at.rotation);
                const Vec3 arm = c.position - at.position, turning = R * other.omega;
                const Vec3 by_arm = sign * cross(c.force, turning);
                by_force += sign * (other.velocity + cross(turning, arm));
                by_place += by_arm;
                by_body_[body].position += -by_arm;
                by_body_[body].turn += -sign * cross(transpose_times(R, cross(arm, c.force)), other.omega);
            }
            double by[ContactSlopes::kInputs];
            for (int k = 0; k < ContactSlopes::kInputs; ++k) {
                by[k] = 0.0;
                for (int i = 0; i < 3; ++i)
                    by[k] += component(by_force, i) * c.of_force[i][k] + component(by_place, i) * c.of_position[i][k];
            }
            double* const by_laws = &by_numbers_[NumberArray::contact_laws][kContactNumbers * c.group];
            for (int k = 0; k < kContactNumbers; ++k)
                for (int i = 0; i < 3; ++i) by_laws[k] += component(by_force, i) * c.by_law[i][k];
            for (const auto& [body, from] : {std::pair(c.a, by), std::pair(c.b, by + ContactSlopes::kOfBody)}) {
                by_shapes_[body].position += load(from), by_body_[body].turn += load(from + 3);
                by_shapes_[body].velocity += load(from + 6), by_body_[body].omega += load(from + 9);
            }
        }
    }

    Known known(int coordinate) const {
        const MarkerPair& pair = model_.pairs[model_.coordinates[coordinate].pair];
        const MovingBody &one = bodies_[pair.body[0]], &two = bodies_[pair.body[1]];
        const PairMotionT<double> motion(pair, one, two);
        CoordinateValue c;
        evaluate_along(model_, own_.branches_, coordinate, motion.relative, c);
        const auto along = [&](const Vec3& r, const Vec3& omega) { return dot(c.dr, r) + dot(c.domega, omega); };
        const RelativeRateT<double> second = motion.acceleration(one, two),
                                    other = motion.rate(other_[pair.body[0]], other_[pair.body[1]]);
        return {c.value, along(motion.relative.rdot, motion.relative.omega),
                along(second.r, second.omega) + c.quadratic, along(other.r, other.omega)};
    }

    // The gradient of a sum of a program's outputs by the inputs before the values of parameters.
    template <class Sum>
    std::vector<double> by_inputs(const CompiledProgram& program, const std::vector<double>& in, const Sum& sum) {
        std::vector<double> out;
        std::vector<Dual4> along;
        const std::vector<double>& values = model_.data().formulas.values;
        for (size_t from = 0; from < in.size(); from += kDirections) {
            along.assign(in.begin(), in.end());
            along.insert(along.end(), values.begin(), values.end());
            const size_t count = std::min<size_t>(kDirections, in.size() - from);
            for (size_t k = 0; k < count; ++k) along[from + k].d[k] = 1.0;
            const Dual4 found = sum(program.tangent(along).data());
            for (size_t k = 0; k < count; ++k) out.push_back(found.d[k]);
        }
        return out;
    }

    struct Ends {
        std::vector<MarkerMotionT<double>> markers;
        std::vector<BodyRateT<double>> other;  // of the markers, at the seeds
        std::vector<Known> coordinates;
        std::vector<double> in;
    };
    Ends ends_of(const FormulaEnds& ends) const {
        Ends out;
        out.in = {at_.t};
        const auto put = [&](std::initializer_list<double> more) { out.in.insert(out.in.end(), more); };
        for (const FormulaMarker& m : ends.markers) {
            const MarkerMotionT<double> motion(bodies_[m.body], m.offset, m.attitude);
            const BodyRateT<double>& rate = other_[m.body];
            out.markers.push_back(motion);
            out.other.push_back({rate.velocity + motion.R * cross(rate.omega, m.offset), motion.R * rate.omega});
            put({motion.position.x, motion.position.y, motion.position.z});
            put({motion.rotation.w, motion.rotation.x, motion.rotation.y, motion.rotation.z});
            put({motion.velocity.x, motion.velocity.y, motion.velocity.z});
            put({motion.omega.x, motion.omega.y, motion.omega.z});
        }
        for (const int c : ends.coordinates) {
            out.coordinates.push_back(known(c));
            put({out.coordinates.back().value, out.coordinates.back().rate});
        }
        return out;
    }

    // by: of each marker, to which the gradient by its inputs is added.
    void take_ends(const FormulaEnds& ends, const Ends& at, const std::vector<double>& gradient,
                   std::vector<MarkerGradient>& by, int first_marker) {
        by_time_ += gradient[0];
        const double* g = gradient.data() + 1;
        for (size_t i = 0; i < by.size(); ++i, g += 13) {
            const Quat& q = at.markers[i].rotation;
            by[i].position += load(g);
            by[i].velocity += load(g + 7);
            by[i].omega += load(g + 10);
            for (int axis = 0; axis < 3; ++axis) {  // δq = ½ θ q
                const Quat half{0.0, axis == 0 ? 0.5 : 0.0, axis == 1 ? 0.5 : 0.0, axis == 2 ? 0.5 : 0.0}, d = half * q;
                part_of(by[i].turn, axis) += g[3] * d.w + g[4] * d.x + g[5] * d.y + g[6] * d.z;
            }
            take(ends.markers[i].body, NumberArray::formula_marker_positions, NumberArray::formula_marker_rotations,
                 first_marker + static_cast<int>(i), ends.markers[i].offset, by[i]);
        }
        for (const int c : ends.coordinates) {
            coordinates_[c].level[0] += *g++;
            coordinates_[c].level[1] += *g++;
        }
    }

    // Before the pairs: what formulas do along coordinates is a seed of these.
    void add_formulas() {
        std::vector<int> first;
        int next = 0;
        for (const FormulaRows& rows : model_.formula_rows) {
            first.push_back(next);
            next += static_cast<int>(rows.ends().markers.size());
        }
        for (size_t b = 0; b < model_.blocks.size(); ++b)
            if (const int formula = model_.formula_of_block[b]; formula >= 0)
                add_formula_rows(model_.blocks[b].row_begin, model_.formula_rows[formula], first[formula]);
        for (const FormulaForce& force : model_.formula_forces) {
            if (!at_.applied) return;
            add_formula_force(force, next);
            next += static_cast<int>(force.ends().markers.size());
        }
    }

    void add_formula_rows(int first_row, const FormulaRows& rows, int first_marker) {
        const FormulaEnds& ends = rows.ends();
        const Ends at = ends_of(ends);
        const int n = rows.rows();
        const size_t markers = ends.markers.size(), coordinates = ends.coordinates.size(),
                     stride = 6 * markers + coordinates;
        // What a gradient of row r against marker i, or coordinate i, is multiplied by.
        const auto of_marker = [&](int r, size_t i) {
            const MarkerMotionT<double>& m = at.markers[i];
            const double s1 = row_seed(1, first_row + r), s2 = row_seed(2, first_row + r),
                         tension = at_.multipliers[first_row + r];
            return std::pair(s1 * m.velocity + s2 * m.acceleration + tension * at.other[i].velocity,
                             s1 * m.omega + s2 * m.omega_dot + tension * at.other[i].omega);
        };
        const auto of_coordinate = [&](int r, size_t i) {
            const Known& c = at.coordinates[i];
            return row_seed(1, first_row + r) * c.rate + row_seed(2, first_row + r) * c.second +
                   at_.multipliers[first_row + r] * c.other;
        };
        std::vector<double> found;
        const std::vector<double> gradient = by_inputs(rows.program(), at.in, [&](const Dual4* o) {
            Dual4 sum = 0.0;
            found.clear();
            for (int r = 0; r < n; ++r) {
                for (int level = 0; level < 3; ++level) sum += row_seed(level, first_row + r) * o[level * n + r];
                const Dual4* g = o + 3 * n + r * stride;
                for (size_t i = 0; i < stride; ++i) found.push_back(g[i].value);
                for (size_t i = 0; i < markers; ++i, g += 6) {
                    const auto [speed, turning] = of_marker(r, i);
                    sum += g[0] * speed.x + g[1] * speed.y + g[2] * speed.z + g[3] * turning.x + g[4] * turning.y +
                           g[5] * turning.z;
                }
                for (size_t i = 0; i < coordinates; ++i) sum += *g++ * of_coordinate(r, i);
            }
            return sum;
        });
        std::vector<MarkerGradient> by(markers);
        for (int r = 0; r < n; ++r) {
            const double s1 = row_seed(1, first_row + r), s2 = row_seed(2, first_row + r),
                         tension = at_.multipliers[first_row + r];
            const double* g = found.data() + r * stride;
            for (size_t i = 0; i < markers; ++i, g += 6) {
                const Vec3 linear = load(g), angular = load(g + 3);
                by[i].velocity += s1 * linear, by[i].omega += s1 * angular;
                by[i].acceleration += s2 * linear, by[i].omega_dot += s2 * angular;
                by[i].rate.velocity += tension * linear, by[i].rate.omega += tension * angular;
            }
            for (size_t i = 0; i < coordinates; ++i, ++g) {
                Seeded& c = coordinates_[ends.coordinates[i]];
                c.level[1] += s1 * *g, c.level[2] += s2 * *g, c.tension += tension * *g;
            }
        }
        take_ends(ends, at, gradient, by, first_marker);
    }

    void add_formula_force(const FormulaForce& force, int first_marker) {
        const FormulaEnds& ends = force.ends();
        const Ends at = ends_of(ends);
        std::vector<MarkerGradient> by(ends.markers.size());
        std::vector<double> efforts(ends.coordinates.size());
        const std::vector<double> gradient = by_inputs(force.program(), at.in, [&](const Dual4* o) {
            Dual4 sum = 0.0;
            for (size_t i = 0; i < by.size(); ++i, o += 6) {
                const Vec3 &speed = at.other[i].velocity, &turning = at.other[i].omega;
                sum += o[0] * speed.x + o[1] * speed.y + o[2] * speed.z + o[3] * turning.x + o[4] * turning.y +
                       o[5] * turning.z;
                by[i].rate = {{o[0].value, o[1].value, o[2].value}, {o[3].value, o[4].value, o[5].value}};
            }
            for (size_t i = 0; i < efforts.size(); ++i, ++o) {
                sum += *o * at.coordinates[i].other;
                efforts[i] = o->value;
            }
            return sum;
        });
        for (size_t i = 0; i < efforts.size(); ++i) coordinates_[ends.coordinates[i]].tension += efforts[i];
        take_ends(ends, at, gradient, by, first_marker);
    }

    void add_pairs() {
        const bool all =
            seeds_.coordinates[0] != nullptr || seeds_.coordinates[1] != nullptr || seeds_.coordinates[2] != nullptr;
        for (size_t p = 0; p < model_.pairs.size(); ++p) {
            const std::vector<int>&locked = own_.locked_of_pair_[p], &others = own_.others_of_pair_[p],
                  &idle = own_.idle_of_pair_[p];
            if (locked.empty() && others.empty() && (idle.empty() || !all)) continue;
            const MarkerPair& pair = model_.pairs[p];
            const MovingBody both[2] = {bodies_[pair.body[0]], bodies_[pair.body[1]]};
            const BodyRateT<double> rates[2] = {other_[pair.body[0]], other_[pair.body[1]]};
            const PairMotionT<double> motion(pair, both[0], both[1]);
            const RelativeRateT<double> second = motion.acceleration(both[0], both[1]),
                                        other = motion.rate(rates[0], rates[1]);
            RelativeGradient by;
            if (!locked.empty()) add_locked(locked, motion.relative, second, other, by);
            for (const int c : others) add_coordinate(c, motion.relative, second, other, by);
            if (all)
                for (const int c : idle) add_coordinate(c, motion.relative, second, other, by);
            const PairGradient found = bellcrank::transposed(motion, both, rates, by);
            for (int s = 0; s < 2; ++s) {
                add_to(by_body_[pair.body[s]], found.body[s]);
                by_numbers_.add_marker(pair.body[s], NumberArray::pair_positions, NumberArray::pair_rotations,
                                       2 * static_cast<int>(p) + s, found.offset[s], found.turn[s]);
            }
        }
    }

    // Of the sum over components of r, or of v in q = (e0, v), with weights a, b, z and tensions τ (add_locked() of
    // EquationsTangent):
    //   a·v + ½ b·V(ω) + z·(½ V(ω̇) − ¼ |ω|² v) + ½ τ·V(η),   w·V(s) = e0 w·s + v·(w × s) = s·(e0 w + v × w).
    void add_locked(const std::vector<int>& coordinates, const RelativeMotion& m, const RelativeRateT<double>& second,
                    const RelativeRateT<double>& other, RelativeGradient& by) {
        Vec3 a[2]{}, b[2]{}, z[2]{}, tau[2]{};
        for (const int c : coordinates) {
            const Seeded& s = coordinates_[c];
            const int of = own_.lock_[c] / 3, i = own_.lock_[c] % 3;
            part_of(a[of], i) += s.level[0], part_of(b[of], i) += s.level[1];
            part_of(z[of], i) += s.level[2], part_of(tau[of], i) += s.tension;
        }
        by.r += a[0], by.rdot += b[0], by.rddot += z[0], by.rate.r += tau[0];
        const Vec3 v{m.q.x, m.q.y, m.q.z};
        const auto slope = [&](const Vec3& w) { return 0.5 * (m.q.w * w + cross(v, w)); };
        const double by_e0 = 0.5 * (dot(b[1], m.omega) + dot(z[1], second.omega) + dot(tau[1], other.omega));
        const Vec3 by_v = a[1] - 0.25 * dot(m.omega, m.omega) * z[1] +
                          0.5 * (cross(b[1], m.omega) + cross(z[1], second.omega) + cross(tau[1], other.omega));
        by.omega += slope(b[1]) - 0.5 * dot(z[1], v) * m.omega;
        by.omega_dot += slope(z[1]);
        by.rate.omega += slope(tau[1]);
        by.turn += slope(by_v) - 0.5 * by_e0 * v;
        const Vec3 rate = 0.5 * (m.q.w * m.omega + cross(m.omega, v)),
                   along_other = 0.5 * (m.q.w * other.omega + cross(other.omega, v)),
                   second_rate =
                       0.5 * (m.q.w * second.omega + cross(second.omega, v)) - 0.25 * dot(m.omega, m.omega) * v;
        for (const int c : coordinates) {
            const int i = own_.lock_[c] % 3;
            const bool is_angle = own_.lock_[c] >= 3;
            add_coefficients(c, component(is_angle ? v : m.r, i), component(is_angle ? rate : m.rdot, i),
                             component(is_angle ? second_rate : second.r, i),
                             component(is_angle ? along_other : other.r, i));
        }
    }

    void add_coefficients(int coordinate, double value, double rate, double second, double other) {
        for (const Use& use : own_.terms_of_[coordinate])
            by_numbers_[NumberArray::term_coefficient][use.term] +=
                row_seed(0, use.row) * value + row_seed(1, use.row) * rate + row_seed(2, use.row) * second +
                at_.multipliers[use.row] * other;
    }

    void add_coordinate(int coordinate, const RelativeMotion& motion, const RelativeRateT<double>& second,
                        const RelativeRateT<double>& other, RelativeGradient& by) {
        const Seeded& s = coordinates_[coordinate];
        const std::span<const int> laws = at_.applied ? own_.laws_of_[coordinate] : std::span<const int>();
        const bool is_seeded = std::any_of(std::begin(s.level), std::end(s.level), [](double v) { return v != 0.0; });
        if (!is_seeded && s.tension == 0.0 && laws.empty()) return;
        double gradient[12];
        Along c;
        Dual4 tension;
        const RelativeRateT<Dual4> acceleration{in_duals(second.r), in_duals(second.omega)};
        const std::span<const Dual4> params = own_.unit_numbers_.coordinate_params(coordinate);
        const auto sum_along = [&](const RelativeMotionT<Dual4>& along, std::span<const Dual4> numbers) {
            c = own_.coordinate_along(coordinate, along, acceleration, own_.unit_numbers_, numbers);
            tension = s.tension;
            for (const int i : laws) {
                const Law& law = model_.laws[i];
                tension += law.kind->tangent({c.value, c.rate, at_.t}, own_.unit_numbers_.law_params(i),
                                             own_.unit_numbers_.function_of(law));
            }
            return s.level[0] * c.value + s.level[1] * c.rate + s.level[2] * c.second +
                   tension * (dot(c.parts.dr, in_duals(other.r)) + dot(c.parts.domega, in_duals(other.omega)));
        };
        if (!params.empty())  // along these the motion stays as it is
            take_numbers(wanted_of_coordinates_[coordinate], params, NumberArray::coordinate_params,
                         model_.data().coordinate_param_start[coordinate], [&](std::span<const Dual4> numbers) {
                             return sum_along(relative_along(motion, 12), numbers);
                         });
        for (int from = 0; from < 12; from += kDirections) {
            const Dual4 sum = sum_along(relative_along(motion, from), params);
            for (int k = 0; k < kDirections; ++k) gradient[from + k] = sum.d[k];
        }
        by.r += load(gradient), by.turn += load(gradient + 3);
        by.rdot += load(gradient + 6), by.omega += load(gradient + 9);
        const auto numbers = [](const Vec3T<Dual4>& v) { return Vec3{v.x.value, v.y.value, v.z.value}; };
        const Vec3 dr = numbers(c.parts.dr), domega = numbers(c.parts.domega);
        by.rddot += s.level[2] * dr, by.omega_dot += s.level[2] * domega;
        by.rate.r += tension.value * dr, by.rate.omega += tension.value * domega;
        const double along_other = dot(dr, other.r) + dot(domega, other.omega);
        add_coefficients(coordinate, c.value.value, c.rate.value, c.second.value, along_other);
        for (const int i : laws) {
            const Law& law = model_.laws[i];
            by_time_ += add_law_numbers(model_, i, {c.value.value, c.rate.value, at_.t},
                                        own_.unit_numbers_.function_of(law), along_other, law_numbers_, by_numbers_)
                            .time;
            if (law.function < 0) continue;
            take_function(law.function, [&](std::span<const Dual4> numbers) {
                return along_other * law.kind->tangent({c.value.value, c.rate.value, at_.t},
                                                       own_.unit_numbers_.law_params(i),
                                                       {&model_.functions[law.function], numbers});
            });
        }
    }

    void add_rows() {
        Dual4 time = at_.t;
        time.d[0] = 1.0;
        for (size_t r = 0; r < model_.rows.size(); ++r) {
            const int row = static_cast<int>(r);
            const bool is_formula = model_.rows[r].term_begin == model_.rows[r].term_end;
            if (!is_formula) by_numbers_[NumberArray::row_constant][r] -= row_seed(0, row);
            if (model_.rows[r].function < 0) continue;
            const Function& function = model_.functions[model_.rows[r].function];
            const FunctionValueT<Dual4> f = function.tangent(time);
            const double by[] = {-row_seed(0, row), -row_seed(1, row), -row_seed(2, row)};
            by_time_ += by[0] * f.f.d[0] + by[1] * f.d1.d[0] + by[2] * f.d2.d[0];
            if (std::all_of(std::begin(by), std::end(by), [](double v) { return v == 0.0; })) continue;
            take_function(model_.rows[r].function, [&](std::span<const Dual4> numbers) {
                const FunctionValueT<Dual4> along = function.tangent(numbers, at_.t);
                return by[0] * along.f + by[1] * along.d1 + by[2] * along.d2;
            });
        }
        for (size_t b = 0; b < model_.blocks.size(); ++b)
            for (int r = model_.blocks[b].row_begin; r < model_.blocks[b].row_end; ++r)
                by_numbers_[NumberArray::block_compliance][b] += at_.multipliers[r] * row_seed(2, r);
    }

    EquationsTangent& own_;
    const Model& model_;
    const MotionPoint& at_;
    const Seeds& seeds_;
    ModelGradient& by_numbers_;
    double by_time_ = 0.0;
    std::vector<MovingBody> bodies_;
    std::vector<BodyRateT<double>> other_;  // of bodies, at the seeds of loads
    struct OfShapes {
        Vec3 position{0, 0, 0}, velocity{0, 0, 0};
    };
    std::vector<PairGradient::OfBody> by_body_;
    std::vector<OfShapes> by_shapes_;  // which stay where they are when the centre of mass moves in its body
    std::vector<Seeded> coordinates_;
    std::vector<std::vector<int>> wanted_;  // numbers of each function by which the gradient is asked for
    std::vector<std::vector<int>> wanted_of_coordinates_;
    std::vector<Dual4> law_numbers_, numbers_in_;
};

void EquationsTangent::transposed(const MotionPoint& at, const Seeds& seeds, std::span<const NumberPlace> further,
                                  Gradient& out, ModelGradient& by_numbers) {
    unit_numbers_.change({});
    Transpose(*this, at, seeds, further, by_numbers).find(out);
    unit_changes_.of_coordinates = std::any_of(std::begin(seeds.coordinates), std::end(seeds.coordinates),
                                               [](const double* seed) { return seed != nullptr; });
    std::vector<NumberPlace> alone;
    for (const NumberPlace& place : further)
        if (place.array == NumberArray::formula_values) alone.push_back(place);
    for (size_t from = 0; from < alone.size(); from += kDirections) {
        const size_t count = std::min<size_t>(kDirections, alone.size() - from);
        std::vector<ModelTangent::Change> changes;
        for (size_t k = 0; k < count; ++k) {
            changes.push_back({alone[from + k], {}});
            changes.back().along[k] = 1.0;
        }
        unit_numbers_.change(changes);
        along(at, {}, unit_numbers_, unit_changes_);
        for (size_t k = 0; k < count; ++k) {
            double sum = 0.0;
            const auto add = [&](const double* seed, const std::vector<double>& change) {
                for (size_t i = 0; seed != nullptr && kDirections * i < change.size(); ++i)
                    sum += seed[i] * change[kDirections * i + k];
            };
            add(seeds.loads, unit_changes_.loads);
            for (int level = 0; level < 3; ++level) {
                add(seeds.rows[level], unit_changes_.rows[level]);
                add(seeds.coordinates[level], unit_changes_.coordinates[level]);
            }
            by_numbers[alone[from + k].array][alone[from + k].index] += sum;
        }
    }
}

}  // namespace bellcrank
